"""No-result accuracy: how often a query without an answer is left without one."""

from __future__ import annotations

from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Metric


def no_result(query: JudgedQuery) -> float | None:
    """1 when a negative query came back empty, 0 when anything came back; None for other queries."""
    if not query.is_negative:
        return None
    return 0.0 if query.ranked else 1.0


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """The one metric over negatives."""
    meaning = "share of the queries without an expected page that came back empty"
    return (Metric("no_result_accuracy", meaning, no_result, 700, binary=True, over="negative"),)
