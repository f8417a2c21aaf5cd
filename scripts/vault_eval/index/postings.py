"""Postings in the making: those of new chunks, turned from words into terms, and merged with an older index.

A build from nothing and one that reuses an older index end in the same bytes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from itertools import repeat

from vault_eval.index.layout import Numbers
from vault_eval.index.store import IndexFile
from vault_eval.index.terms import Analyzer

GONE = 0xFFFF_FFFF
# Counts are kept in two bytes; only a chunk of one sign repeated has more, and there more hardly adds to its score.
_COUNT_MAX = 0xFFFF


class WordPostings:
    """For each word of the new chunks where it stands: chunk ordinals of four bytes, one for each time, end to end.

    Words are taken apart last, each once: looking up a word for every time it stands somewhere is most of the work, and
    words with their terms would be twice as much memory to look them up in.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._chunks: defaultdict[str, bytearray] = defaultdict(bytearray)

    def add(self, chunk: int, text: str) -> int:
        """Note the words of one chunk, and return how many there are."""
        words = self._analyzer.words(text)
        deque(map(bytearray.extend, map(self._chunks.__getitem__, words), repeat(array("I", [chunk]).tobytes())), maxlen=0)
        return len(words)

    def by_term(self, lengths: array[int]) -> dict[str, bytearray]:
        """The same for terms; `lengths`, the number of words of each chunk, becomes that of its terms. Nothing is left here."""
        by_term: defaultdict[str, bytearray] = defaultdict(bytearray)
        while self._chunks:
            word, chunks = self._chunks.popitem()
            terms = self._analyzer.terms_of(word)
            for term in terms:
                by_term[term].extend(chunks)
            if len(terms) != 1:
                for chunk in memoryview(chunks).cast("I"):
                    lengths[chunk] += len(terms) - 1
        return by_term


def _counted(chunks: bytearray) -> tuple[list[int], list[int]]:
    """The chunks, ascending, and how often each was there; more than 65,535 times are kept as 65,535."""
    ordered = sorted(memoryview(chunks).cast("I"))
    if len(set(ordered)) == len(ordered):
        return ordered, [1] * len(ordered)
    counts = Counter(ordered)
    return list(counts), [min(count, _COUNT_MAX) for count in counts.values()]


def merged_sections(
    new: dict[str, bytearray], old: IndexFile | None, renumbered: Sequence[int], lengths: Sequence[int]
) -> dict[str, bytes | Numbers]:
    """The term and posting sections of an index of the new chunks and those kept of `old`.

    `new` gives the chunks of each term as `by_term` does, and is empty afterwards. `renumbered` gives for each old chunk its
    new ordinal or GONE, in rising order; `lengths` are those of all new chunks.
    """
    writer = _SectionWriter(lengths)
    if old is None or not old.chunks:
        for term in sorted(new):  # the order of code points is that of UTF-8 bytes
            writer.add(term, *_counted(new.pop(term)))
        return writer.sections()
    kept = array("I", map(renumbered.__getitem__, old["posting_chunks"]))
    done = 0
    for term, position in _touched(new, old, kept, any_gone=GONE in renumbered):
        copied = position if position >= 0 else old.term_place(term)
        writer.copy(old, kept, done, copied)
        done = max(done, position + 1) if position >= 0 else copied
        writer.add(term, *_merged_term(new, term, old, position, kept))
    writer.copy(old, kept, done, old.term_count)
    return writer.sections()


def _touched(new: dict[str, bytearray], old: IndexFile, kept: array[int], *, any_gone: bool) -> list[tuple[str, int]]:
    """Every term that is new or lost a posting, in order, with its position in `old`, -1 where it is absent."""
    touched: dict[str, int] = {}
    if any_gone:
        offsets = old["posting_offsets"]
        losers = sorted({bisect_right(offsets, at) - 1 for at, chunk in enumerate(kept) if chunk == GONE})
        touched = {old.term(position): position for position in losers}
    for term in new:
        if term not in touched:
            found = old.term_ordinal(term)
            touched[term] = -1 if found is None else found
    return sorted(touched.items())


def _merged_term(
    new: dict[str, bytearray], term: str, old: IndexFile, position: int, kept: array[int]
) -> tuple[list[int], list[int]]:
    pairs = list(zip(*_counted(new.pop(term, bytearray())), strict=True))
    if position >= 0:
        start, end = old["posting_offsets"][position], old["posting_offsets"][position + 1]
        pairs += [pair for pair in zip(kept[start:end], old["posting_counts"][start:end], strict=True) if pair[0] != GONE]
        pairs.sort()
    return [chunk for chunk, _ in pairs], [count for _, count in pairs]


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

    def add(self, term: str, chunks: list[int], counts: list[int]) -> None:
        if not chunks:
            return
        self._terms += term.encode("utf-8", "surrogatepass")
        self._term_offsets.append(len(self._terms))
        self._chunks.fromlist(chunks)
        self._counts.fromlist(counts)
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
