"""Reranking moved the gold page below the cut."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.limits import METRIC_CUTOFF_PAGES


def find(miss: Miss) -> Diagnosis | None:
    """Holds for a candidate that stood within the cut before a reranker gave the pool another order."""
    pool = miss.ranking.candidates
    if pool is None or miss.page not in pool.before[:METRIC_CUTOFF_PAGES]:
        return None
    before, after = (order.index(miss.page) + 1 for order in (pool.before, pool.usable))
    return miss.diagnosis(CAUSE.name, f"it was at rank {before} before reranking and is at rank {after} after it")


CAUSE = Cause(
    name="rerank_demoted",
    position=10,
    meaning="reranking moved the gold page below the cut",
    remedy="compare with --no-rerank",
    find=find,
)
