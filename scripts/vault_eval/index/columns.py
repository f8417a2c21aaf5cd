"""What frequent terms can add to every chunk at once: a byte for each chunk, so that terms are added up as long numbers.

A byte is the most that the term can add in steps, rounded up: the sum of a chunk's bytes is never below the sum of contributions.
Adding two columns costs what a loop over a few dozen postings does. Which chunks are worth a score is read off the sum. A column
is made of two things that a byte holds together, how often the chunk holds the term and in which sixteenth of all lengths its
own lies, so that no loop looks at each chunk. How often is kept, and scoring a chunk looks up no postings of such a term.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from vault_eval.index.bm25 import Bm25
from vault_eval.index.frequent_terms import LIST_MIN_POSTINGS, chunk_counts
from vault_eval.index.store import IndexFile

_BYTE_MAX = 255
# A step of this share of k1 + 1 leaves room in a byte for terms whose idf add up to nearly 16.
_STEPS_OF_IDF = 16
# A term in fewer than one of so many chunks is not worth a byte in each of them.
_CHUNKS_OF_A_POSTING = 64
# The frequent terms of 1,000 queries take 220 MiB at 100,000 notes, two fifths of their index file; at 10,000 a tenth of it.
_ALL_MAX_BYTES = 384 * 1_048_576
_BYTES_OF_A_CHUNK = 2
# Half a byte: sixteen classes of frequencies, the last of them 15 and more, and of lengths.
_CLASSES = 16
_CLASS_OF_COUNT = bytes(min(count, _CLASSES - 1) * _CLASSES for count in range(_BYTE_MAX + 1))


class TermPostings(NamedTuple):
    """A query term that some chunk holds: what it can add at most, and where its postings lie."""

    bound: float
    weight: float
    start: int
    end: int


class Columns:
    """The columns of one index with one k1 and b; each is made when it is first needed."""

    def __init__(self, index: IndexFile, bm25: Bm25) -> None:
        self.step = (bm25.k1 + 1.0) / _STEPS_OF_IDF
        self._index = index
        self._bm25 = bm25
        self._is_first_query = True
        self._made: dict[tuple[int, float], int] = {}  # by start and weight: the bytes of all chunks, the first chunk's lowest
        self._counts: dict[int, bytes | bytearray] = {}  # by start: how often each chunk holds the term, or UNKNOWN

    def fitting(self, lists: Iterable[TermPostings]) -> list[TermPostings]:
        """Those of the lists that are worth a column, as many as fit into a byte together, the most frequent first.

        None for the first query: a process that asks no other would make columns for nothing.
        """
        if self._is_first_query:
            self._is_first_query = False
            return []
        least = max(LIST_MIN_POSTINGS, self._index.chunks // _CHUNKS_OF_A_POSTING)
        room, found = _BYTE_MAX, []
        for one in sorted(lists, key=lambda one: (one.start - one.end, one.start)):
            most = int(one.weight / self.step) + 1
            if one.end - one.start > least and most <= room and self._has_room(one):
                room -= most
                found.append(one)
        return found

    def total(self, lists: Iterable[TermPostings]) -> bytes:
        """For each chunk the steps that these lists can add to it at most; lists must be `fitting`."""
        return sum(map(self._column, lists)).to_bytes(self._index.chunks, "little")

    def counts(self, one: TermPostings) -> bytes | bytearray | None:
        """How often each chunk holds a term that has a column, UNKNOWN for 255 times or more; None without one."""
        return self._counts.get(one.start)

    def _has_room(self, one: TermPostings) -> bool:
        more = (len(self._made) + 1) * self._index.chunks * _BYTES_OF_A_CHUNK
        return (one.start, one.weight) in self._made or more <= _ALL_MAX_BYTES

    def _column(self, one: TermPostings) -> int:
        made = self._made.get((one.start, one.weight))
        if made is None:
            counts = self._counts[one.start] = self._counted(one)
            classes = (int.from_bytes(counts.translate(_CLASS_OF_COUNT), "little") | self._lengths).to_bytes(
                len(counts), "little"
            )
            made = self._made[one.start, one.weight] = int.from_bytes(classes.translate(self._steps(one.weight)), "little")
        return made

    def _counted(self, one: TermPostings) -> bytes | bytearray:
        """How often each chunk holds the term: as the index has it, or else from its postings."""
        chunks, place = self._index.chunks, self._places.get(one.start)
        if place is not None:
            return bytes(self._index["frequent_counts"][place * chunks : (place + 1) * chunks])
        return chunk_counts(
            chunks, *(self._index[name][one.start : one.end].tolist() for name in ("posting_chunks", "posting_counts"))
        )

    def _steps(self, weight: float) -> bytes:
        """The most steps of a term, by class of frequency and of length."""
        each = weight / self.step
        return bytes([int(each * share) + 1 if share else 0 for share in self._shares])

    @cached_property
    def _places(self) -> dict[int, int]:
        """Where the index has the counts of a term, by the start of its list."""
        starts = self._index["posting_offsets"]
        return {starts[term]: place for place, term in enumerate(self._index["frequent_terms"])}

    @cached_property
    def _shortest(self) -> list[int]:
        """The shortest length of each class of chunks, rising: as many chunks are in each, if their lengths allow."""
        chunks, before = self._index.chunks, 0
        shortest: list[int] = []
        for length, having in sorted(Counter(self._index["chunk_lengths"]).items()):
            if before * _CLASSES >= len(shortest) * chunks:
                shortest.append(length)
            before += having
        return shortest

    @cached_property
    def _lengths(self) -> int:
        """The class of every chunk's length, as long number."""
        lengths = self._index["chunk_lengths"]
        class_of = {length: bisect_right(self._shortest, length) - 1 for length in set(lengths)}
        return int.from_bytes(bytes(map(class_of.__getitem__, lengths)), "little")

    @cached_property
    def _shares(self) -> list[float]:
        """By class of frequency and of length: the most that tf / (tf + norm) can be."""
        norms = [self._bm25.norm(length) for length in self._shortest]
        norms += [0.0] * (_CLASSES - len(norms))
        known = [[tf / (tf + norm) if tf else 0.0 for norm in norms] for tf in range(_CLASSES - 1)]
        return [share for shares in [*known, [1.0] * _CLASSES] for share in shares]


def at_least(total: bytes, steps: int) -> Iterator[int]:
    """The chunks that have so many steps in a total, ascending."""
    values = _BYTE_MAX + 1
    marked = total.translate((bytes(steps) + b"\1" * values)[:values])
    chunk = marked.find(1)
    while chunk >= 0:
        yield chunk
        chunk = marked.find(1, chunk + 1)


def highest(total: bytes, n: int) -> list[int]:
    """The n chunks that have the most steps in a total and those that have as many as the last of them; none without a step."""
    found: list[int] = []
    for steps in range(max(total, default=0), 0, -1):
        found = list(at_least(total, steps))
        if len(found) >= n:
            break
    return found
