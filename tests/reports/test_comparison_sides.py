"""From reports to the sides of a comparison: the same values as the report's own figures, from nothing but its rankings."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log2

import pytest

from vault_eval import strict_json
from vault_eval.evaluation import clock
from vault_eval.fixture_mode import run_fixture
from vault_eval.metrics.catalogue import mean_metrics
from vault_eval.metrics.judged_query import JudgedPlace
from vault_eval.model import RetrieverDescription
from vault_eval.reports.compared import compared_query, sides
from vault_eval.reports.document import snapshot_digest
from vault_eval.reports.json_report import pages_text, report_text
from vault_eval.reports.saved_report import read_pages, read_report, saved_figures
from vault_eval.request import Request


@pytest.fixture(scope="module")
def measured():
    return run_fixture(Request(vault="", cold_samples=0), clock())[0]


@pytest.fixture
def saved(measured, tmp_path):
    (tmp_path / "report.json").write_bytes(strict_json.encode(report_text(measured)))
    (tmp_path / "pages.json").write_bytes(strict_json.encode(pages_text(measured)))
    return tmp_path


def mean(values):
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def test_every_mean_of_a_report_is_that_of_the_values_of_its_side(saved):
    report = read_report(str(saved))
    (side,) = sides(report)
    for metric in mean_metrics(10):
        figure = report.runs[0].metrics[metric.name]
        values = [query.values.get(metric.name) for query in side.queries]
        assert mean(values) == pytest.approx(figure.value), metric.name
        assert sum(value is not None for value in values) == figure.n, metric.name


def test_a_side_names_what_was_searched(measured):
    (side,) = sides(measured)
    run = measured.runs[0]
    assert (side.name, side.depth, side.index_sha256) == ("keyword", 10, run.index.sha256)
    assert side.page_digests == measured.page_digests
    assert side.label_sources == measured.label_sources
    assert side.settings["k1"] == 1.5


@pytest.mark.parametrize(("configured", "chunks"), [(50, 50), ("all", None), (None, None)])
def test_a_side_names_its_pool_and_how_often_it_was_exhausted(make_row, make_run, make_report, configured, chunks):
    rows = [make_row(name, "q", ["A.md"], [], pool_exhausted=name != "b") for name in "abc"]
    run = make_run(rows, retriever=RetrieverDescription("keyword", {"pool_chunks": configured}))
    (side,) = sides(make_report(run))
    assert (side.pool_chunks, side.pool_exhausted) == (chunks, 2)
    assert side.page_digests is None  # nothing is known of its pages, which is not that it had none


def test_grades_are_saved_with_the_row_and_count_again(make_row):
    """A graded 2 at rank 2, B graded 1 missed: DCG 2 / log2(3), ideal 2 + 1 / log2(3)."""
    row = make_row("a", "q", ["A.md", "B.md"], ["X.md", "A.md"], grades={"A.md": 2, "B.md": 1})
    found = compared_query(row, mean_metrics(10))
    assert found.values["ndcg@10"] == pytest.approx((2 / log2(3)) / (2 + 1 / log2(3)))
    assert found.judged == {"A.md": 2, "B.md": 1}


def test_a_row_without_an_answer_has_no_value(make_row):
    failed = compared_query(make_row("a", "q", ["A.md"], [], status="error", error="it timed out"), mean_metrics(10))
    assert (failed.values, failed.reason, failed.status) == ({}, "it timed out", "error")


def test_gold_is_the_place_where_the_label_names_one(make_row):
    place = JudgedPlace("A.md#Tides", "A.md", "section", is_hit=True)
    assert compared_query(make_row("a", "q", ["A.md", "B.md"], [], places=(place,)), ()).gold == ("B.md", "A.md#Tides")


def test_pages_beside_a_report_are_read_when_they_are_its_own(saved, measured):
    assert read_pages(str(saved), measured.snapshot_sha256) == measured.page_digests
    assert read_pages(str(saved / "report.json"), measured.snapshot_sha256) == measured.page_digests
    assert snapshot_digest(measured.page_digests) == measured.snapshot_sha256
    assert read_pages(str(saved), "0" * 64) is None
    (saved / "pages.json").write_text("{", encoding="utf-8")
    assert read_pages(str(saved), measured.snapshot_sha256) is None
    (saved / "pages.json").unlink()
    assert read_pages(str(saved), measured.snapshot_sha256) is None


def test_figures_alone_are_the_report_without_its_rows(saved):
    report = read_report(str(saved))
    found = saved_figures((saved / "report.json").read_bytes(), "report.json")
    assert found.report == replace(report, runs=tuple(replace(run, rows=()) for run in report.runs))
    assert [[row["id"] for row in json.loads(rows)] for rows in found.rows] == [[row.id for row in report.runs[0].rows]]


def test_text_that_looks_like_the_rows_hides_none(make_row, make_run, make_report):
    """A line break in a text is written as `\\n`, so a query cannot begin a line."""
    evil = '\n"queries": [\n{"id": "x"}\n]'
    report = make_report(make_run([make_row("a", evil, ["A.md"], ["A.md"]), make_row(evil, "q", [evil], [])]), warnings=(evil,))
    found = saved_figures(strict_json.encode(report_text(report)), "report.json")
    assert [row["id"] for row in json.loads(found.rows[0])] == ["a", evil]
    assert found.report.warnings == (evil,)


def test_a_report_laid_out_otherwise_still_has_its_figures(saved):
    data = json.dumps(json.loads((saved / "report.json").read_text(encoding="utf-8"))).encode()
    found = saved_figures(data, "report.json")
    assert found.rows == ()
    assert found.report == saved_figures((saved / "report.json").read_bytes(), "report.json").report
