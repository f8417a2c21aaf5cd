"""Candidate recall: how much of what is relevant was in the pool at all, whatever its rank."""

from __future__ import annotations

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric


def pool_recall(query: JudgedQuery, pool: tuple[str, ...] | None) -> float | None:
    """|G and pool| / |G|; None without relevant pages, or where the searcher hides its pool."""
    if not query.relevant or pool is None:
        return None
    return len(query.relevant.intersection(pool)) / len(query.relevant)


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """Recall of the candidate pool without its stale pages, and with them."""
    return (
        Metric(
            "usable_candidate_recall",
            "share of the relevant pages among the distinct fresh pages of the candidate pool",
            lambda query: pool_recall(query, query.usable),
            600,
            needs="the pages of the candidate pool",
        ),
        Metric(
            "raw_candidate_recall",
            "share of the relevant pages in the candidate pool before stale pages were dropped",
            lambda query: pool_recall(query, query.raw),
            601,
            needs="the candidate pool before stale pages were dropped",
        ),
    )
