from __future__ import annotations

import os
import resource
import socket
import stat
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from vault_eval.errors import UnreadableFileError
from vault_eval.vault.reader import FolderReader, read_outside
from vault_eval.vault.refusal import ABSENT, DENIED, LINK, NO_NAME, NOT_BELOW, NOT_REGULAR, FileRefusedError
from vault_eval.vault.walk import walk_vault

SCRIPTS = Path(__file__).parents[2] / "scripts"
NFC = "Café résumé.md"
NFD = unicodedata.normalize("NFD", NFC)
OPEN_FOLDERS = Path("/proc/self/fd")


def reason(reader, path, **limits):
    with pytest.raises(FileRefusedError) as refusal:
        reader.read(path, **limits)
    return refusal.value.reason


def test_bytes_are_given_as_they_are(vault, reader):
    data = b"\xef\xbb\xbf# Tides\r\n\x00\xff\n"
    (vault / "Tides.md").write_bytes(data)
    assert reader.read("Tides.md") == data


def test_empty_file_is_read(write, reader):
    write("Empty.md", "")
    assert reader.read("Empty.md") == b""


def test_root_may_be_reached_by_a_link(vault, write, relative, tmp_path):
    write("Sea/Tides.md", "moon")
    (tmp_path / "alias").symlink_to(vault)
    with FolderReader(str(tmp_path / "alias"), descriptor_relative=relative) as reader:
        assert reader.root == str(vault.resolve())
        assert reader.read("Sea/Tides.md") == b"moon"


@pytest.mark.parametrize("path", ["Alias.md", "Shore/Tides.md", "Deep/Shore/Tides.md", "Dangling.md", "Loop.md", "Loop.md/x.md"])
def test_link_in_any_component_is_refused(vault, write, reader, path):
    write("Sea/Tides.md")
    write("Deep/Note.md")
    (vault / "Alias.md").symlink_to("Sea/Tides.md")
    (vault / "Shore").symlink_to("Sea")
    (vault / "Deep" / "Shore").symlink_to(vault / "Sea")
    (vault / "Dangling.md").symlink_to("Nowhere.md")
    (vault / "Loop.md").symlink_to("Loop.md")
    assert reason(reader, path) == LINK
    assert reader.state(path) is None


@pytest.mark.parametrize(
    "path",
    ["../secret.md", "Sea/../../secret.md", "Sea/../Tides.md", "..", ".", "./Tides.md", "Sea//Tides.md", "/etc/hostname", "Sea/"],
)
def test_path_that_leaves_the_root_or_has_two_spellings_is_refused(vault, write, reader, path):
    write("Sea/Tides.md")
    write("Tides.md")
    (vault.parent / "secret.md").write_text("secret")
    assert reason(reader, path) == NOT_BELOW
    assert reader.state(path) is None
    with pytest.raises(FileRefusedError, match="no plain path"):
        reader.list(path)


def test_root_itself_is_no_file(reader):
    assert reason(reader, "") == NOT_REGULAR


def test_what_is_not_there_is_absent(write, reader):
    write("Sea/Tides.md")
    for path in ("Nowhere.md", "Nowhere/Tides.md", "Sea/Nowhere.md", "sea/Tides.md", "Sea/Tides.md/Below a note.md"):
        assert reason(reader, path) == ABSENT, path


@pytest.mark.parametrize(
    "path", ["x" * 300 + ".md", "x" * 300 + "/Tides.md", "潮" * 85 + ".md", "a\0b.md", "a\0b/Tides.md", "\ud83d.md"]
)
def test_name_that_no_file_can_have_is_absent(reader, path):
    with pytest.raises(FileRefusedError) as refusal:
        reader.read(path)
    assert (refusal.value.reason, refusal.value.absent) == (NO_NAME, True)
    assert reader.state(path) is None


def test_path_of_a_hundred_thousand_folders_is_absent(reader):
    assert reason(reader, "a/" * 100_000 + "Tides.md") == ABSENT


def test_name_of_255_bytes_is_read(write, reader):
    name = "潮" * 84 + ".md"  # 84 * 3 + 3 = 255 bytes
    write(name, "long")
    assert reader.read(name) == b"long"


@pytest.mark.parametrize(
    "name", ["two\nlines.md", "tab\there.md", "-dash.md", "a*b?.md", "C# tips.md", "bad\udcff.md", "back\\slash.md"]
)
def test_names_are_literal(vault, reader, name):
    Path(os.fsdecode(os.fsencode(str(vault / name)))).write_bytes(b"odd")
    assert reader.read(name) == b"odd"


@pytest.mark.parametrize(
    ("on_disk", "asked"), [(NFC, NFD), (NFD, NFC), (f"{NFD}/{NFC}", f"{NFC}/{NFD}")], ids=["nfc", "nfd", "mixed"]
)
def test_name_is_found_in_either_unicode_form(write, reader, on_disk, asked):
    write(on_disk, "chicory")
    assert reader.read(asked) == b"chicory"
    assert reader.changed() == []
    write(on_disk, "chicory blend")
    assert asked in reader.changed()


def test_exact_spelling_wins_over_its_twin(write, reader):
    write(NFC, "composed")
    write(NFD, "decomposed")
    assert (reader.read(NFC), reader.read(NFD)) == (b"composed", b"decomposed")


def test_page_is_found_in_the_twin_of_its_folder(write, reader):
    write("Café/One.md", "one")
    write("Cafe\u0301/Two.md", "two")
    assert reader.read("Café/Two.md") == b"two"
    assert reader.spelling_on_disk("Café/Two.md") == "Cafe\u0301/Two.md"
    assert reader.spelling_on_disk("Café/Three.md") is None


def test_link_is_refused_in_the_other_unicode_form_too(vault, write, reader):
    write("Sea/Tides.md")
    (vault / "Cafe\u0301").symlink_to("Sea")
    assert reason(reader, "Café/Tides.md") == LINK


def test_folding_is_canonical_and_keeps_letter_case(write, reader):
    write("Ue\u0308ber.md")
    assert reason(reader, "Üeber.md") == ABSENT
    assert reason(reader, "uëber.md") == ABSENT


@pytest.mark.usefixtures("no_hang")
def test_what_is_no_regular_file_is_refused_and_never_waited_for(vault, reader, monkeypatch):
    os.mkfifo(vault / "Pipe.md")
    (vault / "Folder.md").mkdir()
    monkeypatch.chdir(vault)  # the path of a socket is at most 108 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("Socket.md")
        for name in ("Pipe.md", "Folder.md", "Socket.md", "Pipe.md/Below.md"):
            assert reason(reader, name) == NOT_REGULAR, name
            assert reader.state(name) is None


def test_device_is_not_even_opened(vault, reader, monkeypatch):
    try:
        os.mknod(vault / "Null.md", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *a, **k: pytest.fail("opened") if "Null" in path else real(path, *a, **k))
    assert reason(reader, "Null.md") == NOT_REGULAR


def test_file_of_the_largest_size_is_read_and_one_byte_more_is_not(vault, reader):
    (vault / "Full.md").write_bytes(b"x" * 1_000)
    (vault / "Over.md").write_bytes(b"x" * 1_001)
    assert len(reader.read("Full.md", 1_000)) == 1_000
    assert reason(reader, "Over.md", max_bytes=1_000) == "it has 1,001 bytes; at most 1,000 are read"


def test_huge_file_is_refused_by_its_size_without_reading(vault, reader, monkeypatch):
    with (vault / "Huge.md").open("wb") as file:
        file.truncate(1 << 40)
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("read"))
    assert reason(reader, "Huge.md").startswith("it has 1,099,511,627,776 bytes")


def test_file_that_nobody_may_read_is_refused_to_root_as_well(write, reader):
    write("Locked.md").chmod(0)
    assert reason(reader, "Locked.md").startswith(DENIED)


def test_file_that_may_not_be_read_is_refused_with_that_reason(open_vault, relative, without_privileges):
    (open_vault / "Locked.md").write_text("no access")
    (open_vault / "Locked.md").chmod(0)
    (open_vault / "Shut").mkdir(mode=0)
    with without_privileges(), FolderReader(str(open_vault), descriptor_relative=relative) as reader:
        assert reason(reader, "Locked.md") == DENIED
        assert reason(reader, "Shut/Tides.md") == DENIED
        with pytest.raises(FileRefusedError, match=DENIED):
            reader.list("Shut")


def test_folder_that_may_be_passed_but_not_listed_is_passed(open_vault, relative, without_privileges):
    (open_vault / "home" / "me").mkdir(parents=True)
    (open_vault / "home" / "me" / "labels.json").write_text("{}")
    (open_vault / "home").chmod(0o111)
    with without_privileges(), FolderReader(str(open_vault), descriptor_relative=relative) as reader:
        assert reader.read("home/me/labels.json") == b"{}"
        assert read_outside(str(open_vault.resolve() / "home" / "me" / "labels.json"), 10) == b"{}"
        with pytest.raises(FileRefusedError, match=DENIED):
            reader.list("home")


@pytest.mark.parametrize(("make", "found"), [(lambda _: None, "nothing is there"), (Path.touch, "a file is there")])
def test_root_that_is_no_folder_is_refused(tmp_path, relative, make, found):
    make(tmp_path / "root")
    with pytest.raises(UnreadableFileError, match=found):
        FolderReader(str(tmp_path / "root"), descriptor_relative=relative)


def test_two_roots_are_read_side_by_side(tmp_path, relative):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Tides.md").write_text(name)
    with (
        FolderReader(str(tmp_path / "one"), descriptor_relative=relative) as one,
        FolderReader(str(tmp_path / "two"), descriptor_relative=relative) as two,
    ):
        assert (one.read("Tides.md"), two.read("Tides.md")) == (b"one", b"two")


@given(
    path=st.text(st.characters(codec="utf-8"), max_size=30) | st.lists(st.sampled_from(["a", "..", ".", "", "Sea"])).map("/".join)
)
@example("Sea/Tides.md")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
def test_no_path_reads_anything_but_the_one_note(tmp_path_factory, path):
    base = tmp_path_factory.getbasetemp() / "law"
    if not base.exists():
        (base / "vault" / "Sea").mkdir(parents=True)
        (base / "vault" / "Sea" / "Tides.md").write_text("moon")
        (base / "a").write_text("secret")
    for relative in (True, False):
        with FolderReader(str(base / "vault"), descriptor_relative=relative) as reader:
            try:
                assert reader.read(path) == b"moon"
            except FileRefusedError:
                continue
            assert path == "Sea/Tides.md"


# Label files outside the vault


def test_label_file_outside_is_read_by_its_physical_path(tmp_path):
    file = tmp_path.resolve() / "labels.json"
    file.write_text("{}")
    assert read_outside(str(file), 2) == b"{}"


@pytest.mark.parametrize(
    "named", ["alias/labels.json", "real/alias.json", "alias/../real/labels.json", "alias/deep/../../real/labels.json"]
)
def test_link_in_a_label_path_is_refused_and_the_physical_path_printed(tmp_path, named):
    """Also where `..` follows the link: it leads to the parent of the link's goal, so text and place differ."""
    real = tmp_path.resolve() / "real"
    (real / "deep").mkdir(parents=True)
    (real / "labels.json").write_text("{}")
    (real / "alias.json").symlink_to("labels.json")
    (tmp_path / "alias").symlink_to("real")
    with pytest.raises(FileRefusedError) as refusal:
        read_outside(str(tmp_path.resolve() / named), 10)
    assert refusal.value.reason == LINK
    assert repr(str(real / "labels.json")) in str(refusal.value)


def test_dots_without_links_are_plain(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "labels.json").write_text("{}")
    monkeypatch.chdir(tmp_path.resolve())
    for named in (
        "labels.json",
        "./labels.json",
        "a/../labels.json",
        "a/b/../../labels.json",
        f"/../{tmp_path.resolve()}/labels.json",
    ):
        assert read_outside(named, 10) == b"{}", named


def test_nul_in_a_label_path_is_refused(tmp_path):
    (tmp_path / "labels.json").write_text("{}")
    with pytest.raises(FileRefusedError, match=NO_NAME):
        read_outside(f"{tmp_path}/labels.json\0.txt", 10)


# Descriptors


@pytest.mark.skipif(not OPEN_FOLDERS.is_dir(), reason="open descriptors are counted in /proc")
def test_no_descriptor_is_left_open(vault, write, relative):
    for number in range(300):
        write(f"F{number}/Tides.md")
    os.mkfifo(vault / "Pipe.md")
    (vault / "Link.md").symlink_to("F1/Tides.md")
    before = len(list(OPEN_FOLDERS.iterdir()))
    with FolderReader(str(vault), descriptor_relative=relative) as reader:
        for number in range(300):
            reader.read(f"F{number}/Tides.md")
            reader.list(f"F{number}")
        for path in ("Pipe.md", "Link.md", "Nowhere.md", "F1/Tides.md/x", "../x", "é.md"):
            reason(reader, path)
        reason(reader, "F1/Tides.md", max_bytes=1)
        assert reader.changed() == []
    assert len(list(OPEN_FOLDERS.iterdir())) == before


def test_two_thousand_folders_do_not_exhaust_descriptors(write, relative, vault):
    from vault_eval.vault.excluded import Exclusions

    for number in range(2_000):
        write(f"F{number // 50}/G{number}/Tides.md", str(number))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with FolderReader(str(vault), descriptor_relative=relative) as reader:
            listing = walk_vault(reader, Exclusions(()))
            assert len(listing.notes) == 2_000
            assert {int(reader.read(note.disk_path)) for note in reversed(listing.notes)} == set(range(2_000))
            assert reader.changed() == []
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


WATCHED = """\
import os, sys
sys.dont_write_bytecode = True
writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
changing = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.utime", "os.chmod", "shutil.", "socket.", "subprocess.")
found = []
def watch(event, arguments):
    if event == "open" and (arguments[2] & writes or set(arguments[1] or "") & set("wax+")):
        found.append((event, arguments))
    if event.startswith(changing):
        found.append((event, arguments))
sys.addaudithook(watch)
from vault_eval.labels.eligibility import settle
from vault_eval.labels.load import load_labels
from vault_eval.labels.sources import open_sources, reread
from vault_eval.rankings.binding import label_file, refuse_changes
from vault_eval.vault.snapshot import open_snapshot
root, labels = sys.argv[1:]
with open_snapshot(root) as vault:
    documents = open_sources([labels], vault.reader, root, lambda: vault.names)
    settled = settle(load_labels(documents).labels, vault.listing, vault.reader, None, None, lambda page: None)
    for page in vault.names:
        assert vault.pages.digest(page)
    refuse_changes([label_file(labels, documents[0].data, lambda: reread(documents[0], vault.reader))], vault.reader)
print(len(vault.names), [one.status for one in settled], found)
"""


def test_reading_a_vault_opens_nothing_for_writing(vault, write, tmp_path):
    write("Sea/Tides.md")
    write(".obsidian/app.json", '{"userIgnoreFilters": ["Archive/"]}')
    write("Cafe\u0301.md")
    labels = tmp_path.resolve() / "labels.json"
    labels.write_text(
        '{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{"id": "t", "query": "tides", "expected_pages": ["Sea/Tides.md"]}]}'
    )
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(vault), str(labels)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
    )
    assert (done.stdout.strip(), done.stderr) == ("2 ['scored'] []", "")
