"""The vault changes while it is read: each step between a listing and the last byte is where another program may act."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from vault_eval.vault import opening
from vault_eval.vault.excluded import Exclusions
from vault_eval.vault.opening import DESCRIPTOR_RELATIVE
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import ABSENT, CHANGED, LINK, NOT_REGULAR, FileRefusedError
from vault_eval.vault.walk import walk_vault

INSIDE, SECRET = b"spring tides", b"passphrase pelican"


@pytest.fixture
def sea(vault, write):
    """A note, and outside the vault a secret of the same name."""
    outside = vault.parent / "outside"
    outside.mkdir()
    (outside / "Tides.md").write_bytes(SECRET)
    return write("Sea/Tides.md", INSIDE.decode())


@pytest.fixture
def before_open(monkeypatch):
    """Acts once, just before the note is opened and after it was looked at."""

    def arrange(action):
        real, acts = os.open, [action]

        def opening(path, flags, *rest: int, **keywords: int):
            if str(path).endswith("Tides.md") and acts:
                acts.pop()()
            return real(path, flags, *rest, **keywords)

        monkeypatch.setattr(os, "open", opening)

    return arrange


@pytest.fixture
def before_read(monkeypatch):
    """Acts once, before the bytes (number 0) or after the first of them (number 1)."""

    def arrange(action, number=0, most=1 << 30):
        real, calls = os.read, []

        def reading(descriptor, size):
            if len(calls) == number:
                action()
            calls.append(size)
            return real(descriptor, min(size, most))

        monkeypatch.setattr(os, "read", reading)

    return arrange


def reason(reader, path="Sea/Tides.md"):
    with pytest.raises(FileRefusedError) as refusal:
        reader.read(path)
    return refusal.value.reason


def swap_folder(sea: Path) -> None:
    sea.parent.rename(sea.parent.parent / "Moved")
    sea.parent.symlink_to(sea.parent.parent.parent / "outside")


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("change", ["grown", "truncated", "rewritten"])
def test_file_that_changes_while_it_is_read_is_refused(sea, reader, before_read, change, number):
    def act():
        if change == "grown":
            with sea.open("ab") as file:
                file.write(b"!")
        elif change == "truncated":
            os.truncate(sea, 3)
        else:
            sea.write_bytes(INSIDE.upper())
            os.utime(sea, ns=(1, 1))

    before_read(act, number, most=5)
    assert reason(reader) == CHANGED
    # It may be whole again, but what was refused is not what is there now.
    assert reader.changed() == ["Sea/Tides.md"]


def test_file_read_in_pieces_is_whole(sea, reader, before_read):
    before_read(lambda: None, most=5)
    assert reader.read("Sea/Tides.md") == INSIDE
    assert reader.changed() == []


def test_file_replaced_as_a_whole_before_it_is_opened_is_read_as_a_whole(sea, reader, before_open):
    new = sea.with_name("new")
    new.write_bytes(b"neap tides, and longer")
    before_open(lambda: new.replace(sea))
    assert reader.read("Sea/Tides.md") == b"neap tides, and longer"
    assert reader.states["Sea/Tides.md"].size == 22
    assert reader.changed() == []


def test_file_deleted_before_it_is_opened_is_absent(sea, reader, before_open):
    before_open(sea.unlink)
    assert reason(reader) == ABSENT


def test_file_deleted_while_it_is_read_has_changed(sea, reader, before_read):
    before_read(sea.unlink)
    assert reason(reader) == CHANGED
    assert reader.changed() == ["Sea/Tides.md"]


@pytest.mark.parametrize("flags", ["with O_NOFOLLOW", "without"])
def test_file_swapped_for_a_link_is_never_followed(sea, vault, relative, before_open, monkeypatch, flags):
    if flags == "without":
        if relative:
            pytest.skip("descriptors come with O_NOFOLLOW")
        monkeypatch.setattr(opening, "_FILE_FLAGS", os.O_RDONLY)

    def act():
        sea.unlink()
        sea.symlink_to(vault.parent / "outside" / "Tides.md")

    before_open(act)
    with FolderReader(str(vault), descriptor_relative=relative) as reader:
        assert reason(reader) in {LINK, CHANGED}


def test_folder_swapped_for_a_link_before_the_note_is_opened_never_leads_outside(sea, reader, before_open, relative):
    before_open(lambda: swap_folder(sea))
    if relative:
        assert reader.read("Sea/Tides.md") == INSIDE  # the folder that was opened, wherever it is now
    else:
        assert reason(reader) == CHANGED
    assert reader.changed() == ["Sea/Tides.md"]


def test_folder_swapped_for_a_link_between_listing_and_reading_never_leads_outside(sea, vault, relative):
    with FolderReader(str(vault), descriptor_relative=relative) as reader:
        assert [note.page for note in walk_vault(reader, Exclusions(())).notes] == ["Sea/Tides.md"]
        swap_folder(sea)
        if relative:
            assert reader.read("Sea/Tides.md") == INSIDE
        else:
            assert reason(reader) == LINK
    with FolderReader(str(vault), descriptor_relative=relative) as reader:
        assert reason(reader) == LINK


@pytest.mark.usefixtures("no_hang")
def test_file_swapped_for_a_fifo_is_not_waited_for(sea, reader, before_open):
    def act():
        sea.unlink()
        os.mkfifo(sea)

    before_open(act)
    assert reason(reader) == NOT_REGULAR


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_deleted_while_the_vault_is_listed_is_skipped_with_its_reason(sea, vault, write, reader, monkeypatch, what):
    write("Garden/Compost.md")
    real = reader.list

    def listing(folder):
        entries = real(folder)
        if what == "file" and folder == "Sea":
            sea.unlink()
        if what == "folder" and folder == "":
            shutil.rmtree(sea.parent)
        return entries

    monkeypatch.setattr(reader, "list", listing)
    found = walk_vault(reader, Exclusions(()))
    assert [note.page for note in found.notes] == ["Garden/Compost.md"]
    path, words = ("Sea/Tides.md", "deleted while") if what == "file" else ("Sea", "not read: it does not exist")
    assert [(one.path, words in one.reason) for one in found.skipped] == [(path, True)]


# What changed since it was read


@pytest.mark.parametrize("change", ["edited", "touched", "deleted", "replaced", "made a link", "made a folder"])
def test_changed_names_what_is_in_another_state(sea, write, reader, change):
    write("Garden/Compost.md")
    reader.read("Sea/Tides.md")
    reader.read("Garden/Compost.md")
    assert reader.changed() == []
    if change == "edited":
        state = sea.stat()
        sea.write_bytes(INSIDE.upper())  # same size; the times are set back, but for the one that cannot be
        os.utime(sea, ns=(state.st_atime_ns, state.st_mtime_ns))
    elif change == "touched":
        os.utime(sea, ns=(1, 1))
    elif change == "replaced":
        new = sea.with_name("new")
        shutil.copy2(sea, new)
        new.replace(sea)
    else:
        sea.unlink()
        if change == "made a link":
            sea.symlink_to("../Garden/Compost.md")
        elif change == "made a folder":
            sea.mkdir()
    assert reader.changed() == ["Sea/Tides.md"]


def test_changed_sees_a_folder_that_was_replaced(sea, vault, reader):
    reader.read("Sea/Tides.md")
    sea.parent.rename(vault / "Old")
    shutil.copytree(vault / "Old", sea.parent)
    assert reader.changed() == ["Sea/Tides.md"]


def test_changed_sees_a_vault_that_was_replaced(sea, vault, reader):
    reader.read("Sea/Tides.md")
    vault.rename(vault.parent / "old")
    shutil.copytree(vault.parent / "old", vault)
    assert reader.changed() == ["Sea/Tides.md"]


def test_change_between_two_reads_is_not_forgotten(sea, reader):
    reader.read("Sea/Tides.md")
    sea.write_bytes(b"neap tides")
    assert reader.read("Sea/Tides.md") == b"neap tides"
    assert reader.changed() == ["Sea/Tides.md"]


def test_new_twin_in_the_exact_spelling_is_a_change(write, reader):
    write("Cafe\u0301.md", "old")
    assert reader.read("Café.md") == b"old"
    write("Café.md", "new")
    assert reader.changed() == ["Café.md"]


# Real threads


def hammer(action, rounds=2_000):
    """Runs `action` in a thread while the caller works; ends it afterwards."""
    stop = threading.Event()

    def work():
        for _ in range(rounds):
            if stop.is_set():
                return
            action()

    thread = threading.Thread(target=work)
    thread.start()
    return stop, thread


@pytest.mark.skipif(not DESCRIPTOR_RELATIVE, reason="the degraded mode narrows this race, it cannot close it")
def test_folder_that_flickers_between_folder_and_link_never_leads_outside(sea, vault):
    moved = vault / "Moved"
    link = vault.parent / "link"
    link.symlink_to(vault.parent / "outside")

    def flicker():
        sea.parent.rename(moved)
        link.rename(sea.parent)
        sea.parent.rename(link)
        moved.rename(sea.parent)

    stop, thread = hammer(flicker)
    found = set()
    for _ in range(400):
        with FolderReader(str(vault), descriptor_relative=True) as reader:
            try:
                found.add(reader.read("Sea/Tides.md"))
            except FileRefusedError as refusal:
                found.add(refusal.reason)
    stop.set()
    thread.join()
    assert found <= {INSIDE, LINK, ABSENT}


def test_file_replaced_again_and_again_is_always_read_whole(sea, vault, relative):
    texts = [b"a" * 70_000, b"b" * 50_000]
    sea.write_bytes(texts[0])
    turn = iter(range(1 << 20))

    def replace():
        new = vault.parent / "new"
        new.write_bytes(texts[next(turn) % 2])
        new.replace(sea)

    stop, thread = hammer(replace)
    with FolderReader(str(vault), descriptor_relative=relative) as reader:
        for _ in range(400):
            try:
                assert reader.read("Sea/Tides.md") in texts
            except FileRefusedError as refusal:
                assert refusal.reason == CHANGED  # noqa: PT017 - either outcome is right
    stop.set()
    thread.join()
