"""Vectors made from the postings alone: every term of a chunk is hashed to one of 4,096 dimensions.

Feature hashing (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009): dimension h(t) of a text holds
the sum of s(t) (1 + ln tf(t)) over its terms t, where h and the sign s are taken from the CRC-32 of the term. Two texts are
near where they share terms: no model, no meaning. It is there to check everything around vectors without one.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from heapq import nsmallest
from itertools import pairwise, repeat
from math import fsum, log, sqrt
from operator import add
from zlib import crc32

from vault_eval.index.search import Hit
from vault_eval.index.store import IndexFile
from vault_eval.index.terms import Analyzer

HASH_DIMENSIONS = 4_096
_COUNT_MAX = 0xFFFF  # of a term in one chunk, as the index keeps it


class HashVectors:
    """The hash vectors of all chunks of an index. Opening walks all postings once, for the lengths of the vectors."""

    def __init__(self, index: IndexFile, analyzer: Analyzer) -> None:
        self._index = index
        self._analyzer = analyzer
        self._weights = {sign: [0.0, *(sign * _weight(count) for count in range(1, _COUNT_MAX + 1))] for sign in (-1.0, 1.0)}
        self._terms = {sign: [array("I") for _ in range(HASH_DIMENSIONS)] for sign in (-1.0, 1.0)}  # ordinals by dimension
        offsets, blob = index["term_offsets"], index["terms"]
        for ordinal, (start, end) in enumerate(pairwise(offsets)):
            dimension, sign = _hashed(blob[start:end])
            self._terms[sign][dimension].append(ordinal)
        self._lengths = self._vector_lengths()

    def cosines(self, query: str) -> HashCosines:
        """The cosine of a query to every chunk; 0 for all where the query has no term."""
        wanted: dict[int, float] = {}
        for term, count in self._analyzer.counts(query).items():
            dimension, sign = _hashed(term.encode("utf-8", "surrogatepass"))
            wanted[dimension] = wanted.get(dimension, 0.0) + sign * _weight(count)
        length = sqrt(fsum(value * value for value in wanted.values()))
        products: dict[int, float] = {}
        for dimension, value in wanted.items():
            column = self._column(dimension)
            _add(products, column, map(value.__mul__, column.values()))
        # A vector whose dimensions all cancel out has no direction.
        lengths = self._lengths
        return HashCosines({chunk: dot / (length * lengths[chunk]) for chunk, dot in products.items() if lengths[chunk] * length})

    def _column(self, dimension: int) -> dict[int, float]:
        """What each chunk that has any of its terms holds in one dimension."""
        offsets, chunks, counts = (self._index[name] for name in ("posting_offsets", "posting_chunks", "posting_counts"))
        column: dict[int, float] = {}
        for sign, terms in self._terms.items():
            weight = self._weights[sign].__getitem__
            for ordinal in terms[dimension]:
                start, end = offsets[ordinal], offsets[ordinal + 1]
                _add(column, chunks[start:end].tolist(), map(weight, counts[start:end].tolist()))
        return column

    def _vector_lengths(self) -> array[float]:
        squares = array("d", bytes(8 * self._index.chunks))
        for dimension in range(HASH_DIMENSIONS):
            for chunk, value in self._column(dimension).items():
                squares[chunk] += value * value
        return array("d", map(sqrt, squares))


class HashCosines:
    """The cosines of one query to the chunks that share a dimension with it; those of all others are 0."""

    def __init__(self, by_chunk: dict[int, float]) -> None:
        self._by_chunk = by_chunk

    def best(self, n: int) -> list[Hit]:
        """The n nearest chunks above 0."""
        above = ((-cosine, chunk) for chunk, cosine in self._by_chunk.items() if cosine > 0)
        return [Hit(chunk, -cosine) for cosine, chunk in nsmallest(n, above)]

    def of(self, chunk: int) -> float:
        """The cosine of one chunk."""
        return self._by_chunk.get(chunk, 0.0)


def _add(sums: dict[int, float], chunks: Collection[int], added: Iterable[float]) -> None:
    """Add a value to the sum of each chunk. This is where opening spends its time."""
    before = map(sums.get, chunks, repeat(0.0))
    sums.update(zip(chunks, map(add, before, added), strict=True))


def _hashed(term: bytes | memoryview[int]) -> tuple[int, float]:
    """Dimension and sign of a term: the low bits of its CRC-32, and the highest one."""
    digest = crc32(term)
    return digest % HASH_DIMENSIONS, -1.0 if digest >> 31 else 1.0


def _weight(count: int) -> float:
    return 1.0 + log(count)
