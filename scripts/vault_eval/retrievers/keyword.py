"""`keyword`: BM25 over the native index, stale pages left out. Settings: `k1` (default 1.5) and `b` (default 0.75)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from vault_eval.index.counterfactual import Addition, standing_with
from vault_eval.index.options import options_from_json
from vault_eval.index.pool import FRESH, STALE, gather_pool
from vault_eval.index.pool_ranking import pool_ranking
from vault_eval.index.search import Hit, Searcher
from vault_eval.index.vault_meta.places import vault_meta_folder
from vault_eval.model import IndexDescription, Ranking, RetrieverDescription
from vault_eval.retrievers.native_index import NativeIndex
from vault_eval.retrievers.protocol import Counterfactual, PageEvidence, Retriever, RetrieverContext
from vault_eval.retrievers.spec import Spec, bm25_parameters

NEEDS_INDEX = True

# What an edit adds beside its word: the ends of three lines.
_EDIT_LINE_ENDS_CHARACTERS = 3


def open_retriever(spec: Spec, context: RetrieverContext) -> Retriever:
    """The keyword searcher of a vault's index, whose bytes are all verified. Raises IndexUnusableError, UsageError."""
    k1, b = bm25_parameters(spec)
    made_elsewhere = vault_meta_folder(context.index_folder)
    if made_elsewhere is not None:
        from vault_eval.retrievers.keyword_vault_meta import open_on_vault_meta

        return open_on_vault_meta(spec, context, made_elsewhere)
    native = NativeIndex(context)
    return KeywordRetriever(spec.text, native, Searcher(native.file, k1, b))


class KeywordRetriever:
    """Searches one open index; freshness of the pages it hits is read from the vault, once a page."""

    def __init__(self, name: str, native: NativeIndex, searcher: Searcher) -> None:
        self._name = name
        self._native = native
        self._index = native.file
        self._freshness = native.freshness
        self.analyzer = native.analyzer
        self.searcher = searcher
        self._asked: dict[str, list[str]] = {}  # the terms of each query, for whoever asks why
        self._reached: tuple[list[str], float, Mapping[int, float]] = ([], 0.0, {})  # by the last query looked into
        self.bound_digest = native.digest_now
        self.is_stale = native.is_stale
        self.close = native.close

    def describe(self) -> RetrieverDescription:
        """Name, BM25 parameters and the options the index was built with."""
        bm25 = self.searcher.bm25
        return RetrieverDescription(self._name, {"k1": bm25.k1, "b": bm25.b, **self._native.options()})

    def index(self) -> IndexDescription:
        """The native index that is searched."""
        return self._native.description()

    def search(self, query: str, depth: int) -> Ranking:
        """The best `depth` fresh pages, in the order of their first chunk."""
        terms = self._asked[query] = self.analyzer.terms(query)
        pool = gather_pool(self.searcher, terms, depth, self._freshness)
        return pool_ranking(self._index, pool, depth)

    def evidence(self, query: str, page: str, *, exact_rank: bool) -> PageEvidence | None:
        """How the page's best chunk stands to the query; its exact rank costs a look at every chunk that scores as much."""
        ordinal = self._index.page_ordinal(page)
        if ordinal is None:
            return None
        terms = self._terms(query)
        best, score = self._best_chunk(terms, ordinal)
        rank, pool = self._exact_rank(terms, best, score) if exact_rank and score else (None, None)
        told = tuple(self.searcher.term_scores(terms, best))
        return PageEvidence(score, self._index.heading(best), self._index.lines(best), told, rank, pool)

    def with_terms(self, query: str, page: str, terms: Sequence[str], text: str) -> tuple[Counterfactual, ...]:
        """Where the page would stand with each term in a line of its own below the section of its best chunk.

        Nothing for a page that is not fresh, or whose section has no room for the line in its last chunk.
        """
        ordinal = self._index.page_ordinal(page)
        if ordinal is None or self._freshness.of(ordinal) != FRESH:
            return ()
        asked = self._terms(query)
        chunk = self._last_of_section(self._best_chunk(asked, ordinal)[0], ordinal)
        last = self._index.lines(chunk)[1]
        room = self._room(chunk, text)
        imagined = []
        for term in terms:
            counts = self.analyzer.counts(term)
            if len(term) <= room and counts.get(term):
                addition = Addition(chunk, counts)
                standing = standing_with(self.searcher, asked, addition, partial(self._reaching, asked), self._is_fresh)
                imagined.append(Counterfactual(term, standing.rank, standing.score, last))
        return tuple(imagined)

    def _terms(self, query: str) -> list[str]:
        """The terms of a query that was asked before, or is looked into alone."""
        return self._asked.get(query) or self.analyzer.terms(query)

    def _best_chunk(self, terms: list[str], page: int) -> tuple[int, float]:
        chunks = range(self._index["page_chunks"][page], self._index["page_chunks"][page + 1])
        scores = self.searcher.scores(terms, chunks)
        best = max(scores)
        return chunks[scores.index(best)], best

    def _last_of_section(self, chunk: int, page: int) -> int:
        """The last chunk of a section; sections side by side under one heading path count as one."""
        headings, end = self._index["chunk_headings"], self._index["page_chunks"][page + 1]
        while chunk + 1 < end and headings[chunk + 1] == headings[chunk]:
            chunk += 1
        return chunk

    def _room(self, chunk: int, text: str) -> int:
        """The characters of a word that the chunk certainly takes up without being cut in two."""
        first, last = self._index.lines(chunk)
        held = sum(len(line) + 1 for line in text.split("\n")[first - 1 : last])
        return options_from_json(dict(self._index.options)).sizes.aim - held - _EDIT_LINE_ENDS_CHARACTERS

    def _reaching(self, terms: list[str], least: float) -> list[Hit]:
        """The chunks that score at least so much."""
        asked, reached, found = self._reached
        if asked != terms or reached > least:
            found = self.searcher.reaching(terms, least)
            self._reached = (terms, least, found)
        return [Hit(chunk, score) for chunk, score in found.items() if score >= least]

    def _is_fresh(self, page: int) -> bool:
        return self._freshness.of(page) != STALE

    def _exact_rank(self, terms: list[str], best: int, score: float) -> tuple[int, int]:
        """Rank among fresh pages, and place among all chunks, of the page whose best chunk is `best`."""
        ahead = [chunk for chunk, other in self._reaching(terms, score) if (-other, chunk) < (-score, best)]
        pages = {self._index.page_of(chunk) for chunk in ahead}
        return 1 + sum(map(self._is_fresh, pages)), len(ahead) + 1
