"""nDCG@k: graded relevance, discounted by rank, against the best order there could be."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum, log2

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric, cutoffs


def discounted_gain(grades: Iterable[int]) -> float:
    """Sum of grade / log2(rank + 1): linear gain (Jarvelin & Kekalainen, TOIS 2002), as trec_eval."""
    return fsum(grade / log2(rank + 1) for rank, grade in enumerate(grades, start=1) if grade > 0)


def ndcg(query: JudgedQuery, k: int) -> float | None:
    """DCG@k over that of the ideal order, as trec_eval `ndcg_cut_k`; None without relevant pages.

    The ideal is made from all judged grades, never from the retrieved pages alone.
    """
    if not query.relevant:
        return None
    ideal = sorted((query.grade(page) for page in query.relevant), reverse=True)
    gained = discounted_gain(query.grade(page) for page in query.ranked[:k])
    return min(1.0, gained / discounted_gain(ideal[:k]))  # rounding may leave a perfect order a hair above 1


def _at(k: int, position: int) -> Metric:
    meaning = f"graded gain of the first {k} pages, discounted by rank, as a share of the best order possible"
    return Metric(f"ndcg@{k}", meaning, lambda query: ndcg(query, k), position)


def metrics(depth: int) -> tuple[Metric, ...]:
    """ndcg@10, and ndcg at the depth when it is larger."""
    return tuple(_at(k, 300 + place) for place, k in enumerate(cutoffs(depth)))
