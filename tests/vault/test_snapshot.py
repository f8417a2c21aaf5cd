from __future__ import annotations

import hashlib

import pytest

from vault_eval.errors import UsageError
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.snapshot import open_snapshot

NFC, NFD = "Café.md", "Cafe\u0301.md"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_snapshot_lists_the_vault_once(write, vault):
    write("b.md")
    write("a/c.md")
    write("Archive/d.md")
    with open_snapshot(str(vault), ["Archive"]) as snapshot:
        write("later.md")
        assert snapshot.names == ["a/c.md", "b.md"]
        assert [one.path for one in snapshot.listing.excluded] == ["Archive/d.md"]
        assert (snapshot.named, snapshot.root) == (str(vault), str(vault.resolve()))


def test_snapshot_of_a_linked_vault_remembers_how_it_was_named(write, vault):
    write("a.md")
    alias = vault.parent / "alias"
    alias.symlink_to("vault")
    with open_snapshot(str(alias)) as snapshot, open_snapshot(str(vault)) as same:
        assert (snapshot.named, snapshot.root, snapshot.id) == (str(alias), same.root, same.id)


def test_snapshot_needs_a_folder(vault):
    with pytest.raises(UsageError), open_snapshot(str(vault / "nowhere")):
        pass


def test_folders_are_released_after_an_error(vault):
    with pytest.raises(KeyError), open_snapshot(str(vault)) as snapshot:
        raise KeyError
    with pytest.raises(RuntimeError, match="closed"):
        snapshot.reader.list("")  # and never the current folder


def test_digest_is_of_the_bytes_and_computed_once(write, reader):
    write("Tides.md", "moon\r\n")
    pages = PageDigests(reader)
    assert pages.digest("Tides.md") == sha256("moon\r\n")
    write("Tides.md", "sun")
    assert pages.digest("Tides.md") == sha256("moon\r\n")
    assert pages.known() == {"Tides.md": sha256("moon\r\n")}


def test_page_that_cannot_be_read_has_no_digest_but_a_reason(vault, reader):
    (vault / "Alias.md").symlink_to("Tides.md")
    pages = PageDigests(reader)
    assert (pages.digest("Alias.md"), pages.digest("Nowhere.md")) == (None, None)
    assert pages.problem("Alias.md") == "it is, or passes through, a link"
    assert pages.problem("Nowhere.md") == "it does not exist"
    assert (pages.problem("Never asked.md"), pages.known()) == (None, {})
    assert pages.body_digest("Nowhere.md", "answers") is None


def test_same_size_and_times_do_not_hide_other_bytes(write, vault):
    import os

    place = write("Buoy.md", "RED42")
    state = place.stat()
    with open_snapshot(str(vault)) as before:
        first = before.pages.digest("Buoy.md")
    place.write_text("TAN42")
    os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))
    with open_snapshot(str(vault)) as after:
        assert (first, after.pages.digest("Buoy.md")) == (sha256("RED42"), sha256("TAN42"))
        assert before.listing.notes[0].state != after.listing.notes[0].state  # the time of the inode gives it away


def test_decomposed_page_is_read_where_the_listing_found_it(write, vault, monkeypatch):
    for number in range(50):
        write(f"Cafe\u0301 {number}.md", str(number))
    with open_snapshot(str(vault)) as snapshot:
        monkeypatch.setattr(snapshot.reader, "list", lambda _: pytest.fail("listed again"))
        assert [snapshot.pages.digest(f"Café {number}.md") for number in range(50)] == [
            sha256(str(number)) for number in range(50)
        ]


def test_label_property_is_left_out_of_the_body_digest(write, vault):
    write("a.md", "---\nanswers:\n  - q?\n---\nbody\n")
    write("b.md", "---\n---\nbody\n")
    with open_snapshot(str(vault)) as snapshot:
        assert snapshot.pages.body_digest("a.md", "answers") == snapshot.pages.body_digest("b.md", "answers")
        assert snapshot.pages.digest("a.md") != snapshot.pages.digest("b.md")
