"""AP@k: precision at each relevant page found, averaged over all relevant pages."""

from __future__ import annotations

from math import fsum

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric, cutoffs


def average_precision(query: JudgedQuery, k: int) -> float | None:
    """Sum of P@i over the ranks i <= k of relevant pages, divided by |G|; None without relevant pages.

    The divisor is |G| even where |G| > k, as trec_eval `map_cut_k` and ir_measures `AP@k`.
    """
    if not query.relevant:
        return None
    ranks = [rank for rank, page in enumerate(query.ranked[:k], start=1) if page in query.relevant]
    return fsum(found / rank for found, rank in enumerate(ranks, start=1)) / len(query.relevant)


def _at(k: int, position: int) -> Metric:
    meaning = f"precision at each relevant page among the first {k}, summed and divided by all relevant pages"
    return Metric(f"ap@{k}", meaning, lambda query: average_precision(query, k), position)


def metrics(depth: int) -> tuple[Metric, ...]:
    """ap@10, and ap at the depth when it is larger."""
    return tuple(_at(k, 400 + place) for place, k in enumerate(cutoffs(depth)))
