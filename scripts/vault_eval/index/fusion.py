"""Two candidate pools made into one by the ranks of their pages, and a pool put into another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vault_eval.index.pool import Pool
from vault_eval.index.search import Hit
from vault_eval.index.store import IndexFile

# Cormack, Clarke & Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods" (SIGIR 2009).
RRF_CONSTANT = 60


def reciprocal_rank_scores(rankings: Sequence[Sequence[int]]) -> dict[int, float]:
    """The sum of 1 / (60 + rank) over the rankings that hold a page, ranks from 1, by page."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, page in enumerate(ranking, 1):
            scores[page] = scores.get(page, 0.0) + 1.0 / (RRF_CONSTANT + rank)
    return scores


def fused(pools: Sequence[Pool]) -> Pool:
    """One pool of the pages of all, ordered by reciprocal rank among pages that are not stale, then by path; stale ones last.

    A page's first chunk is that of the pool where it stands highest, of the earlier pool where it stands equally high.
    """
    rankings = [pool.usable for pool in pools]
    places = [{page: rank for rank, page in enumerate(ranking)} for ranking in rankings]
    scores = reciprocal_rank_scores(rankings)
    best = {page: min((place[page], pool) for pool, place in enumerate(places) if page in place)[1] for page in scores}
    chunks = {page: pools[best[page]].first[page].chunk for page in scores}
    first = {page: Hit(chunks[page], scores[page]) for page in sorted(scores, key=lambda page: (-scores[page], page))}
    stale = {page: hit for pool in pools for page, hit in pool.first.items() if page not in scores}
    hits = {hit.chunk: hit for pool in pools for hit in pool.hits}
    freshness = {page: state for pool in pools for page, state in pool.freshness.items()}
    return Pool(list(hits.values()), {**first, **stale}, freshness)


def reranked(pool: Pool, index: IndexFile, cosine: Callable[[int], float], pages: int) -> Pool:
    """The same pool, its first `pages` ordered by the largest cosine that any of their chunks has, then by path.

    The others stay behind them in the order they had.
    """
    starts, usable = index["page_chunks"], pool.usable
    best = {page: min((-cosine(chunk), chunk) for chunk in range(starts[page], starts[page + 1])) for page in usable[:pages]}
    order = sorted(best, key=lambda page: (best[page][0], page))
    first = {page: Hit(best[page][1], -best[page][0]) for page in order}
    return pool._replace(first={**first, **{page: hit for page, hit in pool.first.items() if page not in first}})
