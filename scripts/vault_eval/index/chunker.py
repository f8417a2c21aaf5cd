"""A note's body as chunks: spans of its text under one heading path.

Every character of the body lies in some chunk, no chunk crosses a heading, and each span maps back to source lines.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_eval.index.markdown_blocks import BlockReader, Blocks
from vault_eval.limits import CHUNK_MAX_CHARACTERS, CHUNK_OVERLAP_CHARACTERS, CHUNK_TARGET_CHARACTERS

_SENTENCE_END = re.compile(r"[.!?…](?=\s)|[。！？；।]|\s")


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """Sizes in code points: the target, the hard limit, and what a chunk repeats of the one before it in its section."""

    target: int = CHUNK_TARGET_CHARACTERS
    maximum: int = CHUNK_MAX_CHARACTERS
    overlap: int = CHUNK_OVERLAP_CHARACTERS


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text[start:end]` of the note, under `heading`; `body_start` is where its text begins after its own heading line.

    `lines` counts from 1, both ends included.
    """

    start: int
    end: int
    body_start: int
    heading: tuple[str, ...]
    lines: tuple[int, int]


def chunk_note(text: str, body_line: int, reader: BlockReader, sizes: ChunkSizes) -> list[Chunk]:
    """The chunks of one note in reading order; lines end at LF, the body starts at the 0-based line `body_line`.

    A note without a body is one empty chunk, so that it can still be found by its name.
    """
    line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
    body_start = line_starts[body_line] if body_line < len(line_starts) else len(text)
    body = text[body_start:]
    blocks = reader.blocks(body, need_starts=len(body) > sizes.maximum - sizes.overlap)
    offsets = line_starts[body_line:]
    chunks = []
    for start, heading_end, end, heading in _sections(blocks, offsets, body_start, len(text)):
        if start == end or not (heading or text[start:end].strip()):
            continue
        cuts = [offsets[line] for line in blocks.starts if line < len(offsets) and heading_end < offsets[line] < end]
        for piece_start, piece_end in _pieces(text, start, end, cuts, sizes):
            last = bisect_left(line_starts, max(piece_end, piece_start + 1))
            lines = (bisect_right(line_starts, piece_start), max(last, 1))
            chunks.append(Chunk(piece_start, piece_end, min(max(piece_start, heading_end), piece_end), heading, lines))
    if not chunks:
        line = min(body_line + 1, len(line_starts))
        chunks.append(Chunk(body_start, len(text), body_start, (), (line, max(line, len(line_starts)))))
    return chunks


def _sections(
    blocks: Blocks, offsets: Sequence[int], body_start: int, text_end: int
) -> Iterator[tuple[int, int, int, tuple[str, ...]]]:
    """Start, end of the heading line, end, and heading path of each section, in order; the first one has no heading."""
    path: list[tuple[int, str]] = []
    start = heading_end = body_start
    for heading in blocks.headings:
        first = offsets[heading.first]
        yield start, heading_end, first, tuple(text for _, text in path)
        path = [(level, text) for level, text in path if level < heading.level]
        path.append((heading.level, heading.text))
        start = first
        heading_end = offsets[heading.after] if heading.after < len(offsets) else text_end
    yield start, heading_end, text_end, tuple(text for _, text in path)


def _pieces(text: str, start: int, end: int, cuts: Sequence[int], sizes: ChunkSizes) -> Iterator[tuple[int, int]]:
    """Spans of one section, cut at its blocks where these are short enough, else at lines, sentences, blanks, anywhere."""
    room = max(sizes.maximum - sizes.overlap, 1)
    target = min(sizes.target, room)
    begin = shown = start
    while end - begin > target:
        cut = _cut(text, begin, end, cuts, target, room)
        if cut >= end:
            break
        yield shown, cut
        begin = cut
        shown = _overlap_start(text, begin, max(shown, begin - sizes.overlap))
    yield shown, end


def _cut(text: str, begin: int, end: int, cuts: Sequence[int], target: int, room: int) -> int:
    """The end of a piece that starts at `begin`: after `begin`, at most `room` later."""
    if begin + target < end <= begin + room and not (cuts and begin < cuts[bisect_left(cuts, end) - 1] < end):
        # What is left is a single block that fits: leave it whole.
        return end
    before = bisect_right(cuts, begin + target) - 1
    if before >= 0 and cuts[before] > begin:
        return cuts[before]
    if before + 1 < len(cuts) and cuts[before + 1] <= begin + room:
        return cuts[before + 1]
    line = text.rfind("\n", begin, min(begin + target, end)) + 1
    if line > begin:
        return line
    window = text[begin + target // 2 : begin + target]
    ends = [found.end() for found in _SENTENCE_END.finditer(window)]
    cut = begin + target // 2 + ends[-1] if ends else begin + target
    while begin < cut < end and unicodedata.combining(text[cut]):
        cut -= 1
    return cut if cut > begin else begin + target


def _overlap_start(text: str, cut: int, earliest: int) -> int:
    """The first line or word border at or after `earliest`; `earliest` itself in text without blanks."""
    window = text[earliest:cut]
    border = window.find("\n")
    if border < 0:
        border = next((at for at, letter in enumerate(window) if letter.isspace()), -1)
    return earliest + border + 1 if border >= 0 else earliest
