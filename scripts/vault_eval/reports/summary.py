"""From the rows of one run to its figures: means, counts, groups, coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vault_eval.labels.eligibility import SettledLabel
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.recall_cap import queries_over_cutoff
from vault_eval.metrics.score import MetricValue, ScoreTable
from vault_eval.model import Run
from vault_eval.reports.document import CUTOFFS, Counts, Coverage, QueryRow, RunReport
from vault_eval.reports.rows import Diagnose, judged_query, query_row, with_diagnoses, worst_misses
from vault_eval.significance.intervals import mean_interval


def run_report(run: Run, settled: Sequence[SettledLabel], diagnose: Diagnose) -> RunReport:
    """Rows and figures of one run: a row for every label but those of other collections, a cause for every miss."""
    judged: list[JudgedQuery] = []
    rows: list[QueryRow] = []
    for one in settled:
        if one.status != "other-collection":
            ranking = run.rankings.get(one.label.id)
            query = judged_query(one.label, ranking) if ranking is not None and ranking.error is None else None
            judged += [query] if query is not None else []
            rows.append(query_row(one, ranking, query, run.depth))
    worst = worst_misses(rows)
    return _figures(run, with_diagnoses(rows, worst, diagnose), judged, settled, worst)


def _figures(
    run: Run, rows: Sequence[QueryRow], judged: Sequence[JudgedQuery], settled: Sequence[SettledLabel], worst: tuple[str, ...]
) -> RunReport:
    answered = [row for row in rows if row.is_answered]
    table = ScoreTable.of(metrics_for(run.depth), judged)
    counts = _counts(rows, settled)
    candidates = [ranking.candidates for ranking in run.rankings.values() if ranking.candidates is not None]
    return RunReport(
        retriever=run.retriever,
        index=run.index,
        skipped_stale=sum(one.stale_chunks for one in candidates),
        stale_label_only=len({page for one in candidates for page in one.label_only_pages}),
        depth=run.depth,
        counts=counts,
        metrics=table.aggregate(interval=mean_interval, errors=counts.error),
        over_cutoff={cutoff: queries_over_cutoff(judged, cutoff) for cutoff in CUTOFFS},
        categories=_groups(table, rows, answered, lambda row: (row.category,) if row.category else ()),
        tags=_groups(table, rows, answered, lambda row: row.tags),
        worst_misses=worst,
        rows=tuple(rows),
    )


def coverage(
    settled: Sequence[SettledLabel], in_scope: frozenset[str], indexed: frozenset[str], stale: Callable[[str], bool]
) -> Coverage:
    """Of the distinct gold pages of labels that are not skipped: how many exist, are in scope, indexed, and fresh."""
    asked = [one for one in settled if one.status in ("scored", "missing-gold")]
    gold = {page for one in asked for page in one.label.pages}
    missing = {page for one in asked for page in one.missing}
    scoped = {page for page in gold - missing if page in in_scope}
    found = scoped & indexed
    return Coverage(len(gold), len(gold - missing), len(scoped), len(found), sum(not stale(page) for page in found))


def _counts(rows: Sequence[QueryRow], settled: Sequence[SettledLabel]) -> Counts:
    def number(status: str) -> int:
        return sum(row.status == status for row in rows)

    return Counts(
        queries=len(settled),
        scored=number("scored"),
        negative=number("negative"),
        missing_gold=number("missing-gold"),
        missing_pages=len({page for row in rows for page in row.missing}),
        skipped=number("skipped"),
        other_collection=sum(one.status == "other-collection" for one in settled),
        error=number("error"),
    )


def _groups(
    table: ScoreTable, rows: Sequence[QueryRow], answered: Sequence[QueryRow], names: Callable[[QueryRow], Sequence[str]]
) -> Mapping[str, Mapping[str, MetricValue]]:
    """The metrics of every group in name order; `names(row)` are the groups a row belongs to."""
    places: dict[str, list[int]] = {name: [] for row in rows for name in names(row)}
    errors: dict[str, int] = dict.fromkeys(places, 0)
    for place, row in enumerate(answered):
        for name in names(row):
            places[name].append(place)
    for row in rows:
        for name in names(row) if row.status == "error" else ():
            errors[name] += 1
    return {name: table.aggregate(places[name], interval=mean_interval, errors=errors[name]) for name in sorted(places)}
