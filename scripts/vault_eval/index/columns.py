"""What frequent terms can add to every chunk at once: a byte for each chunk, so that terms are added up as long numbers.

A byte is the term's contribution in steps, rounded up: the sum of a chunk's bytes is never below the sum of contributions.
Adding two columns costs what a loop over a few dozen postings does. Which chunks are worth a score is read off the sum. A second
byte keeps how often the term stands there, so that scoring a chunk looks up no postings of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vault_eval.index.bm25 import Bm25
from vault_eval.index.store import IndexFile

_BYTE_MAX = 255
# A step of this share of k1 + 1 leaves room in a byte for terms whose idf add up to nearly 16.
_STEPS_OF_IDF = 16
# A shorter list is walked as quickly; a term in fewer than one of so many chunks is not worth a byte in each of them.
_LIST_MIN_POSTINGS = 300
_CHUNKS_OF_A_POSTING = 64
# The frequent terms of 1,000 queries take 220 MiB at 100,000 notes, two fifths of their index file; at 10,000 a tenth of it.
_ALL_MAX_BYTES = 384 * 1_048_576
_BYTES_OF_A_CHUNK = 2
# In place of a frequency that no byte holds, and for a term without a column: it must be looked up.
UNKNOWN = _BYTE_MAX
# A term that stands more often in one chunk adds nearly its whole weight.
_COUNT_MAX = 15


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
        self._counts: dict[int, bytearray] = {}  # by start: how often each chunk holds the term, or UNKNOWN
        self._by_count: list[bytes] = []  # by tf, then by chunk: tf / (tf + norm) in 255ths, rounded up

    def fitting(self, lists: Iterable[TermPostings]) -> list[TermPostings]:
        """Those of the lists that are worth a column, as many as fit into a byte together, the most frequent first.

        None for the first query: a process that asks no other would make columns for nothing.
        """
        if self._is_first_query:
            self._is_first_query = False
            return []
        least = max(_LIST_MIN_POSTINGS, self._index.chunks // _CHUNKS_OF_A_POSTING)
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

    def counts(self, one: TermPostings) -> bytearray | None:
        """How often each chunk holds a term that has a column, UNKNOWN for 255 times or more; None without one."""
        return self._counts.get(one.start)

    def _has_room(self, one: TermPostings) -> bool:
        more = (len(self._made) + 1) * self._index.chunks * _BYTES_OF_A_CHUNK
        return (one.start, one.weight) in self._made or more <= _ALL_MAX_BYTES

    def _column(self, one: TermPostings) -> int:
        made = self._made.get((one.start, one.weight))
        if made is None:
            each = one.weight / (_BYTE_MAX * self.step)
            steps = bytes([int(each * share) + 1 for share in range(1, _BYTE_MAX + 1)])
            column = self._shares(one).translate(b"\0" + steps)
            made = self._made[one.start, one.weight] = int.from_bytes(column, "little")
        return made

    def _shares(self, one: TermPostings) -> bytearray:
        """Each chunk's tf / (tf + norm) in 255ths, rounded up; 0 without the term. This loop is what a column costs."""
        by_count = self._by_count = self._by_count or self._tabulated()
        shares, counts = bytearray(self._index.chunks), bytearray(self._index.chunks)
        chunks, tfs = (self._index[name][one.start : one.end].tolist() for name in ("posting_chunks", "posting_counts"))
        for chunk, tf in zip(chunks, tfs, strict=True):
            if tf <= _COUNT_MAX:
                counts[chunk] = tf
                shares[chunk] = by_count[tf][chunk]
            else:
                counts[chunk] = min(tf, UNKNOWN)
                shares[chunk] = _BYTE_MAX
        self._counts[one.start] = counts
        return shares

    def _tabulated(self) -> list[bytes]:
        lengths = self._index["chunk_lengths"]
        by_length = {length: _in_255ths(1.0 / (1.0 + self._bm25.norm(length))) for length in set(lengths)}
        once = bytes(map(by_length.__getitem__, lengths))
        # Where one occurrence has at most the share s, the norm is at least 1 / s - 1.
        norms = [_BYTE_MAX / share - 1.0 for share in range(1, _BYTE_MAX + 1)]
        by_share = (bytes([0, *(_in_255ths(tf / (tf + norm)) for norm in norms)]) for tf in range(1, _COUNT_MAX + 1))
        return [b"", *map(once.translate, by_share)]


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


def _in_255ths(share: float) -> int:
    return min(int(share * _BYTE_MAX) + 1, _BYTE_MAX)
