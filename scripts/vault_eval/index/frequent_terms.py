"""How often each chunk holds a term that many chunks hold: a byte a chunk, as a search adds such terms up (`columns`).

It says what the postings say, for a build to work out once and not for every evaluation.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise

from vault_eval.index.layout import Numbers

# A shorter list is walked as quickly.
LIST_MIN_POSTINGS = 300
# Terms that one chunk in 16 holds have seven tenths of the postings that searches make columns of, and a sixth of an index file.
_CHUNKS_OF_A_POSTING = 16
# In place of a frequency that no byte holds: it must be looked up.
UNKNOWN = 255


def frequent_sections(sections: dict[str, bytes | Numbers], chunks: int) -> dict[str, bytes | Numbers]:
    """The two sections of frequent terms: their ordinals, and for each the bytes of all chunks."""
    least = max(LIST_MIN_POSTINGS, chunks // _CHUNKS_OF_A_POSTING)
    spans = list(pairwise(sections["posting_offsets"]))
    frequent = [term for term, (start, end) in enumerate(spans) if end - start > least]
    counts = bytearray()
    for start, end in map(spans.__getitem__, frequent):
        counts += chunk_counts(chunks, sections["posting_chunks"][start:end], sections["posting_counts"][start:end])
    return {"frequent_terms": array("I", frequent), "frequent_counts": memoryview(counts)}


def chunk_counts(chunks: int, holders: Sequence[int], counts: Sequence[int]) -> bytearray:
    """How often each of so many chunks holds a term, UNKNOWN for 255 times or more; from the chunks that do and their counts."""
    by_chunk = bytearray(chunks)
    if max(counts) > UNKNOWN:
        counts = [min(count, UNKNOWN) for count in counts]
    for chunk, count in zip(holders, counts, strict=True):
        by_chunk[chunk] = count
    return by_chunk
