"""The score of any chunk for a list of query terms, and what it is made of: the plain sum over all postings, nothing left out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add

from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1, Bm25
from vault_eval.index.columns import UNKNOWN, Columns, TermPostings
from vault_eval.index.store import IndexFile
from vault_eval.index.term_evidence import TermEvidence


class Scorer:
    """Scores the chunks of one index with one k1 and b; every score is a sum of named term contributions."""

    def __init__(self, index: IndexFile, k1: float = DEFAULT_K1, b: float = DEFAULT_B) -> None:
        self.index = index
        self.bm25 = Bm25(k1, b, index.chunks, index.total_length / index.chunks if index.chunks else 0.0)
        self._postings: dict[str, TermPostings | None] = {}
        self._lengths = index["chunk_lengths"]
        self._chunks = index["posting_chunks"]
        self._counts = index["posting_counts"]
        self._norms = _Norms(self.bm25)
        self._columns = Columns(index, self.bm25)
        self._tops: dict[int, float] = {}  # start of a list already walked -> its largest contribution by weight

    def postings(self, term: str) -> TermPostings | None:
        """Where the chunks that hold `term` are listed; None where no chunk does."""
        if term not in self._postings:
            self._postings[term] = self._look_up(term)
        return self._postings[term]

    def scores(self, terms: Sequence[str], chunks: Iterable[int]) -> list[float]:
        """The score of each chunk: the plain sum over the query's terms in their order, repeats included."""
        return self._sums([one for one in map(self.postings, terms) if one is not None], chunks)

    def frequencies(self, terms: Sequence[str], chunk: int) -> list[int]:
        """How often one chunk holds each query term, in query order."""
        found = []
        for postings in map(self.postings, terms):
            at = bisect_left(self._chunks, chunk, postings.start, postings.end) if postings is not None else 0
            found.append(self._counts[at] if postings is not None and at < postings.end and self._chunks[at] == chunk else 0)
        return found

    def term_scores(self, terms: Sequence[str], chunk: int) -> list[TermEvidence]:
        """What each query term adds to one chunk and what that is made of, in query order.

        idf as in `Bm25`; tf_part = tf (k1 + 1) / (tf + k1), the term's weight in a chunk of mean length;
        length_part = (tf + k1) / (tf + norm). For a term that the chunk lacks tf_part is 0 and length_part 1.
        """
        norm, k1 = self._norms[self._lengths[chunk]], self.bm25.k1
        chunks, found = self._chunks, []
        for term in terms:
            postings = self.postings(term)
            if postings is None:
                found.append(TermEvidence(term, 0, 0, 0.0, self.bm25.idf(0), 0.0, 1.0))
                continue
            _, weight, start, end = postings
            at, idf = bisect_left(chunks, chunk, start, end), self.bm25.idf(end - start)
            if at < end and chunks[at] == chunk:
                tf = self._counts[at]
                parts = (tf * (k1 + 1.0) / (tf + k1), (tf + k1) / (tf + norm))
                found.append(TermEvidence(term, end - start, tf, weight * tf / (tf + norm), idf, *parts))
            else:
                found.append(TermEvidence(term, end - start, 0, 0.0, idf, 0.0, 1.0))
        return found

    def df(self, term: str) -> int:
        """How many chunks hold `term`."""
        postings = self.postings(term)
        return 0 if postings is None else postings.end - postings.start

    def holders(self, term: str) -> list[int]:
        """The chunks that hold `term`, ascending."""
        postings = self.postings(term)
        return self._chunks[postings.start : postings.end].tolist() if postings is not None else []

    def matches(self, terms: Sequence[str]) -> dict[int, float]:
        """Every chunk that holds a term, with its score: the unpruned sum, for ranks far below the pool."""
        sums: dict[int, float] = {}
        for postings in filter(None, map(self.postings, terms)):
            self._add(sums, postings)
        return sums

    def _sums(self, ordered: Sequence[TermPostings], chunks: Iterable[int]) -> list[float]:
        """The scores of chunks from the lists of the query's terms in their order."""
        listed, counts, lengths, norms = self._chunks, self._counts, self._lengths, self._norms
        lists = [(one.weight, one.start, one.end, self._columns.counts(one)) for one in ordered]
        scores = []
        for chunk in chunks:
            norm = norms[lengths[chunk]]
            score = 0.0  # no sum(): from Python 3.12 on it adds floats in another way
            for weight, start, end, column in lists:
                tf = column[chunk] if column is not None else UNKNOWN
                if tf == UNKNOWN:
                    at = bisect_left(listed, chunk, start, end)
                    tf = counts[at] if at < end and listed[at] == chunk else 0
                if tf:
                    score += weight * tf / (tf + norm)
            scores.append(score)
        return scores

    def _add(self, sums: dict[int, float], postings: TermPostings) -> None:
        """Add one list to the sums. This loop is where a search spends its time."""
        _, weight, start, end = postings
        chunks = self._chunks[start:end].tolist()
        norms = map(self._norms.__getitem__, map(self._lengths.__getitem__, chunks))
        added = [weight * tf / (tf + norm) for tf, norm in zip(self._counts[start:end].tolist(), norms, strict=True)]
        self._tops[start] = max(added) / weight
        if sums:
            before = map(sums.get, chunks, repeat(0.0))
            sums.update(zip(chunks, map(add, before, added), strict=True))
        else:
            sums.update(zip(chunks, added, strict=True))

    def _look_up(self, term: str) -> TermPostings | None:
        ordinal = self.index.term_ordinal(term)
        if ordinal is None:
            return None
        offsets = self.index["posting_offsets"]
        start, end = offsets[ordinal], offsets[ordinal + 1]
        weight = self.bm25.weight(end - start)
        most, norm = self.index["term_most"][ordinal], self._norms[self.index["term_shortest"][ordinal]]
        return TermPostings(weight * most / (most + norm), weight, start, end)


class _Norms(dict[int, float]):
    """What each length of a chunk adds to the denominator, worked out when it is first met."""

    def __init__(self, bm25: Bm25) -> None:
        super().__init__()
        self._bm25 = bm25

    def __missing__(self, length: int) -> float:
        norm = self[length] = self._bm25.norm(length)
        return norm
