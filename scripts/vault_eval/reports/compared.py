"""Reports as the sides of a comparison: one side a run, every value computed anew from its rankings."""

from __future__ import annotations

from collections.abc import Sequence

from vault_eval.comparison.records import ComparedQuery, Side
from vault_eval.metrics.catalogue import mean_metrics
from vault_eval.metrics.metric import Metric
from vault_eval.reports.document import QueryRow, Report, RunReport
from vault_eval.reports.rows import judged_row


def sides(report: Report) -> tuple[Side, ...]:
    """The runs of a report as sides, in their order, each with every metric that is a mean of one value a query."""
    return tuple(_side(report, run, mean_metrics(run.depth)) for run in report.runs)


def side(report: Report, run: RunReport, queries: Sequence[ComparedQuery]) -> Side:
    """One run of a report as a side of these queries."""
    pool = run.retriever.settings.get("pool_chunks")
    return Side(
        name=run.retriever.name,
        settings=run.retriever.settings,
        queries=tuple(queries),
        label_sources=report.label_sources,
        depth=run.depth,
        vault_name=report.vault_name,
        snapshot_sha256=report.snapshot_sha256,
        index_sha256=run.index.sha256 if run.index is not None else None,
        notes_sha256=run.index.notes_sha256 if run.index is not None else None,
        page_digests=report.page_digests or None,
        pool_chunks=pool if isinstance(pool, int) else None,
        pool_exhausted=sum(row.pool_exhausted for row in run.rows),
        started=report.timing.started,
    )


def compared_query(row: QueryRow, metrics: Sequence[Metric]) -> ComparedQuery:
    """One row with its value of each metric; none where the query was not answered."""
    judged = judged_row(row) if row.is_answered else None
    return ComparedQuery(
        id=row.id,
        query=row.query,
        gold=gold_targets(row.expected, [(place.page, place.target) for place in row.places]),
        status=row.status,
        values={metric.name: metric.per_query(judged) for metric in metrics} if judged is not None else {},
        ranking=tuple(ranked.page for ranked in row.ranking),
        category=row.category,
        reason=row.skip_reason or row.error or next(iter(row.missing.values()), None),
        grades=row.grades,
    )


def gold_targets(expected: Sequence[str], places: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The gold of a label: the places it names, given as page and target, and the pages in which it names none."""
    placed = {page for page, _ in places}
    return (*(page for page in expected if page not in placed), *(target for _, target in places))


def _side(report: Report, run: RunReport, metrics: Sequence[Metric]) -> Side:
    return side(report, run, [compared_query(row, metrics) for row in run.rows])
