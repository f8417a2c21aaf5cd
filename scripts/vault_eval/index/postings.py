"""Postings in the making: those of new chunks, turned from chunk order into term order, and merged with an older index.

A build from nothing and one that reuses an older index end in the same bytes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain

from vault_eval.index.layout import Numbers
from vault_eval.index.store import IndexFile

GONE = 0xFFFF_FFFF
# Counts are kept in two bytes; only a chunk of one sign repeated has more, and there more hardly adds to its score.
_COUNT_MAX = 0xFFFF


class ForwardPostings:
    """Terms of new chunks in the order the chunks are met. Memory: six bytes a posting, and the vocabulary."""

    def __init__(self) -> None:
        self._ordinals: dict[str, int] = {}
        self._terms = array("I")
        self._counts = array("H")
        self._chunks: list[tuple[int, int]] = []

    def add(self, chunk: int, counts: Mapping[str, int]) -> None:
        """Note the terms of one chunk; chunk ordinals must rise. A count above 65,535 is kept as 65,535."""
        ordinals = self._ordinals
        self._terms.extend([ordinals.setdefault(term, len(ordinals)) for term in counts])
        if max(counts.values(), default=0) <= _COUNT_MAX:
            self._counts.extend(counts.values())
        else:
            self._counts.extend([min(count, _COUNT_MAX) for count in counts.values()])
        self._chunks.append((chunk, len(counts)))

    def inverted(self) -> InvertedPostings:
        """The same in term order; this object is empty afterwards."""
        sorted_terms = sorted((term.encode("utf-8", "surrogatepass"), ordinal) for term, ordinal in self._ordinals.items())
        place = array("I", bytes(4 * len(sorted_terms)))
        for position, (_, ordinal) in enumerate(sorted_terms):
            place[ordinal] = position
        sizes = [0] * len(sorted_terms)
        for ordinal in self._terms:
            sizes[place[ordinal]] += 1
        starts = [0, *accumulate(sizes)]
        free = starts[:-1]
        chunks = array("I", bytes(4 * len(self._terms)))
        counts = array("H", bytes(2 * len(self._terms)))
        posting = 0
        for chunk, size in self._chunks:
            for ordinal, count in zip(self._terms[posting : posting + size], self._counts[posting : posting + size], strict=True):
                term = place[ordinal]
                at = free[term]
                free[term] = at + 1
                chunks[at] = chunk
                counts[at] = count
            posting += size
        self.__init__()  # type: ignore[misc]
        return InvertedPostings([term for term, _ in sorted_terms], starts, chunks, counts)


class InvertedPostings:
    """Terms sorted by their UTF-8 bytes, and for each the chunks that hold it with their counts."""

    def __init__(self, terms: list[bytes], starts: Sequence[int], chunks: array[int], counts: array[int]) -> None:
        self.terms = terms
        self.starts = starts
        self.chunks = chunks
        self.counts = counts


def merged_sections(
    new: InvertedPostings, old: IndexFile | None, renumbered: Sequence[int], lengths: Sequence[int]
) -> dict[str, bytes | Numbers]:
    """The term and posting sections of an index of the new chunks and those kept of `old`.

    `renumbered` gives for each old chunk its new ordinal or GONE, in rising order; `lengths` are those of all new chunks.
    """
    writer = _SectionWriter(lengths)
    if old is None or not old.chunks:
        for position, term in enumerate(new.terms):
            start, end = new.starts[position], new.starts[position + 1]
            writer.add(term, new.chunks[start:end], new.counts[start:end])
        return writer.sections()
    kept = array("I", map(renumbered.__getitem__, old["posting_chunks"]))
    done = 0
    for old_position, new_position in _touched(new, old, kept, any_gone=GONE in renumbered):
        writer.copy(old, kept, done, old_position if old_position >= 0 else _insertion(old, new.terms[new_position], done))
        done = max(done, old_position + 1) if old_position >= 0 else _insertion(old, new.terms[new_position], done)
        writer.add(*_merged_term(new, new_position, old, old_position, kept))
    writer.copy(old, kept, done, old.term_count)
    return writer.sections()


def _touched(new: InvertedPostings, old: IndexFile, kept: array[int], *, any_gone: bool) -> list[tuple[int, int]]:
    """Old and new position (-1 where absent) of every term that is new or lost a posting, in term order."""
    offsets = old["posting_offsets"]
    touched: dict[bytes, tuple[int, int]] = {}
    if any_gone:
        losers = sorted({bisect_right(offsets, at) - 1 for at, chunk in enumerate(kept) if chunk == GONE})
        touched = {old.term(position).encode("utf-8", "surrogatepass"): (position, -1) for position in losers}
    for position, term in enumerate(new.terms):
        found = touched[term][0] if term in touched else old.term_ordinal(str(term, "utf-8", "surrogatepass"))
        touched[term] = (-1 if found is None else found, position)
    return [touched[term] for term in sorted(touched)]


def _insertion(old: IndexFile, term: bytes, low: int) -> int:
    """The position in `old`, at or after `low`, before which a term it lacks belongs."""
    offsets, blob = old["term_offsets"], old["terms"]
    high = old.term_count
    while low < high:
        middle = (low + high) // 2
        if bytes(blob[offsets[middle] : offsets[middle + 1]]) < term:
            low = middle + 1
        else:
            high = middle
    return low


def _merged_term(
    new: InvertedPostings, new_position: int, old: IndexFile, old_position: int, kept: array[int]
) -> tuple[bytes, array[int], array[int]]:
    pairs: list[tuple[int, int]] = []
    term = b""
    if old_position >= 0:
        term = old.term(old_position).encode("utf-8", "surrogatepass")
        start, end = old["posting_offsets"][old_position], old["posting_offsets"][old_position + 1]
        pairs = [pair for pair in zip(kept[start:end], old["posting_counts"][start:end], strict=True) if pair[0] != GONE]
    if new_position >= 0:
        term = new.terms[new_position]
        start, end = new.starts[new_position], new.starts[new_position + 1]
        pairs = sorted(chain(pairs, zip(new.chunks[start:end], new.counts[start:end], strict=True)))
    return term, array("I", [chunk for chunk, _ in pairs]), array("H", [count for _, count in pairs])


class _SectionWriter:
    """Collects terms in order, one by one or as ranges of an older index."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = lengths
        self._terms = bytearray()
        self._term_offsets = array("I", [0])
        self._posting_offsets = array("Q", [0])
        self._most = array("H")
        self._shortest = array("I")
        self._chunks = array("I")
        self._counts = array("H")

    def add(self, term: bytes, chunks: array[int], counts: array[int]) -> None:
        if not chunks:
            return
        self._terms += term
        self._term_offsets.append(len(self._terms))
        self._chunks += chunks
        self._counts += counts
        self._posting_offsets.append(len(self._chunks))
        self._most.append(max(counts) if len(counts) > 1 else counts[0])
        self._shortest.append(min(map(self._lengths.__getitem__, chunks)))

    def copy(self, old: IndexFile, kept: array[int], first: int, after: int) -> None:
        if first >= after:
            return
        term_offsets, posting_offsets = old["term_offsets"], old["posting_offsets"]
        term_shift = len(self._terms) - term_offsets[first]
        posting_shift = len(self._chunks) - posting_offsets[first]
        self._terms += old["terms"][term_offsets[first] : term_offsets[after]]
        self._term_offsets.extend([offset + term_shift for offset in term_offsets[first + 1 : after + 1]])
        self._posting_offsets.extend([offset + posting_shift for offset in posting_offsets[first + 1 : after + 1]])
        self._chunks += kept[posting_offsets[first] : posting_offsets[after]]
        self._counts.frombytes(old["posting_counts"][posting_offsets[first] : posting_offsets[after]].cast("B"))
        self._most.frombytes(old["term_most"][first:after].cast("B"))
        self._shortest.frombytes(old["term_shortest"][first:after].cast("B"))

    def sections(self) -> dict[str, bytes | Numbers]:
        return {
            "term_offsets": self._term_offsets,
            "terms": bytes(self._terms),
            "term_most": self._most,
            "term_shortest": self._shortest,
            "posting_offsets": self._posting_offsets,
            "posting_chunks": self._chunks,
            "posting_counts": self._counts,
        }
