"""From the rows of one run to its figures: means, counts, groups, coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from vault_eval.diagnosis.label_findings import unjudged_above
from vault_eval.diagnosis.query_terms import STRATA, QueryTerms, Stratum
from vault_eval.diagnosis.sections import PageText, judged_places, tells_sections
from vault_eval.labels.eligibility import SettledLabel
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.definitions.threshold import chosen_threshold
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import CUTOFFS
from vault_eval.metrics.recall_cap import queries_over_cutoff
from vault_eval.metrics.score import MetricValue, ScoreTable
from vault_eval.model import Label, Ranking, Run
from vault_eval.reports.document import Counts, Coverage, QueryRow, RunReport, Trust, Unjudged
from vault_eval.reports.findings import GROUP_METRICS
from vault_eval.reports.rows import Diagnose, judged_query, query_row, with_diagnoses, worst_misses
from vault_eval.significance.intervals import mean_interval

LookAtTerms = Callable[[Label, Ranking], QueryTerms]
UNJUDGED_LISTED_MAX = 20


def run_report(
    run: Run,
    settled: Sequence[SettledLabel],
    diagnose: Diagnose,
    look: LookAtTerms | None = None,
    text: PageText = lambda _page: None,
) -> RunReport:
    """Rows and figures of one run: a row for every label but those of other collections, a cause for every miss.

    `look` tells where the words of an answered query stand; None where the searcher cannot be looked into. `text` gives the
    text of a page, in which the blocks stand that labels name.
    """
    is_told = tells_sections(run.rankings.values())
    judged: list[JudgedQuery] = []
    rows: list[QueryRow] = []
    for one in settled:
        if one.status != "other-collection":
            ranking = run.rankings.get(one.label.id)
            is_answered = ranking is not None and ranking.error is None
            terms = look(one.label, ranking) if look and is_answered and ranking is not None else QueryTerms()
            query = None
            if is_answered and ranking is not None:
                places = judged_places(one.label, ranking, text, is_told=is_told)
                query = judged_query(one.label, ranking, terms, places)
            judged += [query] if query is not None else []
            rows.append(query_row(one, ranking, query, run.depth, terms))
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
        trust=_trust(run, table, answered, judged, settled),
    )


def _trust(
    run: Run, table: ScoreTable, answered: Sequence[QueryRow], judged: Sequence[JudgedQuery], settled: Sequence[SettledLabel]
) -> Trust:
    metrics = [metric for metric in table.metrics if metric.name in GROUP_METRICS]
    few = replace(table, metrics=tuple(metrics))
    places: dict[Stratum, list[int]] = {stratum: [] for stratum in STRATA}
    for place, row in enumerate(answered):
        if row.status == "scored" and row.terms.stratum is not None:
            places[row.terms.stratum].append(place)
    scored = [one.label for one in settled if one.status == "scored" and one.label.id in run.rankings]
    above = [Unjudged(label.id, unjudged_above(label, run.rankings[label.id])) for label in scored]
    above = [one for one in above if one.pages]
    return Trust(
        {stratum: few.aggregate(chosen, interval=mean_interval) for stratum, chosen in places.items() if chosen},
        tuple(above[:UNJUDGED_LISTED_MAX]),
        len(above),
        chosen_threshold(judged),
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
