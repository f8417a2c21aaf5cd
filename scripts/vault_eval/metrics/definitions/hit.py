"""Hit@k (success@k): whether anything relevant stands among the first k pages."""

from __future__ import annotations

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import CUTOFFS, Metric


def hit(query: JudgedQuery, k: int) -> float | None:
    """1 when G and L[:k] share a page, else 0, as trec_eval `success_k`; None without relevant pages.

    Equal to recall only where exactly one page is relevant.
    """
    if not query.relevant:
        return None
    return 0.0 if query.relevant.isdisjoint(query.ranked[:k]) else 1.0


def _at(k: int, position: int) -> Metric:
    meaning = f"share of queries with at least one relevant page among the first {k}"
    return Metric(f"hit@{k}", meaning, lambda query: hit(query, k), position, binary=True)


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """hit@1, hit@5 and hit@10."""
    return tuple(_at(k, 500 + k) for k in CUTOFFS)
