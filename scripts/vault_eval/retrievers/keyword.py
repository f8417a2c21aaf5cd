"""`keyword`: BM25 over the native index, stale pages left out. Settings: `k1` (default 1.5) and `b` (default 0.75)."""

from __future__ import annotations

from vault_eval.index.options import LABEL_PROPERTY
from vault_eval.index.search import Hit, Searcher
from vault_eval.index.store import FORMAT, IndexFile
from vault_eval.index.terms import Analyzer
from vault_eval.limits import CANDIDATE_POOL_MIN_CHUNKS
from vault_eval.model import Candidates, IndexDescription, RankedPage, Ranking, RetrieverDescription
from vault_eval.vault.snapshot import PageDigests

_FRESH, _STALE, _LABEL_ONLY = range(3)


class KeywordRetriever:
    """Searches one open index; freshness of the pages it hits is read from the vault, once a page."""

    def __init__(self, name: str, index: IndexFile, sha256: str, searcher: Searcher, pages: PageDigests) -> None:
        self._name = name
        self._index = index
        self._sha256 = sha256
        self._pages = pages
        self._freshness: dict[int, int] = {}
        stem = index.options.get("stem")
        self.analyzer = Analyzer(stem if isinstance(stem, str) else None)
        self.searcher = searcher

    def describe(self) -> RetrieverDescription:
        """Name, BM25 parameters and the options the index was built with."""
        options = {key: value for key, value in self._index.options.items() if isinstance(value, (str, int, float, bool)) or value is None}
        return RetrieverDescription(self._name, {"k1": self.searcher.bm25.k1, "b": self.searcher.bm25.b, **options})

    def index(self) -> IndexDescription:
        """The native index that is searched."""
        return IndexDescription(FORMAT, self._sha256, self._index.page_count, self._index.chunks)

    def search(self, query: str, depth: int) -> Ranking:
        """The best `depth` fresh pages; the pool of chunks grows until they are found or the matches run out."""
        terms = self.analyzer.terms(query)
        size = max(CANDIDATE_POOL_MIN_CHUNKS, 4 * depth)
        while True:
            hits = self.searcher.best(terms, size)
            ranking = self._ranking(hits, depth)
            if len(ranking.pages) >= depth or len(hits) < size:
                return ranking
            size *= 2

    def freshness(self, ordinal: int) -> int:
        """Whether the page's bytes are still those that were indexed: 0 fresh, 1 stale, 2 only its label property differs."""
        known = self._freshness.get(ordinal)
        if known is None:
            known = self._freshness[ordinal] = self._compare(ordinal)
        return known

    def _compare(self, ordinal: int) -> int:
        page = self._index.page(ordinal)
        if self._pages.digest(page) == self._index.page_digest(ordinal):
            return _FRESH
        same_body = self._pages.body_digest(page, LABEL_PROPERTY) == self._index.page_digest(ordinal, body=True)
        return _LABEL_ONLY if same_body else _STALE

    def _ranking(self, hits: list[Hit], depth: int) -> Ranking:
        index = self._index
        first: dict[int, Hit] = {}
        raw: dict[int, None] = {}
        stale_chunks = 0
        for hit in hits:
            ordinal = index.page_of(hit.chunk)
            raw[ordinal] = None
            if self.freshness(ordinal) == _STALE:
                stale_chunks += 1
            else:
                first.setdefault(ordinal, hit)
        pages = tuple(
            RankedPage(rank, index.page(ordinal), hit.score, index.heading(hit.chunk), index.lines(hit.chunk))
            for rank, (ordinal, hit) in enumerate(list(first.items())[:depth], 1)
        )
        names = [index.page(ordinal) for ordinal in raw]
        states = [self.freshness(ordinal) for ordinal in raw]
        return Ranking(
            pages,
            Candidates(
                usable=tuple(index.page(ordinal) for ordinal in first),
                raw=tuple(names),
                chunks=len(hits),
                stale_chunks=stale_chunks,
                stale_pages=tuple(name for name, state in zip(names, states, strict=True) if state == _STALE),
                label_only_pages=tuple(name for name, state in zip(names, states, strict=True) if state == _LABEL_ONLY),
                exhausted=False,
            ),
        )
