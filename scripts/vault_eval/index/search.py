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
from typing import NamedTuple

from vault_eval.index.columns import TermPostings, at_least, highest
from vault_eval.index.scoring import Scorer

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


class Searcher(Scorer):
    """Finds the chunks that score best, or that score at least so much."""

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
            scores = dict(zip(able, self.scores(terms, able), strict=True))
        else:
            scores = self.matches(terms)
        return {chunk: score for chunk, score in scores.items() if score >= least}

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

    def _reached(self, ordered: Sequence[TermPostings], sums: dict[int, float], n: int) -> float:
        """A score that n chunks reach: the least whole score among those that lead so far."""
        least = nlargest(n, sums.values())[-1]
        leaders = [chunk for chunk, partial in sums.items() if partial >= least][:n]
        return min(self._sums(ordered, leaders))

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


def _first(scores: Mapping[int, float], n: int) -> list[Hit]:
    """The n best by score, then by chunk."""
    least = sorted(scores.values(), reverse=True)[n - 1] if len(scores) > n else 0.0
    leading = sorted([(-score, chunk) for chunk, score in scores.items() if score >= least])
    return [Hit(chunk, -score) for score, chunk in leading[:n]]
