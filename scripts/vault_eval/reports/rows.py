"""One row a label: what was expected, what came back, what was missed and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import fsum

from vault_eval.diagnosis.misses import Diagnosis, Wanted, invalid_label
from vault_eval.diagnosis.query_terms import QueryTerms
from vault_eval.labels.eligibility import SettledLabel
from vault_eval.labels.grades import page_grades
from vault_eval.limits import METRIC_CUTOFF_PAGES, WORST_MISSES_SHOWN_MAX
from vault_eval.metrics.definitions.mrr import reciprocal_rank
from vault_eval.metrics.definitions.recall import recall
from vault_eval.metrics.judged_query import JudgedPlace, JudgedQuery
from vault_eval.metrics.metric import CUTOFFS
from vault_eval.metrics.recall_cap import recall_cap
from vault_eval.metrics.ties import TieExpectation, straddling, tie_expected
from vault_eval.model import Label, Ranking
from vault_eval.reports.document import QueryRow, RowStatus, RunReport, TieGroup

Diagnose = Callable[[QueryRow, str, Wanted], Diagnosis]  # row, missed page, what is wanted of it
# Missed pages of one query whose exact ranks are worked out: as many as a short report shows.
_EXACT_MAX_PAGES = 3


def judged_query(label: Label, ranking: Ranking, terms: QueryTerms, places: tuple[JudgedPlace, ...] = ()) -> JudgedQuery:
    """What the metrics need of one answered query."""
    candidates = ranking.candidates
    return JudgedQuery(
        label.pages,
        tuple(ranked.page for ranked in ranking.pages),
        page_grades(label),
        candidates.usable if candidates else None,
        candidates.raw if candidates else None,
        top_score=ranking.pages[0].score if ranking.pages else None,
        coverage=terms.coverage,
        split=label.split,
        places=places,
    )


def judged_row(row: QueryRow) -> JudgedQuery:
    """The same of an answered query from its row, as far as a row tells."""
    return JudgedQuery(
        row.expected,
        tuple(ranked.page for ranked in row.ranking),
        row.grades,
        row.usable_gold,
        row.raw_gold,
        top_score=row.ranking[0].score if row.ranking else None,
        coverage=row.terms.coverage,
        split=row.split,
        places=row.places,
    )


def recall_caps(run: RunReport) -> Mapping[int, float | None]:
    """Cutoff -> the mean of `recall_cap` there; None where no query is scored, and where an error would make it mislead."""
    scored = [row for row in run.rows if row.status == "scored"]
    if not scored or run.counts.error:
        return dict.fromkeys(CUTOFFS)
    return {cutoff: fsum(_recall_cap(row, cutoff) for row in scored) / len(scored) for cutoff in CUTOFFS}


def _recall_cap(row: QueryRow, cutoff: int) -> float:
    """Recall, but of a query that may have more relevant pages than there are places."""
    may_be_over = len(row.expected) + len(row.grades) > cutoff
    return (recall_cap(judged_row(row), cutoff) if may_be_over else row.recall[cutoff]) or 0.0


def query_row(
    settled: SettledLabel, ranking: Ranking | None, judged: JudgedQuery | None, depth: int, terms: QueryTerms
) -> QueryRow:
    """The row of one label, without diagnoses but for missing gold; `ranking` is None where the query was not asked."""
    label = settled.label
    status = _status(settled, ranking)
    scored = judged if status == "scored" else None
    candidates = ranking.candidates if ranking is not None else None
    pages = ranking.pages if ranking is not None else ()
    return QueryRow(
        id=label.id,
        query=label.query,
        category=label.category,
        tags=label.tags,
        status=status,
        skip_reason=label.skip_reason,
        error=ranking.error if ranking is not None else None,
        expected=label.pages,
        missing=settled.missing,
        not_indexed=(),
        ranking=pages,
        recall={cutoff: recall(scored, cutoff) if scored else None for cutoff in CUTOFFS},
        rr=reciprocal_rank(scored, depth) if scored else None,
        usable_gold=_gold_in(label, candidates.usable) if candidates else None,
        raw_gold=_gold_in(label, candidates.raw) if candidates else None,
        pool_chunks=candidates.chunks if candidates else None,
        stale_chunks=candidates.stale_chunks if candidates else 0,
        stale_pages=candidates.stale_pages if candidates else (),
        pool_exhausted=candidates.exhausted if candidates else False,
        label_hits_removed=ranking.label_hits_removed if ranking is not None else 0,
        outside_vault=ranking.outside_vault if ranking is not None else 0,
        diagnosis=tuple(invalid_label(page, reason) for page, reason in settled.missing.items()),
        ties=_ties(ranking, scored),
        split=label.split,
        terms=terms,
        places=scored.places if scored else (),
        grades=scored.grades if scored else {},
    )


def worst_misses(rows: Sequence[QueryRow]) -> tuple[str, ...]:
    """The ids of the queries that missed most: by recall at 10, then by reciprocal rank, then in file order; bounded."""
    missed = [row for row in rows if row.misses(METRIC_CUTOFF_PAGES)]
    missed.sort(key=lambda row: (row.recall[METRIC_CUTOFF_PAGES] or 0.0, row.rr or 0.0))
    return tuple(row.id for row in missed[:WORST_MISSES_SHOWN_MAX])


def with_diagnoses(rows: Sequence[QueryRow], worst: Sequence[str], diagnose: Diagnose) -> tuple[QueryRow, ...]:
    """The rows, each gold page missed at 10 with its one cause; exact ranks are worked out for the worst misses only.

    A page that was found outside the section which its label names has one too. Rivals are the same for all missed pages
    of a query, so that they stand with the first of them alone.
    """
    chosen = frozenset(worst)
    diagnosed = []
    for row in rows:
        found: tuple[Diagnosis, ...] = ()
        missed = row.misses(METRIC_CUTOFF_PAGES) or ()
        for page in (*missed, *row.only_sections_missed(METRIC_CUTOFF_PAGES)):
            exact = row.id in chosen and len(found) < _EXACT_MAX_PAGES
            found += (diagnose(row, page, Wanted(exact, rivals=not any(one.rivals for one in found))),)
        not_indexed = tuple(one.page for one in found if one.cause in ("not_indexed", "out_of_scope"))
        diagnosed.append(replace(row, diagnosis=row.diagnosis + found, not_indexed=not_indexed) if found else row)
    return tuple(diagnosed)


def _status(settled: SettledLabel, ranking: Ranking | None) -> RowStatus:
    if ranking is not None and ranking.error is not None:
        return "error"
    if settled.status == "other-collection":
        raise ValueError("a label of another collection has no row")
    return settled.status


def _gold_in(label: Label, pages: Sequence[str]) -> tuple[str, ...]:
    return tuple(page for page in label.pages if page in pages)


def _ties(ranking: Ranking | None, judged: JudgedQuery | None) -> tuple[TieGroup, ...]:
    scores = [ranked.score for ranked in ranking.pages] if ranking is not None else []
    known = [score for score in scores if score is not None]
    if len(known) != len(scores):
        return ()
    groups = ((cutoff, straddling(known, cutoff)) for cutoff in CUTOFFS)
    return tuple(
        TieGroup(cutoff, group.first, group.last, _expected(known, judged, cutoff))
        for cutoff, group in groups
        if group is not None
    )


def _expected(scores: Sequence[float], judged: JudgedQuery | None, cutoff: int) -> TieExpectation | None:
    if judged is None:
        return None
    return tie_expected(scores, [page in judged.relevant for page in judged.ranked], len(judged.relevant), cutoff)
