"""How an index stands to the notes as they are now."""

from __future__ import annotations

import os

import pytest

from vault_eval.index import freshness as freshness_module
from vault_eval.index.freshness import compare_with_vault
from vault_eval.index.seal import open_index
from vault_eval.index.states import read_states
from vault_eval.vault.snapshot import open_snapshot

LABEL_NOTE = "---\nschema: vault-eval.labels.v1\nqueries: []\n---\n"


def freshness(vault):
    index, sha256 = open_index(str(vault.folder), vault.id, verify=True)
    with index, open_snapshot(str(vault.root)) as snapshot:
        return compare_with_vault(snapshot.listing, index, read_states(str(vault.folder), sha256), snapshot.pages)


def test_nothing_changed_is_fresh(make_vault):
    vault = make_vault(**{"A.md": "one\n", "Sub/B.md": "two\n", "Labels.md": LABEL_NOTE})
    vault.write("Bad.md", b"\xff")
    vault.build()
    found = freshness(vault)
    assert found.is_fresh
    assert (sorted(found.indexed), sorted(found.left_out)) == (["A.md", "Sub/B.md"], ["Bad.md", "Labels.md"])


def test_added_changed_removed_and_renamed_notes_are_told_apart(make_vault):
    vault = make_vault(**{"A.md": "one\n", "B.md": "two\n", "C.md": "three\n"})
    vault.build()
    vault.write("A.md", "one more\n")
    (vault.root / "B.md").rename(vault.root / "Moved.md")
    (vault.root / "C.md").unlink()
    vault.write("New.md", "new\n")
    found = freshness(vault)
    assert (found.added, found.changed, found.removed) == (("Moved.md", "New.md"), ("A.md",), ("B.md", "C.md"))
    assert found.renamed == {"B.md": "Moved.md"}
    assert not found.is_fresh
    vault.build()
    assert freshness(vault).is_fresh


def test_a_note_touched_but_not_changed_is_fresh(make_vault):
    vault = make_vault(**{"A.md": "one\n"})
    vault.build()
    os.utime(vault.root / "A.md", (1, 1))
    assert freshness(vault).is_fresh


def test_a_change_of_the_same_size_and_time_is_found(make_vault):
    vault = make_vault(**{"A.md": "RED42\n"})
    vault.build()
    times = (vault.root / "A.md").stat()
    vault.write("A.md", "TAN42\n")
    os.utime(vault.root / "A.md", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert freshness(vault).changed == ("A.md",)


def test_an_edited_label_note_does_not_make_the_index_stale(make_vault):
    vault = make_vault(**{"A.md": "one\n", "Labels.md": LABEL_NOTE})
    vault.build()
    vault.write("Labels.md", LABEL_NOTE + "more\n")
    assert freshness(vault).is_fresh
    assert vault.build().unchanged


def test_a_label_note_that_became_an_ordinary_note_is_missing_from_the_index(make_vault):
    vault = make_vault(**{"A.md": "one\n", "Labels.md": LABEL_NOTE, "Other labels.md": LABEL_NOTE})
    vault.build()
    vault.write("Labels.md", "---\n# schema: vault-eval.labels.v1\n---\nit tells of tides\n")
    found = freshness(vault)
    assert (found.added, sorted(found.left_out)) == (("Labels.md",), ["Other labels.md"])
    assert vault.build().pages == 2
    assert freshness(vault).is_fresh


def test_an_untouched_label_note_is_not_looked_at(make_vault, monkeypatch):
    vault = make_vault(**{"A.md": "one\n", "Labels.md": LABEL_NOTE})
    vault.build()
    monkeypatch.setattr(freshness_module, "is_label_note", lambda _read, page: pytest.fail(f"{page} was looked at"))
    assert freshness(vault).is_fresh


def test_a_note_left_out_counts_as_added_once_its_bytes_are_others(make_vault):
    vault = make_vault(**{"A.md": "one\n"})
    vault.write("Bad.md", b"caf\xe9\n")
    vault.build()
    vault.write("Bad.md", "café\n")
    assert freshness(vault).added == ("Bad.md",)
    assert vault.build().pages == 2


def test_a_note_left_out_that_changed_to_another_fault_is_read_again(make_vault):
    vault = make_vault()
    vault.write("Bad.md", b"\xff one")
    vault.build()
    vault.write("Bad.md", b"\xff two")
    assert freshness(vault).added == ("Bad.md",)
    assert not vault.build().unchanged
    assert freshness(vault).is_fresh


def test_an_indexed_note_that_became_a_folder_or_link_is_removed(make_vault):
    vault = make_vault(**{"A.md": "one\n", "B.md": "two\n"})
    vault.build()
    (vault.root / "A.md").unlink()
    (vault.root / "A.md").symlink_to(vault.root / "B.md")
    assert freshness(vault).removed == ("A.md",)


def test_a_note_of_which_only_the_label_property_changed_is_not_stale(make_vault):
    before = "---\nanswers: [one]\n---\n# A\n\ntext\n"
    vault = make_vault(**{"A.md": before, "B.md": before})
    vault.build()
    vault.write("A.md", before.replace("one", "one, two"))
    vault.write("B.md", before.replace("one", "one, two").replace("text", "other text"))
    assert freshness(vault).changed == ("B.md",)
