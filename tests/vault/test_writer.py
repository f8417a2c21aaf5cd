from __future__ import annotations

import os
import re
import stat
import unicodedata

import pytest

from vault_eval.errors import ChangedError, UsageError, VaultEvalError
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.writer import create_file, replace_file


@pytest.fixture(autouse=True)
def _mode(relative, monkeypatch):
    """Every test in both modes: with descriptors, and by path where a platform has none."""
    monkeypatch.setitem(FolderReader.__init__.__kwdefaults__, "descriptor_relative", relative)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_file_is_replaced_whole_and_keeps_its_mode(vault, write):
    note = write("Sea/Tides.md", "old")
    note.chmod(0o640)
    replace_file(str(vault), "Sea/Tides.md", b"old", b"new and longer")
    assert (note.read_bytes(), stat.S_IMODE(note.stat().st_mode)) == (b"new and longer", 0o640)
    assert names(vault / "Sea") == ["Tides.md"]


def test_group_may_still_write_what_it_could_write(vault, write):
    note = write("Tides.md", "old")
    note.chmod(0o664)
    before = os.umask(0o077)
    try:
        replace_file(str(vault), "Tides.md", b"old", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(note.stat().st_mode) == 0o664


def test_file_that_changed_since_it_was_read_is_left(vault, write):
    note = write("Tides.md", "edited meanwhile")
    with pytest.raises(ChangedError, match=rf"'{re.escape(str(note))}' changed since it was read"):
        replace_file(str(vault), "Tides.md", b"as it was read", b"new")
    assert note.read_bytes() == b"edited meanwhile"


def test_file_that_changes_while_the_new_one_is_written_is_left(vault, write, monkeypatch):
    note = write("Tides.md", "old")
    sync = os.fsync

    def sync_and_edit(descriptor):
        sync(descriptor)
        note.write_bytes(b"edited meanwhile")

    monkeypatch.setattr(os, "fsync", sync_and_edit)
    with pytest.raises(ChangedError):
        replace_file(str(vault), "Tides.md", b"old", b"new")
    assert (note.read_bytes(), names(vault)) == (b"edited meanwhile", ["Tides.md"])


@pytest.mark.parametrize("link", ["Link.md", "Folder/Tides.md"])
def test_link_is_refused_and_what_it_leads_to_is_untouched(vault, tmp_path, link):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "Tides.md").write_bytes(b"old")
    if "/" in link:
        (vault / "Folder").symlink_to(elsewhere)
    else:
        (vault / link).symlink_to(elsewhere / "Tides.md")
    with pytest.raises(VaultEvalError, match="could not be written: it is, or passes through, a link"):
        replace_file(str(vault), link, b"old", b"new")
    assert ((elsewhere / "Tides.md").read_bytes(), names(elsewhere)) == (b"old", ["Tides.md"])


def test_second_name_of_a_file_is_not_torn_from_the_first(vault, write):
    note = write("Tides.md", "old")
    os.link(note, vault / "Twin.md")
    with pytest.raises(VaultEvalError, match="hard link"):
        replace_file(str(vault), "Tides.md", b"old", b"new")
    assert (note.read_bytes(), (vault / "Twin.md").read_bytes()) == (b"old", b"old")


def test_write_protected_file_is_refused(vault, write):
    note = write("Sea/Tides.md", "old")
    note.chmod(0o444)
    with pytest.raises(VaultEvalError) as refused:
        replace_file(str(vault), "Sea/Tides.md", b"old", b"new")
    assert str(refused.value) == f"{str(note)!r} could not be written: it is write-protected; allow its owner to write it"
    assert note.read_bytes() == b"old"


def test_place_below_the_top_of_the_disk_is_named_whole(vault, write):
    note = write(f"{'long name ' * 12}.md", "old")
    note.chmod(0o444)
    with pytest.raises(VaultEvalError) as refused:
        replace_file("/", str(note)[1:], b"old", b"new")
    assert str(refused.value).startswith(f"{str(note)!r} could not be written")
    with pytest.raises(VaultEvalError) as refused:
        create_file("/", f"{str(vault)[1:]}/Gone/New.md", b"text")
    assert str(refused.value).startswith(f"'{vault}/Gone/New.md' could not be written: its folder: it does not exist")
    with pytest.raises(UsageError) as there:
        create_file("/", str(note)[1:], b"text")
    assert str(there.value).startswith(f"{str(note)!r} is there already")


@pytest.mark.parametrize("path", ["../out.md", "/out.md", "Sea/../../out.md", "Gone.md"])
def test_path_that_leaves_the_folder_or_is_not_there_is_refused(vault, tmp_path, path):
    (tmp_path / "out.md").write_bytes(b"old")
    with pytest.raises(VaultEvalError, match="could not be written"):
        replace_file(str(vault), path, b"old", b"new")
    assert (tmp_path / "out.md").read_bytes() == b"old"


def test_name_in_another_unicode_form_is_found_on_the_disk(vault, write):
    decomposed = unicodedata.normalize("NFD", "Café.md")
    note = write(decomposed, "old")
    replace_file(str(vault), "Café.md", b"old", b"new")
    assert (note.read_bytes(), names(vault)) == (b"new", [decomposed])


def test_new_file_is_made_with_the_mode_that_the_person_gives_new_files(vault):
    before = os.umask(0o027)
    try:
        create_file(str(vault), "New.md", b"text")
    finally:
        os.umask(before)
    assert ((vault / "New.md").read_bytes(), stat.S_IMODE((vault / "New.md").stat().st_mode)) == (b"text", 0o640)


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_nothing_is_overwritten_by_a_new_file(vault, tmp_path, kind):
    place = vault / "New.md"
    if kind == "file":
        place.write_bytes(b"there")
    elif kind == "link":
        place.symlink_to(tmp_path / "nowhere.md")
    else:
        place.mkdir()
    with pytest.raises(UsageError, match="is there already"):
        create_file(str(vault), "New.md", b"text")
    assert not (tmp_path / "nowhere.md").exists()
    assert kind != "file" or place.read_bytes() == b"there"


def test_new_file_in_a_folder_that_is_missing_or_a_link_is_refused(vault, tmp_path):
    (vault / "Link").symlink_to(tmp_path)
    with pytest.raises(VaultEvalError, match="make that folder first"):
        create_file(str(vault), "Gone/New.md", b"text")
    with pytest.raises(VaultEvalError, match="could not be written: its folder: it is, or passes through, a link"):
        create_file(str(vault), "Link/New.md", b"text")
    assert not (tmp_path / "New.md").exists()


def test_full_disk_leaves_no_half_of_a_file(vault, write, monkeypatch):
    note = write("Tides.md", "old")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VaultEvalError) as refused:
        create_file(str(vault), "New.md", b"text")
    assert str(refused.value).startswith(f"'{vault}/New.md' could not be written: no space left on device; free some space")
    with pytest.raises(VaultEvalError) as refused:
        replace_file(str(vault), "Tides.md", b"old", b"new")
    assert str(refused.value).startswith(f"{str(note)!r} could not be written: No space left on device; free some space")
    assert (names(vault), note.read_bytes()) == (["Tides.md"], b"old")
