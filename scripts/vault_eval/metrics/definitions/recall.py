"""Recall@k: how much of what is relevant stands among the first k pages."""

from __future__ import annotations

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import CUTOFFS, Metric


def recall(query: JudgedQuery, k: int) -> float | None:
    """|G and L[:k]| / |G|, as trec_eval `recall_k`; None without relevant pages.

    With more than k relevant pages it cannot reach 1: such queries are counted, and `recall_cap` stands beside their number.
    """
    if not query.relevant:
        return None
    return len(query.relevant.intersection(query.ranked[:k])) / len(query.relevant)


def _at(k: int, position: int) -> Metric:
    meaning = f"share of the relevant pages that stand among the first {k}"
    return Metric(f"recall@{k}", meaning, lambda query: recall(query, k), position)


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """recall@1, recall@5 and recall@10."""
    return tuple(_at(k, 100 + k) for k in CUTOFFS)
