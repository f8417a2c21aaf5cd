"""The best chunks for a list of query terms: exact, but reading no more postings than it must (MaxScore).

Turtle & Flood, "Query evaluation: strategies and optimizations" (1995). Terms are taken from the one that can add most to
the one that can add least. Once those left cannot lift an unseen chunk to the score that n chunks are known to reach, the
rest of the lists is not walked: chunks seen that can still reach it are looked up in them. What frequent terms can add is read
off their columns instead. Survivors are scored again in query-term order, so that scores equal the plain sum to the last bit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import repeat
from operator import add
from typing import NamedTuple

from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1, Bm25
from vault_eval.index.columns import UNKNOWN, Columns, TermPostings, at_least, highest
from vault_eval.index.store import IndexFile
from vault_eval.index.term_evidence import TermEvidence

# Partial sums are added in another order than the final ones; a chunk is dropped only when it is behind by more than that.
_SLACK = 1.0 + 1e-9
# Below this many postings, walking the list is cheaper than finding out whether it can be left out.
_SHORT_LIST_POSTINGS = 1_000
# Looking up one chunk in a list costs about as much as walking this many of its postings.
_LOOKUP_POSTINGS = 10


class Hit(NamedTuple):
    """One chunk and its score."""

    chunk: int
    score: float


class Searcher:
    """Searches one index with one k1 and b; every score is a sum of named term contributions."""

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

    def best(self, terms: Sequence[str], n: int) -> list[Hit]:
        """The n best chunks that hold a term at least, by score descending, then by chunk, which is path order."""
        lists = self._lists(terms)
        if sum(one.end - one.start for one in lists) <= _SHORT_LIST_POSTINGS:
            return _first(self.matches(terms), n)
        frequent = self._columns.fitting(lists)
        walked = [one for one in lists if one not in frequent]
        ordered = [one for one in map(self.postings, terms) if one is not None]
        sums: dict[int, float] = {}
        reached = 0.0  # a score that n chunks reach for certain
        left = sum(one.bound for one in lists)
        for position, postings in enumerate(walked):
            size = postings.end - postings.start
            if len(sums) >= n and size > _SHORT_LIST_POSTINGS:
                if 2 * size > len(sums):
                    reached = max(reached, self._reached(ordered, sums, n))
                if left * _SLACK < reached:
                    return self._finish(ordered, sums, [*walked[position:], *frequent], reached, n)
            self._add(sums, postings)
            left -= postings.bound
        if frequent:
            return self._finish_by_columns(ordered, sums, frequent, reached, n)
        return self._finish(ordered, sums, (), reached, n)

    def scores(self, terms: Sequence[str], chunks: Iterable[int]) -> list[float]:
        """The score of each chunk: the plain sum over the query's terms in their order, repeats included."""
        return self._sums([one for one in map(self.postings, terms) if one is not None], chunks)

    def contributions(self, terms: Sequence[str], chunk: int) -> list[float]:
        """What each query term adds to one chunk, in query order; 0.0 where the chunk does not hold it."""
        return [one.contribution for one in self.term_scores(terms, chunk)]

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

    def reaching(self, terms: Sequence[str], least: float) -> dict[int, float]:
        """Every chunk that scores at least `least`, which is above 0, with its score."""
        lists = self._lists(terms)
        frequent = self._columns.fitting(lists)
        sums: dict[int, float] = {}
        for postings in lists:
            if postings not in frequent:
                self._add(sums, postings)
        able = self._able(sums, self._columns.total(frequent), least / _SLACK)
        if len(able) * _LOOKUP_POSTINGS < sum(one.end - one.start for one in frequent):
            ordered = [one for one in map(self.postings, terms) if one is not None]
            scores = dict(zip(able, self._sums(ordered, able), strict=True))
        else:
            scores = self.matches(terms)
        return {chunk: score for chunk, score in scores.items() if score >= least}

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

    def _reached(self, ordered: Sequence[TermPostings], sums: dict[int, float], n: int) -> float:
        """A score that n chunks reach: the least whole score among those that lead so far."""
        least = nlargest(n, sums.values())[-1]
        leaders = [chunk for chunk, partial in sums.items() if partial >= least][:n]
        return min(self._sums(ordered, leaders))

    def _look_up(self, term: str) -> TermPostings | None:
        ordinal = self.index.term_ordinal(term)
        if ordinal is None:
            return None
        offsets = self.index["posting_offsets"]
        start, end = offsets[ordinal], offsets[ordinal + 1]
        weight = self.bm25.weight(end - start)
        most, norm = self.index["term_most"][ordinal], self._norms[self.index["term_shortest"][ordinal]]
        return TermPostings(weight * most / (most + norm), weight, start, end)

    def _lists(self, terms: Sequence[str]) -> list[TermPostings]:
        """The lists to walk, the one that can add most first; a term said twice adds twice."""
        lists = []
        for term, times in Counter(terms).items():
            one = self.postings(term)
            if one is not None:
                weight = one.weight * times
                top = self._tops.get(one.start)
                lists.append(TermPostings(one.bound * times if top is None else weight * top, weight, one.start, one.end))
        return sorted(lists, key=lambda one: (-one.bound, one.start))

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

    def _finish_by_columns(
        self, ordered: Sequence[TermPostings], sums: dict[int, float], frequent: Sequence[TermPostings], reached: float, n: int
    ) -> list[Hit]:
        """The n best of all chunks: those that can reach the score with what the columns of frequent terms say of them."""
        total, step = self._columns.total(frequent), self._columns.step
        leaders = nlargest(n, sums, key=lambda chunk: sums[chunk] + step * total[chunk]) if len(sums) >= n else highest(total, n)
        scores = dict(zip(leaders, self._sums(ordered, leaders), strict=True))
        if len(scores) >= n:
            reached = max(reached, nlargest(n, scores.values())[-1])
        able = self._able(sums, total, reached / _SLACK) - scores.keys()
        scores.update(zip(able, self._sums(ordered, able), strict=True))
        return _first(scores, n)

    def _able(self, sums: Mapping[int, float], total: bytes, needed: float) -> set[int]:
        """The chunks that can score so much: what walked lists add up to, and at most the steps that columns say of them."""
        step = self._columns.step
        able = {chunk for chunk, partial in sums.items() if partial + step * total[chunk] >= needed}
        able.update(at_least(total, max(1, int(needed / step))))
        return able

    def _finish(
        self, ordered: Sequence[TermPostings], sums: dict[int, float], rest: Iterable[TermPostings], reached: float, n: int
    ) -> list[Hit]:
        """The n best of the chunks seen: those that can still reach the score are looked up in the lists not walked."""
        left = sum(one.bound for one in rest)
        for postings in rest:
            needed = reached / _SLACK - left
            sums = {chunk: partial for chunk, partial in sums.items() if partial >= needed}
            if len(sums) <= 2 * n:
                break
            left -= postings.bound
            self._look_up_each(sums, postings)
            if len(sums) > n:
                reached = max(reached, nlargest(n, sums.values())[-1])
        least = reached
        if len(sums) > n:
            least = max(least, nlargest(n, sums.values())[-1])
        needed = least / _SLACK - left
        able = [chunk for chunk, partial in sums.items() if partial >= needed]
        return _first(dict(zip(able, self._sums(ordered, able), strict=True)), n)

    def _look_up_each(self, sums: dict[int, float], postings: TermPostings) -> None:
        """Add one list to the chunks already seen, by looking each up or, where they are many, by walking the list."""
        _, weight, start, end = postings
        chunks, lengths, norms = self._chunks, self._lengths, self._norms
        if len(sums) * _LOOKUP_POSTINGS > end - start:
            tfs = dict(zip(chunks[start:end].tolist(), self._counts[start:end].tolist(), strict=True))
            for chunk in sums.keys() & tfs.keys():
                tf = tfs[chunk]
                sums[chunk] += weight * tf / (tf + norms[lengths[chunk]])
            return
        for chunk in sums:
            at = bisect_left(chunks, chunk, start, end)
            if at < end and chunks[at] == chunk:
                tf = self._counts[at]
                sums[chunk] += weight * tf / (tf + norms[lengths[chunk]])


class _Norms(dict[int, float]):
    """What each length of a chunk adds to the denominator, worked out when it is first met."""

    def __init__(self, bm25: Bm25) -> None:
        super().__init__()
        self._bm25 = bm25

    def __missing__(self, length: int) -> float:
        norm = self[length] = self._bm25.norm(length)
        return norm


def _first(scores: Mapping[int, float], n: int) -> list[Hit]:
    """The n best by score, then by chunk."""
    least = sorted(scores.values(), reverse=True)[n - 1] if len(scores) > n else 0.0
    leading = sorted([(-score, chunk) for chunk, score in scores.items() if score >= least])
    return [Hit(chunk, -score) for score, chunk in leading[:n]]
