"""The candidate pool of one query: the best chunks, their pages, and which of these are still what was indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from vault_eval.index.search import Hit, Searcher
from vault_eval.index.store import IndexFile
from vault_eval.limits import CANDIDATE_POOL_MIN_CHUNKS
from vault_eval.vault.note_text import LABEL_PROPERTY
from vault_eval.vault.page_digests import PageDigests

FRESH, STALE, LABEL_ONLY = range(3)  # in a condition, what is fresh counts as False
# The first pool: most vaults have several chunks of a page among the best, so the smallest pool would have to grow.
_CHUNKS_PER_PAGE = 2.5


class Pool(NamedTuple):
    """The chunks considered for one query, best first, and for each page (by ordinal) its first chunk and its freshness."""

    hits: list[Hit]
    first: dict[int, Hit]
    freshness: dict[int, int]

    @property
    def usable(self) -> list[int]:
        """The pages that are not stale, in the order of their first chunk."""
        if self.are_all_fresh:  # most are, and a list of all is made at once
            return list(self.first)
        return [page for page in self.first if self.freshness[page] != STALE]

    @property
    def are_all_fresh(self) -> bool:
        """Whether every page is exactly what was indexed."""
        return not any(self.freshness.values())


class PageFreshness:
    """Whether pages of an index are still what was indexed; each is read from the vault once."""

    def __init__(self, index: IndexFile, pages: PageDigests) -> None:
        self._index = index
        self._pages = pages
        self._known: dict[int, int] = {}

    def of(self, page: int) -> int:
        """FRESH, STALE, or LABEL_ONLY where nothing but the label property differs; `page` is an ordinal."""
        known = self._known.get(page)
        if known is None:
            known = self._known[page] = self._compare(page)
        return known

    def _compare(self, page: int) -> int:
        name = self._index.page(page)
        if self._pages.digest(name) == self._index.page_digest(page):
            return FRESH
        same_body = self._pages.body_digest(name, LABEL_PROPERTY) == self._index.page_digest(page, body=True)
        return LABEL_ONLY if same_body else STALE


def gather_pool(searcher: Searcher, terms: Sequence[str], depth: int, freshness: PageFreshness) -> Pool:
    """The pool of the best chunks for a list of terms; see `gathered`."""
    return gathered(partial(searcher.best, terms), searcher.index, depth, freshness)


def gathered(best: Callable[[int], list[Hit]], index: IndexFile, depth: int, freshness: PageFreshness) -> Pool:
    """The smallest pool, of those that double, with `depth` pages that are not stale; all matches where there are fewer.

    `best(n)` gives the n best chunks, or all that match.
    """
    size = max(CANDIDATE_POOL_MIN_CHUNKS, int(_CHUNKS_PER_PAGE * depth))
    page_of = index["chunk_pages"]
    while True:
        hits = best(size)
        first: dict[int, Hit] = {}
        for hit in hits:
            first.setdefault(page_of[hit[0]], hit)
        pool = Pool(hits, first, dict(zip(first, map(freshness.of, first), strict=True)))
        if len(hits) < size or len(pool.usable) >= depth:
            return pool
        size *= 2
