"""Where a page would stand if one of its chunks held a few terms more: worked out, not estimated.

Adding terms to a chunk changes their frequency there, the chunk's length, the mean length (so every chunk's length
normalisation) and the document frequency of the terms it lacked (so their weight in every chunk). The number of chunks stays.
Every score that decides the rank is computed again with the engine's own formula and order of additions; chunks whose old
score puts them ahead or behind whatever these changes do are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from vault_eval.index.bm25 import Bm25
from vault_eval.index.search import Hit, Searcher

# Old scores are partial sums in another order; they decide only where rounding cannot.
_SLACK = 1.0 + 1e-9


class Addition(NamedTuple):
    """Terms added to one chunk, each with its count."""

    chunk: int
    counts: Mapping[str, int]

    @property
    def length(self) -> int:
        """How many terms longer the chunk becomes."""
        return sum(self.counts.values())


class Standing(NamedTuple):
    """The rank of a page, from 1, and the score of its best chunk."""

    rank: int
    score: float


class EditedIndex:
    """The scores of one query's terms in an index as it would be after an addition."""

    def __init__(self, searcher: Searcher, terms: Sequence[str], addition: Addition) -> None:
        index, bm25 = searcher.index, searcher.bm25
        total = index.total_length + addition.length
        self._searcher = searcher
        self._terms = terms
        self._addition = addition
        self._bm25 = Bm25(bm25.k1, bm25.b, index.chunks, total / index.chunks)
        held = searcher.frequencies(terms, addition.chunk)
        self._gained = {term for term, tf in zip(terms, held, strict=True) if not tf and addition.counts.get(term)}
        self._df = {term: searcher.df(term) + (term in self._gained) for term in terms}
        self._weakened: frozenset[int] | None = None
        self._growth = total / index.total_length if index.total_length else float("inf")
        old = {term: bm25.idf(searcher.df(term)) for term in self._gained if searcher.df(term)}
        self._shrinkage = min((self._bm25.idf(self._df[term]) / idf for term, idf in old.items()), default=1.0)

    def score(self, chunk: int) -> float:
        """The score of one chunk: the plain sum over the query's terms in their order, as the engine would have it."""
        added = self._addition.counts if chunk == self._addition.chunk else {}
        length = self._searcher.index["chunk_lengths"][chunk] + sum(added.values())
        score = 0.0
        for term, tf in zip(self._terms, self._searcher.frequencies(self._terms, chunk), strict=True):
            now = tf + added.get(term, 0)
            score += self._bm25.contribution(self._bm25.weight(self._df[term]), now, length) if now else 0.0
        return score

    def best(self, chunks: Sequence[int]) -> Hit:
        """The best of some chunks: by score, then by order."""
        score, chunk = min((-self.score(chunk), chunk) for chunk in chunks)
        return Hit(chunk, -score)

    def floor(self, of: Hit) -> float:
        """The old score below which no chunk can come before `of`: a longer mean lifts scores by less than it grows."""
        return of.score / (self._growth * _SLACK)

    def is_ahead(self, chunk: int, before: float, of: Hit) -> bool:
        """Whether a chunk that scored `before`, at least the floor, comes before `of` in the edited index."""
        # Only a term that one chunk more holds weighs less, and only in chunks that hold it.
        if before * self._shrinkage > of.score * _SLACK or (before > of.score * _SLACK and not self._is_weakened(chunk)):
            return True
        return (-self.score(chunk), chunk) < (-of.score, of.chunk)

    def _is_weakened(self, chunk: int) -> bool:
        if self._weakened is None:
            self._weakened = frozenset(chain.from_iterable(map(self._searcher.holders, self._gained)))
        return chunk in self._weakened


def standing_with(
    searcher: Searcher,
    terms: Sequence[str],
    addition: Addition,
    reaching: Callable[[float], Iterable[Hit]],
    is_counted: Callable[[int], bool],
) -> Standing:
    """Rank and score for the query `terms` that the page of the edited chunk would have.

    `reaching(score)` gives the chunks that score at least that much now; `is_counted` tells by ordinal which pages may be
    ahead, for stale ones are no results.
    """
    index = searcher.index
    edited = EditedIndex(searcher, terms, addition)
    page = index.page_of(addition.chunk)
    best = edited.best(range(index["page_chunks"][page], index["page_chunks"][page + 1]))
    ahead: set[int] = set()
    for chunk, before in reaching(edited.floor(best)):
        other = index.page_of(chunk)
        if other != page and other not in ahead and edited.is_ahead(chunk, before, best):
            ahead.add(other)
    return Standing(1 + sum(map(is_counted, ahead)), best.score)
