"""The last kept report of the same labels and the same searcher, read no further than a comparison with it needs."""

from __future__ import annotations

from dataclasses import replace

from vault_eval import strict_json
from vault_eval.comparison.records import ComparedQuery, Side
from vault_eval.errors import VaultEvalError
from vault_eval.limits import KEPT_REPORT_MAX_BYTES, LAST_REPORTS_TRIED_MAX
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric
from vault_eval.reports.compared import gold_targets, side
from vault_eval.reports.document import Report
from vault_eval.reports.kept_reports import kept_reports
from vault_eval.reports.saved_report import ROW_STATUSES, SavedFigures, read_pages, report_file, saved_figures
from vault_eval.strict_json import JsonValue
from vault_eval.vault.reader import read_outside


def last_side(report: Report, folder: str, metric: Metric) -> Side | None:
    """The first run of `report` as the last kept report of the same labels, split, spec and depth has it; None without one.

    `folder` holds the kept reports of this vault, and not yet this one. The side has one metric, which needs only rankings.
    Damaged and foreign files are passed over, and only the newest few are tried.
    """
    for path in kept_reports(folder)[: -LAST_REPORTS_TRIED_MAX - 1 : -1]:
        try:
            found = _side(report, report_file(path), metric)
        except (VaultEvalError, ValueError):
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
    rows = strict_json.loads(figures.rows[place].decode("utf-8"))
    queries = [_query(row, metric) for row in rows] if isinstance(rows, list) else []
    before = figures.report
    if before.snapshot_sha256 != report.snapshot_sha256:
        before = replace(before, page_digests=read_pages(file, before.snapshot_sha256) or {})
    return side(before, before.runs[place], queries)


def _same_run(report: Report, figures: SavedFigures) -> int | None:
    """The place of the run with the spec and depth of the report's first; None where labels or searcher are others."""
    before, wanted = figures.report, report.runs[0]
    if (before.label_sources, before.split) != (report.label_sources, report.split):
        return None
    same = (
        place
        for place, run in enumerate(before.runs)
        if (run.retriever.name, run.depth) == (wanted.retriever.name, wanted.depth) and len(figures.rows) == len(before.runs)
    )
    return next(same, None)


def _query(row: JsonValue, metric: Metric) -> ComparedQuery:
    """One row with its value of the metric. Raises ValueError where it is not as we write rows."""
    expected = tuple(_text(page) for page in _items(row, "expected"))
    ranking = tuple(_text(_member(one, "page")) for one in _items(row, "ranking"))
    targets = [(_text(_member(one, "page")), _text(_member(one, "target"))) for one in _items(row, "places")]
    judged = JudgedQuery(expected, ranking, _grades(row))
    status = next((one for one in ROW_STATUSES if one == _member(row, "status")), None)
    category = _member(row, "category")
    if status is None:
        raise ValueError(f"{_member(row, 'status')!r} is no status")
    return ComparedQuery(
        id=_text(_member(row, "id")),
        query=_text(_member(row, "query")),
        gold=gold_targets(expected, targets),
        status=status,
        values={metric.name: metric.per_query(judged) if status in ("scored", "negative") else None},
        ranking=ranking,
        category=None if category is None else _text(category),
    )


def _grades(row: JsonValue) -> dict[str, int]:
    grades = row.get("grades", {}) if isinstance(row, dict) else None
    if not isinstance(grades, dict):
        raise ValueError("grades are no object")  # noqa: TRY004 - a damaged row of any kind is one error for the caller
    return {page: grade for page, grade in grades.items() if isinstance(grade, int)}


def _member(value: JsonValue, key: str) -> JsonValue:
    if not isinstance(value, dict) or key not in value:
        raise ValueError(f"no object with the key {key!r}")
    return value[key]


def _items(value: JsonValue, key: str) -> list[JsonValue]:
    items = _member(value, key)
    if not isinstance(items, list):
        raise ValueError(f"{key} is no list")  # noqa: TRY004 - as above
    return items


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")  # noqa: TRY004 - as above
    return value
