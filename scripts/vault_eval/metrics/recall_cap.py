"""What limits recall@k: queries with more relevant pages than there are places, and recall as a share of the places there are."""

from __future__ import annotations

from collections.abc import Iterable

from vault_eval.metrics.judged_query import JudgedQuery


def queries_over_cutoff(queries: Iterable[JudgedQuery], k: int) -> int:
    """How many queries have more than k relevant pages, so that their recall@k cannot reach 1."""
    return sum(len(query.relevant) > k for query in queries)


def recall_cap(query: JudgedQuery, k: int) -> float | None:
    """|G and L[:k]| / min(|G|, k), BEIR `recall_cap`; None without relevant pages. Shown beside recall, never as it."""
    if not query.relevant:
        return None
    return len(query.relevant.intersection(query.ranked[:k])) / min(len(query.relevant), k)
