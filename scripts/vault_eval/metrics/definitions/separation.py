"""AUROC of two signs that a query has an answer: the top score, and how much of the query its best page holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Across, Metric
from vault_eval.metrics.negatives import auroc

Sign = Callable[[JudgedQuery], "float | None"]


def separation(queries: Sequence[JudgedQuery], sign: Sign, is_hidden: Callable[[JudgedQuery], bool]) -> Across:
    """P(sign of a scored query > that of a negative) + P(equal) / 2; no data unless both kinds are there.

    Its variance is at most A (1 - A) / min(m, n) (van Dantzig 1951; Birnbaum & Klose 1957), that of a mean over the smaller
    kind: so the sample behind its interval is as many times A.
    """
    scored = [query for query in queries if query.is_scored]
    negative = [query for query in queries if query.is_negative]
    found = auroc(list(map(sign, scored)), list(map(sign, negative)))
    if found.value is None:
        return Across((), 0)
    if any(map(is_hidden, (*scored, *negative))):
        return Across((), 0, is_hidden=True)
    return Across((found.value,) * min(found.n_scored, found.n_negative), found.n_scored + found.n_negative)


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """AUROC of the top score and of the IDF query coverage."""
    return (
        Metric(
            "no_result_auroc",
            "chance that the top score of a query with an answer is above that of one without; 0.5 tells nothing",
            None,
            710,
            over="scored and negative",
            needs="the score of a page",
            across=lambda queries: separation(queries, lambda query: query.top_score, lambda query: query.hides_scores),
        ),
        Metric(
            "coverage_auroc",
            "the same of the IDF-weighted share of the query's words that the best page holds",
            None,
            711,
            over="scored and negative",
            needs="which words of the query a page holds",
            across=lambda queries: separation(queries, lambda query: query.coverage, lambda query: query.coverage is None),
        ),
    )
