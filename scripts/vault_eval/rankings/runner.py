"""Ask every query of one searcher, and time each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vault_eval.model import Label, Ranking, Run
from vault_eval.retrievers.protocol import Retriever

# Asked once without being timed: caches fill, files come into memory.
_WARM_UP_QUERIES = 1


def run_queries(retriever: Retriever, labels: Sequence[Label], depth: int, clock_ns: Callable[[], int]) -> Run:
    """The ranking of every label's query by label id, with the milliseconds each took in this process.

    `clock_ns` is a monotonic clock in nanoseconds.
    """
    for label in labels[:_WARM_UP_QUERIES]:
        retriever.search(label.query, depth)
    rankings: dict[str, Ranking] = {}
    warm_ms: dict[str, float] = {}
    for label in labels:
        started = clock_ns()
        rankings[label.id] = retriever.search(label.query, depth)
        warm_ms[label.id] = (clock_ns() - started) / 1e6
    return Run(retriever.describe(), retriever.index(), depth, rankings, warm_ms)
