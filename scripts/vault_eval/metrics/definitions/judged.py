"""Judged@10: how much of what came back anybody has judged. A low share says how little the labels can tell."""

from __future__ import annotations

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric


def judged(query: JudgedQuery, k: int) -> float | None:
    """|J and L[:k]| / |L[:k]| with J the gold pages and every page with a grade, 0 included; None where nothing came back."""
    returned = query.ranked[:k]
    if not query.is_scored or not returned:
        return None
    return sum(page in query.gold or page in query.grades for page in returned) / len(returned)


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """Judged@10 alone: the pages a person looks at."""
    k = METRIC_CUTOFF_PAGES
    meaning = f"share of the first {k} pages returned that a label names or grades"
    return (Metric(f"judged@{k}", meaning, lambda query: judged(query, k), 650, over="returned", is_quality=False),)
