"""From a candidate pool to the ranking that a searcher answers with."""

from __future__ import annotations

from vault_eval.index.pool import LABEL_ONLY, STALE, Pool
from vault_eval.index.store import IndexFile
from vault_eval.model import Candidates, RankedPage, Ranking


def pool_ranking(index: IndexFile, pool: Pool, depth: int) -> Ranking:
    """The first `depth` pages of a pool that are not stale, and what was considered for them."""
    usable, state, first = pool.usable, pool.freshness, pool.first
    names = {page: index.page(page) for page in first}
    ranked = []
    for rank, page in enumerate(usable[:depth], 1):
        chunk, score = first[page]
        ranked.append(RankedPage(rank, names[page], score, index.heading(chunk), index.lines(chunk)))
    odd = () if pool.are_all_fresh else tuple(first)
    stale = frozenset(page for page in odd if state[page] == STALE)
    considered = Candidates(
        usable=tuple([names[page] for page in usable]),
        raw=tuple(names.values()),
        chunks=len(pool.hits),
        stale_chunks=sum(index.page_of(hit.chunk) in stale for hit in pool.hits) if stale else 0,
        stale_pages=tuple([names[page] for page in odd if page in stale]),
        label_only_pages=tuple([names[page] for page in odd if state[page] == LABEL_ONLY]),
        exhausted=False,
        scores=tuple([first[page].score for page in usable]),
    )
    return Ranking(tuple(ranked), considered)
