"""The last kept report of the same labels and the same searcher, read no further than a comparison with it needs."""

from __future__ import annotations

from dataclasses import replace

from vault_eval.comparison.records import ComparedQuery, Side
from vault_eval.errors import VaultEvalError
from vault_eval.json_node import Node
from vault_eval.limits import KEPT_REPORT_MAX_BYTES, LAST_REPORTS_TRIED_MAX
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric
from vault_eval.reports.compared import gold_targets, side
from vault_eval.reports.document import Report
from vault_eval.reports.kept_reports import kept_reports
from vault_eval.reports.saved_rankings import read_ranking, short_rows
from vault_eval.reports.saved_report import SavedFigures, read_pages, report_file, saved_figures
from vault_eval.vault.reader import read_outside


def last_side(report: Report, folder: str, metric: Metric) -> Side | None:
    """The first run of `report` as the last kept report of the same labels, spec and depth has it; None without one.

    `folder` holds the kept reports of this vault, and not yet this one. The side has one metric, which needs only rankings.
    Damaged and foreign files are passed over, and only the newest few are tried.
    """
    for path in kept_reports(folder)[: -LAST_REPORTS_TRIED_MAX - 1 : -1]:
        try:
            found = _side(report, report_file(path), metric)
        except VaultEvalError:
            continue
        if found is not None:
            return found
    return None


def _side(report: Report, file: str, metric: Metric) -> Side | None:
    data = read_outside(file, KEPT_REPORT_MAX_BYTES)
    # Most reports of other labels are told apart before anything of them is parsed.
    if any(source.sha256.encode() not in data for source in report.label_sources):
        return None
    figures = saved_figures(data, file)
    place = _same_run(report, figures)
    if place is None:
        return None
    queries = [_query(row, metric) for row in short_rows(figures.rows[place], file)]
    before = figures.report
    if before.snapshot_sha256 != report.snapshot_sha256:
        before = replace(before, page_digests=read_pages(file, before.snapshot_sha256) or {})
    return side(before, before.runs[place], queries)


def _same_run(report: Report, figures: SavedFigures) -> int | None:
    """The place of the run with the spec and depth of the report's first; None where labels or searcher are others."""
    before, wanted = figures.report, report.runs[0]
    labels, those_before = ((one.label_sources, one.split, one.collection) for one in (report, before))
    if labels != those_before:
        return None
    same = (
        place
        for place, run in enumerate(before.runs)
        if (run.retriever.name, run.depth) == (wanted.retriever.name, wanted.depth) and len(figures.rows) == len(before.runs)
    )
    return next(same, None)


def _query(row: Node, metric: Metric) -> ComparedQuery:
    """One short row with its value of the metric. Raises UsageError where it is not as we write rows."""
    saved = read_ranking(row)
    targets = [(one["page"].text(), one["target"].text()) for one in row["places"].items()]
    judged = JudgedQuery(saved.expected, saved.ranking, saved.grades)
    return ComparedQuery(
        id=saved.id,
        query=row["query"].text(),
        gold=gold_targets(saved.expected, targets),
        status=saved.status,
        values={metric.name: metric.per_query(judged) if saved.status in ("scored", "negative") else None},
        ranking=saved.ranking,
        category=saved.category,
        grades=saved.grades,
    )
