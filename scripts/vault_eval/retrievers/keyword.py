"""`keyword`: BM25 over the native index, stale pages left out. Settings: `k1` (default 1.5) and `b` (default 0.75)."""

from __future__ import annotations

from collections.abc import Callable

from vault_eval.errors import IndexUnusableError
from vault_eval.index.pool import LABEL_ONLY, STALE, PageFreshness, gather_pool
from vault_eval.index.search import Searcher
from vault_eval.index.layout import FORMAT
from vault_eval.index.seal import file_sha256, open_index, read_seal
from vault_eval.index.store import IndexFile
from vault_eval.index.terms import Analyzer
from vault_eval.model import Candidates, IndexDescription, RankedPage, Ranking, RetrieverDescription
from vault_eval.retrievers.protocol import PageEvidence, RetrieverContext, TermEvidence
from vault_eval.retrievers.spec import Spec, bm25_parameters
from vault_eval.vault.page_digests import PageDigests


def open_retriever(spec: Spec, context: RetrieverContext) -> KeywordRetriever:
    """The keyword searcher of a vault's index, whose bytes are all verified. Raises IndexUnusableError, UsageError."""
    k1, b = bm25_parameters(spec)
    folder, vault = context.index_folder, context.vault.id
    index, sha256 = open_index(folder, vault, verify=True)
    searcher = Searcher(index, k1, b)
    return KeywordRetriever(spec.text, index, sha256, searcher, context.vault.pages, lambda: _digest_now(folder, vault))


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
        self._freshness = PageFreshness(index, pages)
        stem = index.options.get("stem")
        self.analyzer = Analyzer(stem if isinstance(stem, str) else None)
        self.searcher = searcher
        self.bound_digest = digest_now  # the digest of the index that is valid now, its bytes read again

    def describe(self) -> RetrieverDescription:
        """Name, BM25 parameters and the options the index was built with."""
        kinds = (str, int, float, bool, type(None))
        options = {key: value for key, value in self._index.options.items() if isinstance(value, kinds)}
        return RetrieverDescription(self._name, {"k1": self.searcher.bm25.k1, "b": self.searcher.bm25.b, **options})

    def index(self) -> IndexDescription:
        """The native index that is searched."""
        return IndexDescription(FORMAT, self._sha256, self._index.page_count, self._index.chunks)

    def search(self, query: str, depth: int) -> Ranking:
        """The best `depth` fresh pages, in the order of their first chunk."""
        index = self._index
        pool = gather_pool(self.searcher, self.analyzer.terms(query), depth, self._freshness)
        usable, state = pool.usable, pool.freshness
        stale = frozenset(page for page in pool.first if state[page] == STALE)
        return Ranking(
            tuple(self._ranked(rank, page, *pool.first[page]) for rank, page in enumerate(usable[:depth], 1)),
            Candidates(
                usable=tuple(map(index.page, usable)),
                raw=tuple(map(index.page, pool.first)),
                chunks=len(pool.hits),
                stale_chunks=sum(index.page_of(hit.chunk) in stale for hit in pool.hits) if stale else 0,
                stale_pages=tuple(index.page(page) for page in pool.first if page in stale),
                label_only_pages=tuple(index.page(page) for page in pool.first if state[page] == LABEL_ONLY),
                exhausted=False,
            ),
        )

    def close(self) -> None:
        """Unmap the index."""
        self._index.close()

    def is_stale(self, page: str) -> bool:
        """Whether the page's bytes, its label property aside, are no longer those that were indexed."""
        ordinal = self._index.page_ordinal(page)
        return ordinal is not None and self._freshness.of(ordinal) == STALE

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
        heading, lines = self._index.heading(best), self._index.lines(best)
        return PageEvidence(score, heading, lines, self._term_evidence(terms, best), rank, pool)

    def _ranked(self, rank: int, page: int, chunk: int, score: float) -> RankedPage:
        return RankedPage(rank, self._index.page(page), score, self._index.heading(chunk), self._index.lines(chunk))

    def _term_evidence(self, terms: list[str], chunk: int) -> tuple[TermEvidence, ...]:
        lists = [self.searcher.postings(term) for term in terms]
        df = [one.end - one.start if one is not None else 0 for one in lists]
        tf = self.searcher.frequencies(terms, chunk)
        return tuple(map(TermEvidence, terms, df, tf, self.searcher.contributions(terms, chunk)))

    def _exact_rank(self, terms: list[str], best: int, score: float) -> tuple[int, int]:
        """Rank among fresh pages, and place among all chunks, of the page whose best chunk is `best`."""
        ahead = [chunk for chunk, other in self.searcher.matches(terms).items() if (-other, chunk) < (-score, best)]
        pages = {self._index.page_of(chunk) for chunk in ahead}
        return 1 + sum(self._freshness.of(page) != STALE for page in pages), len(ahead) + 1


def _digest_now(folder: str, vault: str) -> str | None:
    try:
        path, _ = read_seal(folder, vault)
        return file_sha256(path)
    except (IndexUnusableError, OSError):
        return None
