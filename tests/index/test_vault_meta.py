"""An index of claude-obsidian: what is read of it, what of it is skipped and counted, and when it is refused whole."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from vault_eval.errors import IndexUnusableError
from vault_eval.index.vault_meta.coverage import freshness
from vault_eval.index.vault_meta.page_state import PageState
from vault_eval.index.vault_meta.places import vault_meta_folder
from vault_eval.index.vault_meta.scoring import Scorer
from vault_eval.index.vault_meta.store import open_vault_meta
from vault_eval.vault.snapshot import open_snapshot

TIDES, BOAT = "wiki/Tides.md", "wiki/Sea/Boat.md"


@pytest.fixture
def sea(vault_meta):
    """Two notes, indexed."""
    vault_meta.write(TIDES, "spring tides\n")
    vault_meta.write(BOAT, "harbour boat of spring\n")
    vault_meta.index()
    return vault_meta


class Opened:
    """An index with all that was found when it was opened; the vault is closed."""

    def __init__(self, sea, folder: str | None = None) -> None:
        with open_snapshot(str(sea.root)) as vault:
            self.index = open_vault_meta(folder or str(sea.folder), vault)
            self.freshness = freshness(self.index, vault)
            self.states = {page: self.index.state(page) for page in (TIDES, BOAT)}
            self.digest_now = self.index.digest_now()
            self.index.close()

    @property
    def skipped(self) -> tuple[int, int]:
        return self.index.skipped_malformed, self.index.skipped_undecodable


def test_the_folder_is_found_from_itself_the_vault_and_its_inside(sea, tmp_path):
    for place in (sea.folder, sea.root, sea.folder / "bm25"):
        assert vault_meta_folder(str(place)) == str(sea.folder)
    for place in (tmp_path, sea.root / "wiki", tmp_path / "absent"):
        assert vault_meta_folder(str(place)) is None


def test_an_index_is_read_with_its_digest_pages_and_lengths(sea):
    found = Opened(sea)
    assert found.index.sha256 == hashlib.sha256(sea.index_file.read_bytes()).hexdigest() == found.digest_now
    assert found.index.pages == {BOAT: [0], TIDES: [1]}, "in the order of the file"
    assert sorted(chunk.length for chunk in found.index.document.chunks) == [2, 3]  # "of" is a stop word
    assert found.skipped == (0, 0)
    assert set(found.states.values()) == {PageState.FRESH}
    assert found.freshness.is_fresh


def test_scores_are_those_of_the_formula(sea):
    document = Opened(sea).index.document
    scores = Scorer(document, 1.5, 0.75).matches(["spring", "boat", "spring"])
    by_length = {document.chunks[chunk].length: score for chunk, score in scores.items()}
    # N = 2, mean length 2.5; idf(spring) = ln(1 + .5/2.5) = .182322, idf(boat) = ln(1 + 1.5/1.5) = .693147.
    # Length 2: norm = 1.5 (.25 + .75 * 2/2.5) = 1.275; 2 * .182322 * 2.5 / 2.275 = .400707.
    # Length 3: norm = 1.5 (.25 + .75 * 3/2.5) = 1.725; (2 * .182322 + .693147) * 2.5 / 2.725 = .970450.
    assert by_length == {2: pytest.approx(0.400707, abs=1e-6), 3: pytest.approx(0.970450, abs=1e-6)}


def test_provenance_counts_prefix_sources_and_sizes(sea):
    sea.change_record(TIDES, prefix_source="anthropic-api")
    assert Opened(sea).index.provenance() == {
        "built": "2026-01-02T03:04:05Z",
        "prefix_anthropic_api": 1,
        "prefix_synthetic": 1,
        "chunk_characters_median": 12,
        "chunk_characters_max": 22,
    }
    sea.change_record(TIDES, prefix_source="\x1b[31m from a note")
    sea.save(sea.document() | {"updated_at": "\x1b[31m"})
    assert Opened(sea).index.provenance().keys() == {
        "prefix_other",
        "prefix_synthetic",
        "chunk_characters_median",
        "chunk_characters_max",
    }


MALFORMED: dict[str, Callable[[Any], object]] = {
    "no JSON": lambda sea: sea.record_file(TIDES).write_text("{"),
    "no object": lambda sea: sea.record_file(TIDES).write_text("[]"),
    "absent": lambda sea: sea.record_file(TIDES).unlink(),
    "too large": lambda sea: sea.record_file(TIDES).write_bytes(b" " * (8 * 1_048_576 + 1)),
    "of another chunk": lambda sea: sea.change_record(TIDES, chunk_index=1),
    "a number as text": lambda sea: sea.change_record(TIDES, chunk_index="0"),
    "without text": lambda sea: sea.change_record(TIDES, raw_text=None),
    "with other text": lambda sea: sea.change_record(TIDES, raw_text="neap tides"),
    "half a character": lambda sea: sea.change_record(TIDES, raw_text="\ud83d"),
    "without a digest of its page": lambda sea: sea.change_record(TIDES, page_body_hash=None),
    "with a digest that is none": lambda sea: sea.change_record(TIDES, page_body_hash="sha256:12"),
    "of a page above the vault": lambda sea: sea.change_record(TIDES, page_path="wiki/../../secret.md"),
    "of an absolute page": lambda sea: sea.change_record(TIDES, page_path="/etc/secret.md"),
    "of a page outside wiki": lambda sea: sea.change_record(TIDES, page_path="Out.md"),
    "of what is no note": lambda sea: sea.change_record(TIDES, page_path="wiki/secret.txt"),
}


@pytest.mark.parametrize("harm", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_record_is_skipped_and_counted(sea, harm):
    harm(sea)
    found = Opened(sea)
    assert found.skipped == (1, 0)
    assert list(found.index.pages) == [BOAT]
    assert len(found.index.document.chunks) == 2, "N, df and mean length are those of the whole index"
    assert found.freshness.added == (TIDES,)


ESCAPES = ["../secret.json", "/etc/passwd", ".vault-meta/bm25/index.json", ".vault-meta/chunks/../../x", "", "C:/x", 7, None]


@pytest.mark.parametrize("path", ESCAPES)
def test_a_record_path_that_leads_elsewhere_is_never_followed(sea, path):
    document = sea.document()
    next(iter(document["docs"].values()))["path"] = path
    sea.save(document)
    assert Opened(sea).skipped == (1, 0)


def test_a_record_outside_the_folder_of_records_is_malformed_whatever_it_says(sea):
    sea.write(".vault-meta/bm25/chunk-000.json", sea.record_file(TIDES).read_bytes())
    document = sea.document()
    (entry,) = (entry for entry in document["docs"].values() if str(sea.record_file(TIDES)).endswith(entry["path"]))
    entry["path"] = ".vault-meta/bm25/chunk-000.json"
    sea.save(document)
    assert Opened(sea).skipped == (1, 0)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links on this system")
def test_a_record_behind_a_link_is_malformed_and_an_index_behind_one_is_refused(sea, tmp_path):
    file = sea.record_file(TIDES)
    shutil.move(file, tmp_path / "record.json")
    file.symlink_to(tmp_path / "record.json")
    assert Opened(sea).skipped == (1, 0)
    shutil.move(sea.index_file, tmp_path / "index.json")
    sea.index_file.symlink_to(tmp_path / "index.json")
    with pytest.raises(IndexUnusableError, match="passes through, a link"):
        Opened(sea)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links on this system")
def test_an_index_folder_that_is_a_link_out_of_the_vault_is_refused(sea, tmp_path):
    shutil.move(sea.folder, tmp_path / "elsewhere")
    sea.folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexUnusableError, match="passes through, a link"):
        Opened(sea)


def test_records_and_pages_that_are_no_utf8_are_undecodable(vault_meta):
    vault_meta.write(TIDES, b"spring tides \xff\n")  # the product's own digest, of lossy text, would match
    vault_meta.write(BOAT, "boat\n")
    vault_meta.index()
    found = Opened(vault_meta)
    assert found.skipped == (0, 1)
    assert found.freshness.left_out == {TIDES: "it is not UTF-8"}
    vault_meta.record_file(BOAT).write_bytes(b'{"raw_text": "\xff"}')
    assert Opened(vault_meta).skipped == (0, 2)


def test_a_changed_page_and_a_record_made_anew_are_stale(sea):
    sea.write(TIDES, "neap tides\n")
    found = Opened(sea)
    assert found.states == {TIDES: PageState.STALE, BOAT: PageState.FRESH}
    assert (found.freshness.changed, found.skipped) == ((TIDES,), (0, 0))
    document = sea.document()
    for entry in document["docs"].values():
        entry["page_body_hash"] = None
    sea.save(document)
    assert set(Opened(sea).states.values()) == {PageState.STALE}


def test_a_page_of_which_only_the_label_property_was_added_is_told_apart(vault_meta):
    vault_meta.write(TIDES, "---\ntitle: Tides\n---\nspring tides\n")
    vault_meta.write(BOAT, "---\ntitle: Boat\n---\nboat\n")
    vault_meta.index()
    vault_meta.write(TIDES, "---\ntitle: Tides\nanswers:\n  - when is it high?\n---\nspring tides\n")
    vault_meta.write(BOAT, "---\ntitle: Ship\nanswers:\n  - what floats?\n---\nboat\n")
    found = Opened(vault_meta)
    assert found.states == {TIDES: PageState.LABEL_ONLY, BOAT: PageState.STALE}
    assert (found.freshness.changed, found.freshness.label_only) == ((BOAT, TIDES), (TIDES,))


def test_coverage_tells_what_was_added_removed_renamed_and_never_taken(sea):
    sea.write("wiki/New.md", "new\n")
    sea.write("wiki/Empty.md", "---\ntitle: Empty\n---\n\n")
    sea.write("Out.md", "out\n")
    sea.write("wiki/Moved.md", sea.root.joinpath(TIDES).read_bytes())
    sea.root.joinpath(TIDES).unlink()
    found = Opened(sea).freshness
    assert found.added == ("wiki/Moved.md", "wiki/New.md")
    assert (found.removed, found.renamed) == ((TIDES,), {TIDES: "wiki/Moved.md"})
    assert {page: reason.split(",")[0] for page, reason in found.left_out.items()} == {
        "Out.md": "it lies outside wiki/",
        "wiki/Empty.md": "it has no text below its properties",
    }
    assert found.indexed == {TIDES, BOAT}


def test_an_excluded_page_is_in_the_index_all_the_same(sea):
    sea.write(".obsidian/app.json", json.dumps({"userIgnoreFilters": ["wiki/Sea/"]}))
    found = Opened(sea)
    assert found.states[BOAT] is PageState.FRESH
    assert (found.freshness.removed, found.freshness.changed) == ((), ())


def _without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda document: document.pop(key)


def _term(document: dict[str, Any], term: str = "spring") -> dict[str, Any]:
    entry: dict[str, Any] = document["vocab"][term]
    return entry


CORRUPT: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no parameters": (_without("params"), "params is no JSON object"),
    "k1 is 0": (lambda d: d["params"].update(k1=0), "k1 is 0"),
    "k1 is true": (lambda d: d["params"].update(k1=True), "k1 is no number"),
    "b over 1": (lambda d: d["params"].update(b=1.5), "b is no number from 0 to 1"),
    "another count": (lambda d: d.update(doc_count=3), "doc_count is 3, but docs has 2"),
    "another mean": (lambda d: d.update(avg_dl=2.4), "avg_dl is 2.4"),
    "no date": (_without("updated_at"), "updated_at is no text"),
    "a negative length": (lambda d: next(iter(d["docs"].values())).update(dl=-1), "dl is no whole number"),
    "a posting of no chunk": (lambda d: _term(d).update(postings=[["x:0", 1]]), "'spring': a posting that names no chunk"),
    "a count of 0": (lambda d: _term(d)["postings"][0].__setitem__(1, 0), "'spring': a posting whose count"),
    "a chunk twice": (lambda d: _term(d)["postings"].__setitem__(1, _term(d)["postings"][0]), "df is 2, but"),
    "a chunk twice, counted once": (
        lambda d: _term(d).update(df=1, postings=[_term(d)["postings"][0]] * 2),
        "df is 1, but its postings name 1",
    ),
    "another df": (lambda d: _term(d).update(df=1), "'spring': df is 1, but its postings name 2"),
    "a posting of three": (lambda d: _term(d)["postings"][0].append(1), "'spring': a posting that names no chunk"),
    "a posting that is text": (lambda d: _term(d)["postings"].__setitem__(0, "ab"), "'spring': a posting that names no chunk"),
    "a posting of a list": (lambda d: _term(d)["postings"][0].__setitem__(0, []), "'spring': a posting that names no chunk"),
    "a count that is true": (lambda d: _term(d)["postings"][0].__setitem__(1, True), "'spring': a posting whose count"),
    "no postings": (lambda d: _term(d).update(postings=[]), "'spring': its postings are no list"),
    "postings that are none": (lambda d: _term(d).update(postings=None), "'spring': its postings are no list that holds any"),
    "a term without letters": (lambda d: d["vocab"].update({"": _term(d)}), "its postings are no list"),
}


@pytest.mark.parametrize(("harm", "said"), CORRUPT.values(), ids=CORRUPT)
def test_an_index_that_contradicts_itself_is_refused_with_the_commands_that_mend_it(sea, harm, said):
    document = sea.document()
    harm(document)
    sea.save(document)
    with pytest.raises(IndexUnusableError) as refused:
        Opened(sea)
    assert said in str(refused.value)
    assert f"scripts/bm25-index.py --vault {sea.root} build" in str(refused.value)
    assert (refused.value.exit_code, refused.value.says_remedy) == (10, True)


@pytest.mark.parametrize("version", [1, 3, "2", None, 2.0, True])
def test_another_schema_version_is_refused_and_named(sea, version):
    sea.save(sea.document() | {"schema_version": version})
    with pytest.raises(IndexUnusableError, match=r"of another version: .* where 2 is read"):
        Opened(sea)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[1]", b'{"schema_version": 2, "schema_version": 2}', b'{"a": NaN}', b"[" * 2000]
)
def test_what_is_no_index_is_refused_without_a_traceback(sea, data):
    sea.index_file.write_bytes(data)
    with pytest.raises(IndexUnusableError):
        Opened(sea)


def test_an_index_of_another_vault_is_refused(sea, tmp_path):
    sea.index_file.parent.parent.rename(tmp_path / "index")
    shutil.rmtree(sea.root / "wiki")
    sea.write("wiki/Other.md", "other\n")
    with pytest.raises(IndexUnusableError, match="of another vault: none of its 2 pages is here"):
        Opened(sea, str(tmp_path / "index"))


def test_an_empty_index_is_an_index(vault_meta):
    vault_meta.index()
    found = Opened(vault_meta)
    assert (len(found.index.document.chunks), found.index.provenance()) == (0, {"built": "2026-01-02T03:04:05Z"})


@pytest.mark.parametrize("is_in_vault", [True, False])
def test_a_change_of_index_or_record_is_found(sea, tmp_path, is_in_vault):
    if not is_in_vault:
        shutil.copytree(sea.folder, tmp_path / "copy")
    folder = sea.folder if is_in_vault else tmp_path / "copy"
    record = folder / sea.record_file(TIDES).relative_to(sea.folder)
    with open_snapshot(str(sea.root)) as vault:
        index = open_vault_meta(str(folder), vault)
        assert index.digest_now() == index.sha256
        record.write_text(record.read_text() + " ")
        found = vault.reader.changed() if is_in_vault else index.digest_now()
        assert found == ([f".vault-meta/{record.relative_to(folder).as_posix()}"] if is_in_vault else None)
        (folder / "bm25" / "index.json").write_text("{}")
        assert index.digest_now() != index.sha256
        index.close()


def test_opening_writes_nothing(sea):
    before = {path: path.stat().st_mtime_ns for path in sorted(sea.root.rglob("*"))}
    Opened(sea)
    assert {path: path.stat().st_mtime_ns for path in sorted(sea.root.rglob("*"))} == before
