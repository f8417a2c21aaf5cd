"""Ask every query of one searcher, and time each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from vault_eval.model import Label, RankedPage, Ranking, Run
from vault_eval.retrievers.protocol import ColdOnly, Retriever

# Asked once without being timed: caches fill, files come into memory.
_WARM_UP_QUERIES = 1


def run_queries(
    retriever: Retriever,
    labels: Sequence[Label],
    depth: int,
    clock_ns: Callable[[], int],
    label_notes: frozenset[str] = frozenset(),
) -> Run:
    """The ranking of every label's query by label id, with the milliseconds that each answer took.

    `clock_ns` is a monotonic clock in nanoseconds. `label_notes` are taken out of answers, which are asked for anew so that
    as many pages are left.
    """
    for label in labels[: 0 if isinstance(retriever, ColdOnly) else _WARM_UP_QUERIES]:
        retriever.search(label.query, depth)
    rankings: dict[str, Ranking] = {}
    elapsed_ms: dict[str, float] = {}
    for label in labels:
        started = clock_ns()
        rankings[label.id] = retriever.search(label.query, depth)
        elapsed_ms[label.id] = (clock_ns() - started) / 1e6
        if label_notes and any(ranked.page in label_notes for ranked in rankings[label.id].pages):
            more = retriever.search(label.query, depth + len(label_notes))
            rankings[label.id] = without_pages(more, label_notes, depth)
    return Run(retriever.describe(), retriever.index(), depth, rankings, elapsed_ms)


def without_pages(ranking: Ranking, pages: frozenset[str], depth: int) -> Ranking:
    """The first `depth` pages of a ranking that are none of `pages`, ranked anew, with the number of hits taken out.

    Hits below the last page that is kept stood in the way of none, and are not counted.
    """
    kept: list[RankedPage] = []
    removed = 0
    for ranked in ranking.pages:
        if len(kept) == depth:
            break
        if ranked.page in pages:
            removed += 1
        else:
            kept.append(replace(ranked, rank=len(kept) + 1))
    return replace(ranking, pages=tuple(kept), label_hits_removed=removed)
