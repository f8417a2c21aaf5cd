"""MRR@k: how near the top the first relevant page stands."""

from __future__ import annotations

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric, cutoffs


def reciprocal_rank(query: JudgedQuery, k: int) -> float | None:
    """1 / rank of the first relevant page, 0 when that is beyond k; None without relevant pages.

    trec_eval `recip_rank` on a ranking cut at k; ir_measures `RR@k`.
    """
    if not query.relevant:
        return None
    ranks = (rank for rank, page in enumerate(query.ranked[:k], start=1) if page in query.relevant)
    first = next(ranks, None)
    return 0.0 if first is None else 1 / first


def _at(k: int, position: int) -> Metric:
    meaning = f"mean of 1 / rank of the first relevant page, 0 when it is not among the first {k}"
    return Metric(f"mrr@{k}", meaning, lambda query: reciprocal_rank(query, k), position)


def metrics(depth: int) -> tuple[Metric, ...]:
    """mrr@10, and mrr at the depth when it is larger."""
    return tuple(_at(k, 200 + place) for place, k in enumerate(cutoffs(depth)))
