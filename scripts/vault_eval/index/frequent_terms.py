"""What a search knows of every chunk and a term that many chunks hold, in a byte a chunk.

The upper half of the byte says how often the chunk holds the term, the lower half in which sixteenth of all chunks its length
lies: enough to bound the term's contribution for any k1 and b (`columns`). It follows from postings and lengths; the index
keeps it for the most frequent terms, so that no evaluation makes it again.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from vault_eval.index.layout import Numbers

# A shorter list is walked as quickly.
LIST_MIN_POSTINGS = 300
# Terms that one chunk in 16 holds have seven tenths of the postings that columns are made of, and add a sixth to the file.
_CHUNKS_OF_A_POSTING = 16
# What half a byte tells apart. The last class of frequencies is that many and more.
CLASSES = 16
LAST_CLASS = CLASSES - 1


class LengthClasses(NamedTuple):
    """The class of each chunk by its length, and the shortest length of each class; there are at most CLASSES."""

    of_chunks: bytes
    shortest: tuple[int, ...]


def length_classes(lengths: Sequence[int]) -> LengthClasses:
    """Classes of as many chunks each as equal lengths allow, the shorter chunks first."""
    shortest: list[int] = []
    class_of: dict[int, int] = {}
    before = 0
    for length, having in sorted(Counter(lengths).items()):
        if before * CLASSES >= len(shortest) * len(lengths):
            shortest.append(length)
        class_of[length] = len(shortest) - 1
        before += having
    return LengthClasses(bytes(map(class_of.__getitem__, lengths)), tuple(shortest))


def chunk_classes(lengths: LengthClasses, holders: Sequence[int], counts: Sequence[int]) -> bytearray:
    """The byte of every chunk for one term, from the chunks that hold it and how often each does."""
    classes = bytearray(lengths.of_chunks)
    if max(counts) > LAST_CLASS:
        counts = [min(count, LAST_CLASS) for count in counts]
    for chunk, count in zip(holders, counts, strict=True):
        classes[chunk] += CLASSES * count
    return classes


def frequent_sections(postings: dict[str, bytes | Numbers], lengths: Sequence[int]) -> dict[str, bytes | Numbers]:
    """The sections of an index file with the ordinals of its most frequent terms and, for each, the bytes of all chunks."""
    least = max(LIST_MIN_POSTINGS, len(lengths) // _CHUNKS_OF_A_POSTING)
    spans = list(pairwise(postings["posting_offsets"]))
    terms = [term for term, (start, end) in enumerate(spans) if end - start > least]
    classes, by_length = bytearray(), length_classes(lengths)
    for start, end in map(spans.__getitem__, terms):
        classes += chunk_classes(by_length, postings["posting_chunks"][start:end], postings["posting_counts"][start:end])
    return {"frequent_terms": array("I", terms), "frequent_classes": memoryview(classes)}
