"""From a candidate pool to the ranking that a searcher answers with."""

from __future__ import annotations

from vault_eval.index.pool import LABEL_ONLY, STALE, Pool
from vault_eval.index.store import IndexFile
from vault_eval.model import Candidates, RankedPage, Ranking


def pool_ranking(index: IndexFile, pool: Pool, depth: int) -> Ranking:
    """The first `depth` pages of a pool that are not stale, and what was considered for them."""
    usable, state = pool.usable, pool.freshness
    stale = frozenset(page for page in pool.first if state[page] == STALE)
    ranked = []
    for rank, page in enumerate(usable[:depth], 1):
        chunk, score = pool.first[page]
        ranked.append(RankedPage(rank, index.page(page), score, index.heading(chunk), index.lines(chunk)))
    considered = Candidates(
        usable=tuple(map(index.page, usable)),
        raw=tuple(map(index.page, pool.first)),
        chunks=len(pool.hits),
        stale_chunks=sum(index.page_of(hit.chunk) in stale for hit in pool.hits) if stale else 0,
        stale_pages=tuple(index.page(page) for page in pool.first if page in stale),
        label_only_pages=tuple(index.page(page) for page in pool.first if state[page] == LABEL_ONLY),
        exhausted=False,
        scores=tuple(pool.first[page].score for page in usable),
    )
    return Ranking(tuple(ranked), considered)
