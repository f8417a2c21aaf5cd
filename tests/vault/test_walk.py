from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_eval.errors import UnreadableFileError
from vault_eval.limits import NOTE_MAX_BYTES, PDF_MAX_BYTES, VAULT_DEPTH_MAX_FOLDERS
from vault_eval.vault.excluded import Exclusions, read_exclusions
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.walk import walk_vault

NFC, NFD = "Café.md", "Cafe\u0301.md"


@pytest.fixture
def walk(reader):
    return lambda *globs: walk_vault(reader, read_exclusions(reader, globs))


def pages(listing):
    return [note.page for note in listing.notes]


def skipped(listing):
    return {one.path: one.reason for one in listing.skipped}


def test_notes_are_listed_by_path_whatever_the_letter_case_of_their_suffix(write, walk):
    for path in ("b.md", "a/z.MD", "a.Md", "a/b/c.mD", "a.txt", "md", "a.mdx", "a.markdown", "picture.png", "a/.md"):
        write(path)
    assert pages(walk()) == ["a.Md", "a/b/c.mD", "a/z.MD", "b.md"]


def test_an_empty_vault_has_no_notes(walk):
    assert walk() == walk()
    assert (walk().notes, walk().skipped, walk().excluded, walk().warnings) == ((), (), (), ())


def test_state_is_that_of_the_file(write, walk, reader):
    write("Sea/Tides.md", "moon")
    note = walk().notes[0]
    assert note.state == reader.state("Sea/Tides.md")
    assert note.state.size == 4


def test_hidden_files_and_folders_are_no_part_of_the_vault(write, walk):
    for path in (
        ".trash/Old.md",
        ".obsidian/plugins/x/README.md",
        ".git/a.md",
        "Sea/.hidden.md",
        ".hidden/deep/er.md",
        "..md",
        "...md",
    ):
        write(path)
    write("Sea/Tides.md")
    assert pages(walk()) == ["Sea/Tides.md"]
    assert walk().skipped == ()


def test_links_are_not_followed_and_named(vault, write, walk):
    write("Sea/Tides.md")
    (vault.parent / "outside").mkdir()
    (vault.parent / "outside" / "Private.md").write_text("secret")
    links = {
        "Loop": ".",
        "Sea/Up": "..",
        "Ext": "../outside",
        "Alias.md": "Sea/Tides.md",
        "Dangling.md": "x",
        "Self.md": "Self.md",
    }
    for name, goal in links.items():
        (vault / name).symlink_to(goal)
    listing = walk()
    assert pages(listing) == ["Sea/Tides.md"]
    assert skipped(listing) == dict.fromkeys(links, "it is, or passes through, a link")


def test_other_vault_inside_is_left_out_as_a_whole(write, walk):
    write(".obsidian/app.json", "{}")
    write("Tides.md")
    write("Caf\u0065\u0301/.obsidian/app.json", "{}")
    write("Caf\u0065\u0301/Deep/Note.md")
    listing = walk()
    assert pages(listing) == ["Tides.md"]
    assert skipped(listing) == {"Café": "another vault: the folder holds .obsidian"}


def test_icloud_placeholder_is_no_note_and_is_named_by_its_note(vault, write, walk):
    for name in ("Sea/.Tides.md.icloud", "Sea/.Cafe\u0301.MD.icloud", ".Root.md.icloud", "Sea/.photo.png.icloud", "Sea/.icloud"):
        write(name)
    listing = walk()
    assert pages(listing) == []
    assert set(skipped(listing)) == {"Sea/Tides.md", "Sea/Café.MD", "Root.md"}
    assert all("iCloud" in reason for reason in skipped(listing).values())


def test_what_is_no_regular_file_is_skipped_and_a_folder_called_like_a_note_is_entered(vault, write, walk):
    os.mkfifo(vault / "Pipe.md")
    write("Trap.md/Inside.md")
    listing = walk()
    assert pages(listing) == ["Trap.md/Inside.md"]
    assert skipped(listing) == {"Pipe.md": "it is not a regular file", "Trap.md": "it is not a regular file, but a folder"}


def test_excluding_a_fifo_does_not_make_it_a_note(vault, walk):
    os.mkfifo(vault / "Pipe.md")
    assert walk("Pipe.md").excluded == ()
    assert skipped(walk("Pipe.md")) == {"Pipe.md": "it is not a regular file"}


def test_note_of_the_largest_size_is_taken_and_one_byte_more_is_not(vault, walk):
    for name, size in (("Full.md", NOTE_MAX_BYTES), ("Over.md", NOTE_MAX_BYTES + 1)):
        with (vault / name).open("wb") as file:
            file.truncate(size)
    listing = walk()
    assert pages(listing) == ["Full.md"]
    assert skipped(listing) == {"Over.md": "it has 16,777,217 bytes; at most 16,777,216 are read"}


def test_decomposed_name_is_given_in_nfc_and_read_as_on_disk(write, walk, reader):
    write(f"Re\u0301sume\u0301/{NFD}", "chicory")
    note = walk().notes[0]
    assert (note.page, note.disk_path) == ("Résumé/Café.md", f"Re\u0301sume\u0301/{NFD}")
    assert reader.read(note.disk_path) == reader.read(note.page) == b"chicory"


@pytest.mark.parametrize(
    ("composed", "decomposed"), [(NFC, NFD), ("Café/Note.md", "Cafe\u0301/Note.md")], ids=["files", "folders"]
)
def test_of_two_equal_names_the_composed_one_is_taken(write, walk, reader, composed, decomposed):
    write(decomposed, "decomposed")
    write(composed, "composed")
    listing = walk()
    assert [(note.page, note.disk_path) for note in listing.notes] == [(composed, composed)]
    assert skipped(listing) == {decomposed: f"its name equals that of {composed!r} in another Unicode form"}
    assert reader.read(composed) == b"composed"


def test_notes_of_twin_folders_are_taken_together(write, walk):
    write("Café/One.md")
    write("Cafe\u0301/Two.md")
    assert pages(walk()) == ["Café/One.md", "Café/Two.md"]


def test_name_that_is_not_utf8_is_skipped_and_one_with_a_line_feed_is_taken(vault, walk):
    Path(os.fsdecode(os.fsencode(str(vault)) + b"/bad\xff.md")).write_text("x")
    (vault / "two\nlines.md").write_text("x")
    listing = walk()
    assert pages(listing) == ["two\nlines.md"]
    assert skipped(listing) == {"bad\udcff.md": "its name is not UTF-8; rename the file"}


def test_notes_in_a_folder_whose_name_is_not_utf8_are_skipped(vault, walk):
    folder = Path(os.fsdecode(os.fsencode(str(vault)) + b"/bad\xff"))
    folder.mkdir()
    (folder / "Note.md").write_text("x")
    assert pages(walk()) == []
    assert list(skipped(walk())) == ["bad\udcff/Note.md"]


def test_name_of_255_bytes_is_taken(write, walk):
    name = "潮" * 84 + ".md"
    write(name)
    assert pages(walk()) == [name]


def test_the_hundredth_folder_is_entered_and_the_next_is_not(vault, walk, relative):
    deepest = "d/" * VAULT_DEPTH_MAX_FOLDERS
    (vault / deepest / "d").mkdir(parents=True)
    (vault / deepest / "Note.md").write_text("deep")
    (vault / deepest / "d" / "Note.md").write_text("deeper")
    listing = walk()
    assert pages(listing) == [f"{deepest}Note.md"]
    assert skipped(listing) == {f"{deepest}d": "nested deeper than 100 folders"}


def test_path_longer_than_the_system_takes_is_walked_by_descriptors(vault, walk, relative):
    names = ["x" * 200] * 30  # 30 * 201 = 6,030 characters; a path has at most 4,096 on Linux
    folder = os.open(vault, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("Note.md", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=folder))
    os.close(folder)
    listing = walk()
    if relative:
        assert pages(listing) == ["/".join([*names, "Note.md"])]
    else:
        assert pages(listing) == []
        assert [one.reason for one in listing.skipped] == ["the folder was not read: no file can have this name"]


def test_folder_that_may_not_be_listed_is_skipped_with_its_reason(open_vault, relative, without_privileges):
    (open_vault / "Shut").mkdir(mode=0)
    (open_vault / "Passed").mkdir()
    (open_vault / "Passed").chmod(0o111)
    (open_vault / "Tides.md").write_text("moon")
    with without_privileges(), FolderReader(str(open_vault), descriptor_relative=relative) as reader:
        listing = walk_vault(reader, Exclusions(()))
    assert pages(listing) == ["Tides.md"]
    assert skipped(listing) == dict.fromkeys(("Passed", "Shut"), "the folder was not read: permission denied")


def test_vault_that_may_not_be_listed_is_an_error_not_an_empty_vault(open_vault, relative, without_privileges):
    open_vault.chmod(0o111)
    with (
        without_privileges(),
        FolderReader(str(open_vault), descriptor_relative=relative) as reader,
        pytest.raises(UnreadableFileError, match="cannot be listed: permission denied"),
    ):
        walk_vault(reader, Exclusions(()))


def test_folder_swapped_for_a_link_after_it_was_listed_is_not_entered(vault, write, reader, monkeypatch):
    write("Sea/Tides.md")
    (vault.parent / "outside").mkdir()
    (vault.parent / "outside" / "Private.md").write_text("secret")
    real = reader.list

    def listing(folder):
        entries = real(folder)
        if folder == "":
            (vault / "Sea").rename(vault.parent / "Moved")
            (vault / "Sea").symlink_to(vault.parent / "outside")
        return entries

    monkeypatch.setattr(reader, "list", listing)
    found = walk_vault(reader, Exclusions(()))
    assert pages(found) == []
    assert skipped(found) == {"Sea": "the folder was not read: it is, or passes through, a link"}


def test_entry_whose_state_cannot_be_told_is_skipped(vault, write, reader, monkeypatch):
    write("Tides.md")
    write("Broken.md")

    class Broken:
        name = "Broken.md"

        def is_symlink(self):
            return False

        def is_dir(self, **_):
            return False

        def stat(self, **_):
            raise OSError(5, "Input/output error")

    real = reader.list
    monkeypatch.setattr(reader, "list", lambda folder: [Broken(), *(one for one in real(folder) if one.name != "Broken.md")])
    listing = walk_vault(reader, Exclusions(()))
    assert pages(listing) == ["Tides.md"]
    assert skipped(listing) == {"Broken.md": "input/output error"}


NAMES = st.lists(st.sampled_from(["a", "b.md", "C.MD", ".h", "é.md", "e\u0301.md", "d.txt"]), min_size=1, max_size=4)


@given(st.lists(NAMES, max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_both_modes_list_the_same_and_every_page_can_be_read(tmp_path_factory, paths):
    root = tmp_path_factory.mktemp("law")
    for parts in paths:
        place = root.joinpath(*parts)
        if not any(parent.is_file() for parent in place.parents) and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("/".join(parts))
    listings = []
    for relative in (True, False):
        with FolderReader(str(root), descriptor_relative=relative) as reader:
            listing = walk_vault(reader, Exclusions(()))
            listings.append(listing)
            assert all(reader.read(note.disk_path).decode() == note.disk_path for note in listing.notes)
            assert all(stat.S_ISREG(root.joinpath(note.disk_path).lstat().st_mode) for note in listing.notes)
    assert listings[0] == listings[1]


def test_pdfs_are_listed_on_demand_alone(write, walk, reader):
    for path in ("Sea/Chart.pdf", "a.PDF", "Sea/Tides.md", "pdf", "a.pdfx", ".hidden.pdf", ".trash/Old.pdf"):
        write(path)
    assert (walk().pdfs, [one.page for one in walk().pages]) == ((), ["Sea/Tides.md"])
    listing = walk_vault(reader, Exclusions(()), with_pdfs=True)
    assert pages(listing) == ["Sea/Tides.md"]
    assert [one.page for one in listing.pdfs] == ["Sea/Chart.pdf", "a.PDF"]
    assert [one.page for one in listing.pages] == ["Sea/Chart.pdf", "Sea/Tides.md", "a.PDF"]
    assert listing.skipped == ()


def test_pdfs_are_left_out_for_the_same_reasons_as_notes(vault, write, reader):
    write("Private/Letter.pdf")
    write("Sea/Chart.pdf")
    write("Other vault/.obsidian/app.json", "{}")
    write("Other vault/Book.pdf")
    write(".Late.pdf.icloud")
    write("Caf\u00e9.pdf")
    write("Cafe\u0301.pdf")
    (vault / "Folder.pdf").mkdir()
    (vault / "Link.pdf").symlink_to(vault / "Sea" / "Chart.pdf")
    for name, size in (("Largest.pdf", PDF_MAX_BYTES), ("Too large.pdf", PDF_MAX_BYTES + 1)):
        (vault / name).touch()
        os.truncate(vault / name, size)
    listing = walk_vault(reader, read_exclusions(reader, ["Private"]), with_pdfs=True)
    assert [one.page for one in listing.pdfs] == ["Café.pdf", "Largest.pdf", "Sea/Chart.pdf"]
    assert [one.path for one in listing.excluded] == ["Private/Letter.pdf"]
    reasons = skipped(listing)
    assert set(reasons) == {"Cafe\u0301.pdf", "Folder.pdf", "Late.pdf", "Link.pdf", "Other vault", "Too large.pdf"}
    assert "at most 67,108,864 are read" in reasons["Too large.pdf"]
    assert "not downloaded" in reasons["Late.pdf"]
