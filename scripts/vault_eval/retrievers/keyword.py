"""`keyword`: BM25 over the native index, stale pages left out. Settings: `k1` (default 1.5) and `b` (default 0.75)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vault_eval.errors import IndexUnusableError
from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1
from vault_eval.index.search import Hit, Searcher
from vault_eval.index.store import FORMAT, IndexFile, file_sha256, open_index, read_seal
from vault_eval.index.terms import Analyzer
from vault_eval.limits import CANDIDATE_POOL_MIN_CHUNKS
from vault_eval.model import Candidates, IndexDescription, RankedPage, Ranking, RetrieverDescription
from vault_eval.retrievers.protocol import PageEvidence, RetrieverContext, Spec, TermEvidence
from vault_eval.retrievers.select import number_setting, refuse_unknown_settings
from vault_eval.vault.note_text import LABEL_PROPERTY
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.snapshot import PageDigests

_FRESH, _STALE, _LABEL_ONLY = range(3)

# The first pool: most vaults have several chunks of a page among the best, so the smallest pool would have to grow.
_POOL_CHUNKS_PER_PAGE = 2.5


def open_retriever(spec: Spec, context: RetrieverContext) -> KeywordRetriever:
    """The keyword searcher of a vault's index, whose bytes are all verified. Raises IndexUnusableError, UsageError."""
    k1, b = _parameters(spec)
    folder, vault = context.index_folder, context.vault.id
    index, sha256 = open_index(folder, vault, verify=True)
    pages = context.vault.pages
    return KeywordRetriever(spec.text, index, sha256, Searcher(index, k1, b), pages, lambda: _digest_now(folder, vault))


@contextmanager
def open_for_one_query(spec: Spec, root: str, folder: str, vault: str) -> Iterator[KeywordRetriever]:
    """The searcher of a spec without a listing of the vault, the index verified in its header and bounds only."""
    k1, b = _parameters(spec)
    index, sha256 = open_index(folder, vault, verify=False)
    with index, FolderReader(root) as reader:
        yield KeywordRetriever(spec.text, index, sha256, Searcher(index, k1, b), PageDigests(reader), lambda: sha256)


class KeywordRetriever:
    """Searches one open index; freshness of the pages it hits is read from the vault, once a page."""

    def __init__(
        self,
        name: str,
        index: IndexFile,
        sha256: str,
        searcher: Searcher,
        pages: PageDigests,
        digest_now: Callable[[], str | None],
    ) -> None:
        self._name = name
        self._index = index
        self._sha256 = sha256
        self._pages = pages
        self.bound_digest = digest_now  # the digest of the index that is valid now, its bytes read again
        self._freshness: dict[int, int] = {}
        stem = index.options.get("stem")
        self.analyzer = Analyzer(stem if isinstance(stem, str) else None)
        self.searcher = searcher

    def describe(self) -> RetrieverDescription:
        """Name, BM25 parameters and the options the index was built with."""
        options = {
            key: value
            for key, value in self._index.options.items()
            if isinstance(value, (str, int, float, bool)) or value is None
        }
        return RetrieverDescription(self._name, {"k1": self.searcher.bm25.k1, "b": self.searcher.bm25.b, **options})

    def index(self) -> IndexDescription:
        """The native index that is searched."""
        return IndexDescription(FORMAT, self._sha256, self._index.page_count, self._index.chunks)

    def search(self, query: str, depth: int) -> Ranking:
        """The best `depth` fresh pages; the pool of chunks grows until they are found or the matches run out."""
        terms = self.analyzer.terms(query)
        size = max(CANDIDATE_POOL_MIN_CHUNKS, int(_POOL_CHUNKS_PER_PAGE * depth))
        while True:
            hits = self.searcher.best(terms, size)
            if len(hits) < size or self._fresh_pages(hits) >= depth:
                return self._ranking(hits, depth)
            size *= 2

    def close(self) -> None:
        """Unmap the index."""
        self._index.close()

    def is_stale(self, page: str) -> bool:
        """Whether the page's bytes, its label property aside, are no longer those that were indexed."""
        ordinal = self._index.page_ordinal(page)
        return ordinal is not None and self.freshness(ordinal) == _STALE

    def evidence(self, query: str, page: str, *, exact_rank: bool) -> PageEvidence | None:
        """How the page's best chunk stands to the query; its exact rank costs an unpruned pass over the postings."""
        ordinal = self._index.page_ordinal(page)
        if ordinal is None:
            return None
        terms = self.analyzer.terms(query)
        chunks = range(self._index["page_chunks"][ordinal], self._index["page_chunks"][ordinal + 1])
        best = min(chunks, key=lambda chunk: (-self.searcher.score(terms, chunk), chunk))
        score = self.searcher.score(terms, best)
        rank, pool = self._exact_rank(terms, best, score) if exact_rank and score else (None, None)
        return PageEvidence(
            score, self._index.heading(best), self._index.lines(best), self._term_evidence(terms, best), rank, pool
        )

    def _term_evidence(self, terms: list[str], chunk: int) -> tuple[TermEvidence, ...]:
        frequencies = self.searcher.frequencies(terms, chunk)
        contributions = self.searcher.contributions(terms, chunk)
        return tuple(
            TermEvidence(term, postings.end - postings.start if (postings := self.searcher.postings(term)) else 0, tf, added)
            for term, tf, added in zip(terms, frequencies, contributions, strict=True)
        )

    def _exact_rank(self, terms: list[str], best: int, score: float) -> tuple[int, int]:
        """Rank among fresh pages, and place among all chunks, of the page whose best chunk is `best`."""
        ahead = [chunk for chunk, other in self.searcher.matches(terms).items() if (-other, chunk) < (-score, best)]
        pages = {self._index.page_of(chunk) for chunk in ahead}
        return 1 + sum(self.freshness(page) != _STALE for page in pages), len(ahead) + 1

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

    def _fresh_pages(self, hits: list[Hit]) -> int:
        pages = {self._index.page_of(hit.chunk) for hit in hits}
        return sum(self.freshness(page) != _STALE for page in pages)

    def _ranking(self, hits: list[Hit], depth: int) -> Ranking:
        """Pages in the order of their first chunk; stale ones are candidates no more."""
        index = self._index
        first: dict[int, Hit] = {}
        for hit in hits:
            first.setdefault(index.page_of(hit.chunk), hit)
        state = {page: self.freshness(page) for page in first}
        usable = [page for page in first if state[page] != _STALE]
        stale = frozenset(page for page in first if state[page] == _STALE)
        pages = tuple(
            RankedPage(
                rank, index.page(page), first[page].score, index.heading(first[page].chunk), index.lines(first[page].chunk)
            )
            for rank, page in enumerate(usable[:depth], 1)
        )
        return Ranking(
            pages,
            Candidates(
                usable=tuple(map(index.page, usable)),
                raw=tuple(map(index.page, first)),
                chunks=len(hits),
                stale_chunks=sum(index.page_of(hit.chunk) in stale for hit in hits) if stale else 0,
                stale_pages=tuple(index.page(page) for page in first if page in stale),
                label_only_pages=tuple(index.page(page) for page in first if state[page] == _LABEL_ONLY),
                exhausted=False,
            ),
        )


def _parameters(spec: Spec) -> tuple[float, float]:
    refuse_unknown_settings(spec, ("k1", "b"))
    return number_setting(spec, "k1", DEFAULT_K1, 0.0, 100.0), number_setting(spec, "b", DEFAULT_B, 0.0, 1.0)


def _digest_now(folder: str, vault: str) -> str | None:
    try:
        path, _ = read_seal(folder, vault)
        return file_sha256(path)
    except (IndexUnusableError, OSError):
        return None
