"""A note's body as chunks: spans of its text under one heading path.

Every character of the body that is no blank lies in some chunk, no chunk crosses a heading, and each span maps back to
source lines.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_eval.index.markdown_blocks import BlockReader, Blocks
from vault_eval.index.options import ChunkSizes

_SENTENCE_END = re.compile(r"[.!?…](?=\s)|[。！？；।]")
_BLANKS = re.compile(r"\s+")
_TEXT = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text[start:end]` of the note, under `heading`; `lines` counts from 1, both ends included.

    `body_start` is where its text begins after the heading line that it starts with; `start` where it starts with none.
    """

    start: int
    end: int
    body_start: int
    heading: tuple[str, ...]
    lines: tuple[int, int]


class _Section(NamedTuple):
    """Offsets of one section: its start, the end of its heading lines, its end; and its heading path."""

    start: int
    heading_end: int
    end: int
    heading: tuple[str, ...]


def chunk_note(text: str, body_line: int, reader: BlockReader, sizes: ChunkSizes) -> list[Chunk]:
    """The chunks of one note in reading order; lines end at LF, the body starts at the 0-based line `body_line`.

    A note without a body is one empty chunk, so that it can still be found by its name.
    """
    line_starts = _line_starts(text)
    offsets = line_starts[body_line:]
    body_start = offsets[0] if offsets else len(text)
    blocks = reader.blocks(text[body_start:], need_starts=len(text) - body_start > sizes.aim)
    borders = [offsets[line] for line in blocks.starts if line < len(offsets)]
    chunks = []
    for section in _sections(blocks, offsets, body_start, len(text)):
        for start, end in _pieces(text, section, borders, sizes):
            body = min(section.heading_end, end) if start == section.start else start
            chunks.append(Chunk(start, end, body, section.heading, _lines(line_starts, start, end)))
    if not chunks:
        # The text ends where its last line feed does: what follows is no line.
        lines_there = max(len(line_starts) - text.endswith("\n"), 1)
        line = min(body_line + 1, lines_there)
        chunks.append(Chunk(body_start, body_start, body_start, (), (line, line)))
    return chunks


def chunk_plain_text(text: str, heading: tuple[str, ...], sizes: ChunkSizes) -> list[Chunk]:
    """The chunks of text in which nothing is markup, all under one heading that it does not hold; none where it is blank."""
    line_starts = _line_starts(text)
    pieces = _pieces(text, _Section(0, 0, len(text), heading), (), sizes)
    return [Chunk(start, end, start, heading, _lines(line_starts, start, end)) for start, end in pieces]


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _lines(line_starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    return bisect_right(line_starts, start), bisect_left(line_starts, end)


def _sections(blocks: Blocks, offsets: Sequence[int], body_start: int, text_end: int) -> Iterator[_Section]:
    """The sections in order; the first one has no heading, and may be empty."""
    path: list[tuple[int, str]] = []
    start = heading_end = body_start
    for heading in blocks.headings:
        first = offsets[heading.first]
        yield _Section(start, heading_end, first, tuple(text for _, text in path))
        path = [(level, text) for level, text in path if level < heading.level]
        path.append((heading.level, heading.text))
        start = first
        heading_end = offsets[heading.after] if heading.after < len(offsets) else text_end
    yield _Section(start, heading_end, text_end, tuple(text for _, text in path))


def _pieces(text: str, section: _Section, borders: Sequence[int], sizes: ChunkSizes) -> Iterator[tuple[int, int]]:
    """Spans of one section, cut at its blocks where these are short enough, else at lines, sentences, blanks, anywhere.

    Each begins with what it repeats of the one before; none is blank, and a heading never stands without the text below it.
    """
    end = section.end
    begin = shown = _next_text(text, section.start, end)
    first_text = _next_text(text, section.heading_end, end)
    cuts = borders[bisect_right(borders, first_text) : bisect_left(borders, end)]
    while end - begin > sizes.aim:
        cut = _cut(text, begin, end, cuts, sizes)
        if cut >= end:
            break
        yield shown, cut
        # At most half of a piece is said twice, so that each one starts after the one before.
        shown = _overlap_start(text, cut, max(cut - sizes.overlap, (begin + cut + 1) // 2, min(section.heading_end, cut)))
        begin = _next_text(text, cut, end)
        if begin - shown > sizes.overlap:
            shown = begin
    if begin < end:
        yield shown, end


def _next_text(text: str, start: int, end: int) -> int:
    """The first place from `start` on that is no blank, or `end`."""
    found = _TEXT.search(text, start, end)
    return found.start() if found else end


def _cut(text: str, begin: int, end: int, cuts: Sequence[int], sizes: ChunkSizes) -> int:
    """The end of a piece that starts at `begin`: after `begin`, at most the room of a chunk later.

    Borders so near that the piece would be no more than an overlap are passed over.
    """
    aim, least = begin + sizes.aim, begin + sizes.overlap
    if end <= begin + sizes.room and not (cuts and cuts[-1] > least):
        # What is left is a single block that fits: leave it whole.
        return end
    before = bisect_right(cuts, aim) - 1
    if before >= 0 and cuts[before] > least:
        return cuts[before]
    if before + 1 < len(cuts) and cuts[before + 1] <= begin + sizes.room:
        return cuts[before + 1]
    line = text.rfind("\n", begin, aim) + 1
    return line if line > least else _cut_in_line(text, begin, aim)


def _cut_in_line(text: str, begin: int, aim: int) -> int:
    """The last sentence end in the second half of `text[begin:aim]`, else the last blank, else `aim`; never before a mark."""
    middle = (begin + aim) // 2
    for border in (_SENTENCE_END, _BLANKS):
        ends = [found.end() for found in border.finditer(text, middle, aim)]
        if ends:
            break
    cut = ends[-1] if ends else aim
    while cut > begin and _is_mark(text, cut):
        cut -= 1
    return cut if cut > begin else aim


def _overlap_start(text: str, cut: int, earliest: int) -> int:
    """The first line or word border from `earliest` on with text before `cut`; in text without blanks, `earliest` itself."""
    if not earliest or text[earliest - 1] == "\n":
        return earliest
    line = text.find("\n", earliest, cut)
    if line >= 0 and _next_text(text, line, cut) < cut:
        return line + 1
    if text[earliest - 1].isspace():
        return earliest
    blanks = _BLANKS.search(text, earliest, cut)
    if blanks and blanks.end() < cut:
        return blanks.end()
    while earliest < cut and _is_mark(text, earliest):
        earliest += 1
    return earliest


def _is_mark(text: str, place: int) -> bool:
    """Whether a combining mark stands there, which belongs to the letter before it."""
    return place < len(text) and unicodedata.category(text[place]).startswith("M")
