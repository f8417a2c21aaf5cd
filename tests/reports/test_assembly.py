"""What a report says of the evaluation as a whole: which figures a searcher hides, and which labels were asked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from vault_eval import strict_json
from vault_eval.evaluation import clock
from vault_eval.fixture_mode import run_fixture
from vault_eval.reports.json_report import report_text
from vault_eval.reports.saved_report import read_report
from vault_eval.reports.text_report import text_report
from vault_eval.request import Request


def measured(*retrievers: str, **options: object):
    report, *_ = run_fixture(Request(vault="", retrievers=retrievers, cold_samples=0, **options), clock())
    return report


@pytest.fixture
def saved(tmp_path):
    def go(report, edit=lambda value: value):
        path = tmp_path / "report.json"
        path.write_bytes(strict_json.encode(json.dumps(edit(json.loads(report_text(report))))))
        return read_report(str(path))

    return go


def test_a_figure_that_searchers_hide_is_named_once_with_them_and_with_what_they_hide(saved):
    report = measured("keyword", "title", "grep")
    hidden = {name for name, one in report.runs[1].metrics.items() if one.status == "unavailable"}
    assert {"section_hit", "usable_candidate_recall", "raw_candidate_recall", "coverage_auroc"} == hidden
    assert report.unavailable == (
        "section-hit: 'title' and 'grep' do not tell where in a note something was found",
        "usable-candidate recall: 'title' and 'grep' do not tell the pages of the candidate pool",
        "raw-candidate recall: 'title' and 'grep' do not tell the candidate pool before stale pages were dropped",
        "coverage AUROC: 'title' and 'grep' do not tell which words of the query a page holds",
    )
    assert json.loads(report_text(report))["scope"]["unavailable"] == [*report.unavailable]
    assert saved(report).unavailable == report.unavailable
    assert f"Not available: {report.unavailable[0]}" in " ".join(text_report(report, saved=None).split())


def test_a_searcher_that_tells_all_leaves_nothing_unavailable():
    assert measured("keyword").unavailable == ()


def test_the_collection_stands_beside_the_labels_only_where_one_was_chosen(saved):
    chosen, whole = measured("keyword", collection="sea"), measured("keyword")
    assert json.loads(report_text(chosen))["labels"]["collection"] == "sea"
    assert "collection" not in json.loads(report_text(whole))["labels"]  # as in reports of the time before it was kept
    assert [saved(one).collection for one in (chosen, whole)] == ["sea", None]


def test_capped_recall_stands_beside_the_number_of_queries_that_it_is_for(make_row, make_run, make_report):
    # a expects two pages, found at 1 and 2; b one, at 2. At 1: 1/1 and 0/1; at 5 and 10: 2/2 and 1/1.
    rows = [make_row("a", "q", ["A.md", "B.md"], ["A.md", "B.md"]), make_row("b", "r", ["B.md"], ["A.md", "B.md"])]
    rows += [make_row("none", "s", [], ["A.md"]), make_row("gone", "t", ["C.md"], [], status="missing-gold")]
    (run,) = json.loads(report_text(make_report(make_run(rows))))["runs"]
    assert run["more_gold_than_cutoff"] == {"1": 1, "5": 0, "10": 0}
    assert run["recall_cap"] == {"1": 0.5, "5": 1.0, "10": 1.0}
    assert run["metrics"]["recall@1"]["value"] == 0.25  # 1/2 and 0/1


def test_capped_recall_has_no_value_where_an_error_would_make_it_mislead(make_row, make_run, make_report):
    rows = [make_row("a", "q", ["A.md"], ["A.md"]), make_row("b", "r", ["B.md"], [], status="error", error="timed out")]
    (run,) = json.loads(report_text(make_report(make_run(rows))))["runs"]
    assert run["recall_cap"] == {"1": None, "5": None, "10": None}


def test_grades_decide_what_capped_recall_counts(make_row, make_run, make_report):
    """B is graded 0 and relevant no longer: of A and B, A at rank 1 is all there is, at cutoff 1 and beyond."""
    row = replace(make_row("a", "q", ["A.md", "B.md"], ["A.md"]), grades={"B.md": 0}, recall={1: 1.0, 5: 1.0, 10: 1.0})
    (run,) = json.loads(report_text(make_report(make_run([row]))))["runs"]
    assert run["recall_cap"] == {"1": 1.0, "5": 1.0, "10": 1.0}
