"""What frequent terms can add to every chunk at once: a byte for each chunk, so that terms are added up as long numbers.

A byte is the most that the term can add, in steps, rounded up: the sum of a chunk's bytes is never below that of contributions.
Adding two columns costs what a loop over a few dozen postings does. Which chunks are worth a score is read off the sum. A second
byte keeps how often the term stands there, so that scoring a chunk looks up no postings of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from vault_eval.index.bm25 import Bm25
from vault_eval.index.frequent_terms import CLASSES, LAST_CLASS, LIST_MIN_POSTINGS, LengthClasses, chunk_classes, length_classes
from vault_eval.index.store import IndexFile

_BYTE_MAX = 255
# A step of this share of k1 + 1 leaves room in a byte for terms whose idf add up to nearly 16.
_STEPS_OF_IDF = 16
# A term in fewer than one of so many chunks is not worth a byte in each of them.
_CHUNKS_OF_A_POSTING = 64
# The frequent terms of 1,000 queries take 220 MiB at 100,000 notes, two fifths of their index file; at 10,000 a tenth of it.
_ALL_MAX_BYTES = 384 * 1_048_576
_BYTES_OF_A_CHUNK = 2
# In place of a frequency that its class does not tell: it must be looked up.
UNKNOWN = _BYTE_MAX
_COUNT_OF_CLASS = bytes(count if count < LAST_CLASS else UNKNOWN for count in range(CLASSES) for _ in range(CLASSES))


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
        self._most_columns = _ALL_MAX_BYTES // max(1, index.chunks * _BYTES_OF_A_CHUNK)
        self._is_first_query = True
        self._made: dict[tuple[int, float], int] = {}  # by start and weight: the bytes of all chunks, the first chunk's lowest
        self._counts: dict[int, bytes | bytearray] = {}  # by start: how often each chunk holds the term, or UNKNOWN

    def fitting(self, lists: Iterable[TermPostings]) -> list[TermPostings]:
        """Those of the lists that are worth a column, as many as fit into a byte together, the most frequent first.

        Nothing for the first query: a process that asks no other would make columns for nothing.
        """
        if self._is_first_query:
            self._is_first_query = False
            return []
        least = max(LIST_MIN_POSTINGS, self._index.chunks // _CHUNKS_OF_A_POSTING)
        room, columns, found = _BYTE_MAX, self._most_columns - len(self._made), []
        for one in sorted(lists, key=lambda one: (one.start - one.end, one.start)):
            most, is_made = int(one.weight / self.step) + 1, (one.start, one.weight) in self._made
            if one.end - one.start > least and most <= room and (is_made or columns > 0):
                room -= most
                columns -= not is_made
                found.append(one)
        return found

    def total(self, lists: Iterable[TermPostings]) -> bytes:
        """For each chunk the steps that these lists can add to it at most; lists must be `fitting`."""
        return sum(map(self._column, lists)).to_bytes(self._index.chunks, "little")

    def counts(self, one: TermPostings) -> bytes | bytearray | None:
        """How often each chunk holds a term that has a column, UNKNOWN for 15 times or more; None without one."""
        return self._counts.get(one.start)

    def _column(self, one: TermPostings) -> int:
        made = self._made.get((one.start, one.weight))
        if made is None:
            classes = self._classes(one)
            self._counts[one.start] = classes.translate(_COUNT_OF_CLASS)
            made = self._made[one.start, one.weight] = int.from_bytes(classes.translate(self._steps(one.weight)), "little")
        return made

    def _classes(self, one: TermPostings) -> bytes | bytearray:
        """What is known of every chunk and the term: as the index has it, or else from the postings."""
        place, chunks = self._places.get(one.start), self._index.chunks
        if place is not None:
            return bytes(self._index["frequent_classes"][place * chunks : (place + 1) * chunks])
        holders, counts = (self._index[name][one.start : one.end].tolist() for name in ("posting_chunks", "posting_counts"))
        return chunk_classes(self._lengths, holders, counts)

    def _steps(self, weight: float) -> bytes:
        """By class of a chunk: the steps that a term of this weight can add to it at most."""
        each = weight / self.step
        return bytes([int(each * share) + 1 if share else 0 for share in self._shares])

    @cached_property
    def _places(self) -> dict[int, int]:
        """Which of the index's frequent terms each is, by the start of its list."""
        starts = self._index["posting_offsets"]
        return {starts[term]: place for place, term in enumerate(self._index["frequent_terms"])}

    @cached_property
    def _lengths(self) -> LengthClasses:
        return length_classes(self._index["chunk_lengths"])

    @cached_property
    def _shares(self) -> list[float]:
        """By class of a chunk: the most that tf / (tf + norm) can be, which it is in the shortest chunk of that class."""
        shares = [0.0] * (_BYTE_MAX + 1)
        for place, norm in enumerate(map(self._bm25.norm, self._lengths.shortest)):
            for count in range(1, CLASSES):
                shares[CLASSES * count + place] = count / (count + norm) if count < LAST_CLASS else 1.0
        return shares


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
