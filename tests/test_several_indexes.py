"""One evaluation of searchers on different indexes: what is said of each rests on its own index."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from vault_eval import strict_json
from vault_eval.comparison.compare import compare
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.evaluation import clock, evaluate, run_quality
from vault_eval.index.build import build_index, no_progress
from vault_eval.index.options import IndexOptions
from vault_eval.reports.compared import sides
from vault_eval.reports.document import Report, RunReport
from vault_eval.reports.json_report import report_text
from vault_eval.reports.saved_report import read_report
from vault_eval.request import Request
from vault_eval.variants import build_variants, varied
from vault_eval.vault.snapshot import open_snapshot

# A program in the place of claude-obsidian, which finds nothing.
PROGRAM = 'print(\'{"candidates": [], "explain": {"bm25_candidate_count": 0, "stale_candidates_skipped": 0}}\')'


@pytest.fixture
def desk(vault_meta, tmp_path) -> Desk:
    """Two indexes of one vault: claude-obsidian's, which never holds a note outside wiki/, and ours."""
    vault_meta.write("wiki/Boat.md", "The boat needs paint.\n")
    vault_meta.write("Inbox.md", "The anchor is lost.\n")
    for number in range(12):  # more than are looked at, and all before the note in path order
        vault_meta.write(f"Anchors/{number:02}.md", "Anchor.\n")
    vault_meta.index()
    (tmp_path / "product" / "scripts").mkdir(parents=True)
    (tmp_path / "product" / "scripts" / "retrieve.py").write_text(PROGRAM, encoding="utf-8")
    labels = [{"id": "lost", "query": "anchor", "expected_pages": ["Inbox.md"]}]
    text = json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": labels})
    (tmp_path / "labels.json").write_text(text, encoding="utf-8")
    made = Desk(tmp_path, vault_meta)
    made.index()
    return made


class Desk:
    """The vault, its labels, and the evaluation of any searchers."""

    def __init__(self, folder: Path, vault_meta) -> None:
        self.folder = folder
        self.vault_meta = vault_meta

    def index(self) -> None:
        with open_snapshot(str(self.vault_meta.root)) as vault:
            folder = DataFolder(str(self.folder / "data")).index_folder(vault.id)
            build_index(vault.reader, vault.listing, IndexOptions(), folder, vault.id, 0, no_progress)

    def request(self, *retrievers: str, **settings: object) -> Request:
        product = str(self.folder / "product") if "claude-obsidian" in retrievers else None
        places = {"data": str(self.folder / "data"), "product_root": product, "cold_samples": 0}
        labels = (str(self.folder / "labels.json"),)
        return Request(str(self.vault_meta.root), labels, retrievers, **{**places, **settings})

    def measured(self, *retrievers: str) -> Report:
        return evaluate(self.request(*retrievers), clock())


def cause(run: RunReport) -> tuple[str, str]:
    (found,) = run.rows[0].diagnosis
    return found.cause, found.detail


@pytest.mark.parametrize("order", [("keyword", "claude-obsidian"), ("claude-obsidian", "keyword")])
def test_note_that_one_index_left_out_is_no_miss_of_that_kind_for_a_searcher_of_another(desk, order):
    runs = dict(zip(order, desk.measured(*order).runs, strict=True))
    assert cause(runs["keyword"])[0] not in ("not_indexed", "unexplained")
    assert cause(runs["claude-obsidian"]) == (
        "not_indexed",
        "the note was left out: it lies outside wiki/, the only folder that claude-obsidian indexes",
    )


@pytest.mark.parametrize(("first", "indexed"), [("keyword", 1), ("claude-obsidian", 0)])
def test_coverage_is_that_of_the_first_index_searched(desk, first, indexed):
    (second,) = {"keyword", "claude-obsidian"} - {first}
    assert desk.measured("title", first, second).coverage.indexed == indexed


def test_each_index_that_is_not_fresh_is_named_once_with_what_mends_it(desk):
    desk.vault_meta.write("wiki/Boat.md", "Sold.\n")
    changed, theirs = "1 note changed since the index was built", "index of claude-obsidian: 1 note"
    ours, other = desk.measured("keyword", "keyword:k1=1", "claude-obsidian").warnings
    assert [ours.startswith(changed), "run index again" in ours] == [True, True]
    assert [other.startswith(theirs), "have claude-obsidian index the vault again" in other] == [True, True]
    desk.index()
    (warning,) = desk.measured("keyword", "keyword:k1=1", "claude-obsidian").warnings
    assert warning.startswith(theirs)


def test_index_of_a_variant_that_is_behind_is_said_to_be(desk):
    asked = varied(desk.request("keyword"), ["stem=english"])
    build_variants(asked)
    assert evaluate(asked, clock()).warnings == ()
    desk.vault_meta.write("New.md", "A new note.\n")
    desk.index()
    behind, differs = evaluate(asked, clock()).warnings
    assert behind.startswith("index of keyword:stem=english: 1 note added since the index was built")
    assert differs.startswith("the indexes of 'keyword' and 'keyword:stem=english' were built from other states of the notes")


@pytest.mark.parametrize("again", ["neither", "both"])
def test_indexes_of_the_same_notes_do_not_confound_whether_fresh_or_not(desk, again):
    asked = varied(desk.request("keyword"), ["chunk-chars=1999"])
    build_variants(asked)
    desk.vault_meta.write("wiki/Boat.md", "The boat is lost.\n")
    if again == "both":
        desk.index()
        build_variants(asked)
    report = evaluate(asked, clock())
    first, second = sides(report)
    (compared,) = compare(first, [second])
    assert (compared.findings, any("other states" in warning for warning in report.warnings)) == ((), False)


@pytest.mark.parametrize("behind", ["first", "second", "both, each in its own way"])
def test_indexes_of_other_states_of_the_notes_are_named_and_confound(desk, behind, tmp_path):
    """A setting that does nothing must not seem to help since one of the two indexes is stale."""
    asked = varied(desk.request("keyword"), ["chunk-chars=1999"])
    build_variants(asked)
    desk.vault_meta.write("wiki/Boat.md", "The boat is lost.\n")
    desk.index()
    if behind == "first":
        build_variants(asked)
        desk.vault_meta.write("wiki/Boat.md", "The boat needs paint.\n")
        desk.index()
        desk.vault_meta.write("wiki/Boat.md", "The boat is lost.\n")
    if behind.startswith("both"):
        desk.vault_meta.write("wiki/Boat.md", "Sold.\n")
    report = evaluate(asked, clock())
    names = "the indexes of 'keyword' and 'keyword:chunk-chars=1999' were built from other states of the notes"
    assert [warning.startswith(names) for warning in report.warnings].count(True) == 1
    (tmp_path / "report.json").write_bytes(strict_json.encode(report_text(report)))
    for one in (report, read_report(str(tmp_path / "report.json"))):
        first, second = sides(one)
        (compared,) = compare(first, [second])
        assert [(found.subject, found.effect) for found in compared.findings] == [("index", "confounds")]


def test_product_root_without_the_product_is_refused(desk):
    with pytest.raises(UsageError, match="claude-obsidian, which is not measured: name it with --retriever"):
        evaluate(desk.request("keyword", product_root=str(desk.folder / "product")), clock())


def test_run_quality_measures_the_product_where_its_root_is_given_and_keyword_where_not(desk):
    labels, data = str(desk.folder / "labels.json"), str(desk.folder / "data")
    reports = [
        run_quality(str(desk.vault_meta.root), labels, root, data=data, cold_samples=0)
        for root in (None, str(desk.folder / "product"))
    ]
    assert [report["runs"][0]["retriever"]["name"] for report in reports] == ["keyword", "claude-obsidian"]


def test_settings_of_an_index_are_not_varied_where_claude_obsidian_made_it(desk):
    shutil.rmtree(desk.folder / "data" / "indexes")
    with pytest.raises(UsageError, match="made by claude-obsidian, and another one would differ in more; run index first"):
        varied(desk.request("keyword"), ["chunk-chars=1000"])
    assert varied(desk.request("keyword"), ["k1=1.5"]).retrievers == ("keyword", "keyword:k1=1.5")
    assert varied(desk.request("hybrid"), ["prefix=none"]).retrievers == ("hybrid", "hybrid:prefix=none")
    asked = desk.request("keyword", index=str(desk.vault_meta.folder))
    with pytest.raises(UsageError, match="made by claude-obsidian"):
        varied(asked, ["stem=english"])
