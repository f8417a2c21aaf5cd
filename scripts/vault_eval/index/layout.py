"""The bytes of an index file: one header, then typed sections.

    magic 8 bytes | length of the header u32 | SHA-256 of the header 32 bytes | header JSON | sections, 64-byte aligned

The header says the format, the options, the counts, and each section's place and SHA-256. All numbers are little-endian.
There is no time and no absolute path in the file: the same notes and options give the same bytes.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from array import array
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from vault_eval import strict_json
from vault_eval.errors import IndexUnusableError

FORMAT = "vault-eval.index.v1"
MAGIC = b"VAULTEVL"
HEAD = struct.Struct("<8sI32s")
ALIGNMENT = 64
# Section name -> type code of its numbers; "B" is bytes.
SECTIONS: dict[str, Literal["B", "H", "I", "Q"]] = {
    "chunk_lengths": "I",  # terms of each chunk, its prefix included
    "chunk_pages": "I",  # page ordinal of each chunk; chunks of a page stand together
    "chunk_lines": "I",  # first and last source line of each chunk, from 1
    "chunk_headings": "I",  # ordinal of each chunk's heading path
    "heading_offsets": "I",
    "headings": "B",  # heading paths, each a JSON list
    "page_chunks": "I",  # first chunk of each page, and one past the last
    "page_offsets": "I",
    "pages": "B",  # page names in UTF-8, sorted
    "page_digests": "B",  # SHA-256 of each page's bytes
    "page_body_digests": "B",  # the same without the lines of the label property
    "term_offsets": "I",
    "terms": "B",  # terms in UTF-8, sorted
    "term_most": "H",  # largest frequency of each term in one chunk
    "term_shortest": "I",  # length of the shortest chunk that holds it: with the above, a bound for any k1 and b
    "posting_offsets": "Q",
    "posting_chunks": "I",
    "posting_counts": "H",
    "frequent_terms": "I",  # ordinals of the terms that many chunks hold
    "frequent_classes": "B",  # for each of them, a byte for each chunk: how often it holds the term, and how long it is
    "remarks": "B",  # JSON: notes that are not in the index with reasons, and what is odd about notes that are
}
ITEM_BYTES = {"B": 1, "H": 2, "I": 4, "Q": 8}
Numbers: TypeAlias = "array[int] | memoryview[int]"


def index_bytes(
    options: Mapping[str, object], total_length: int, sections: Mapping[str, bytes | Numbers]
) -> Iterator[bytes | memoryview[int]]:
    """The parts of an index file in order, padding included; the same content gives the same bytes."""
    if sys.byteorder != "little":
        raise IndexUnusableError("indexes are little-endian, this machine is big-endian: build and evaluate on another one")
    views = {name: memoryview(sections[name]).cast("B") if len(sections[name]) else memoryview(b"") for name in SECTIONS}
    digests = {name: hashlib.sha256(view).hexdigest() for name, view in views.items()}
    # Places depend on the header's length, which depends on the places: reserve room for the largest numbers first.
    room = HEAD.size + len(_header(options, total_length, dict.fromkeys(SECTIONS, (2**53, 2**53)), digests))
    offset = start = aligned(room)
    places: dict[str, tuple[int, int]] = {}
    for name, view in views.items():
        places[name] = (offset, len(view))
        offset = aligned(offset + len(view))
    header = _header(options, total_length, places, digests)
    head = HEAD.pack(MAGIC, len(header), hashlib.sha256(header).digest()) + header
    yield head + bytes(start - len(head))
    for name, view in views.items():
        yield view
        yield bytes(aligned(places[name][0] + len(view)) - places[name][0] - len(view))


def _header(
    options: Mapping[str, object], total_length: int, places: Mapping[str, tuple[int, int]], digests: Mapping[str, str]
) -> bytes:
    rows = {name: [*place, digests[name]] for name, place in places.items()}
    content = {"format": FORMAT, "options": dict(options), "total_length": total_length, "sections": rows}
    return strict_json.encode(strict_json.dumps(content))


def aligned(offset: int) -> int:
    """The first place at or after `offset` where a section may begin."""
    return -(-offset // ALIGNMENT) * ALIGNMENT
