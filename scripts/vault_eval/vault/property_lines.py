"""Which lines of a note's frontmatter are those of one property, told without reading YAML.

To a property belong, below its key, the indented and `- ` lines, the rest of a list in brackets or a text in quotes, which
YAML lets go on in any column, and what is empty or a comment between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

_ITEM = re.compile(rb"([ \t]*)-(?:[ \t]+|$)")
_QUOTED = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'", re.DOTALL)
# What a list in brackets is made of; a quote or `#` inside an unquoted text is a part of that text.
_IN_BRACKETS = re.compile(
    rb"(?P<opens>[\[{])|(?P<closes>[\]}])|\s+|[,:]|#[^\n]*|"
    + _QUOTED.pattern
    + rb"|[^\s,:\[\]{}\"'#](?:[^,:\[\]{}#]|:(?!\s)|(?<!\s)#)*",
    re.DOTALL,
)


def property_lines(block: Sequence[bytes], name: str) -> set[int]:
    """The numbers of the lines of one top-level property, however often it is there, among those before the closing fence."""
    lines = [line.rstrip(b"\r\n") for line in block]
    spelled = re.escape(name.encode())
    key = re.compile(rb"(?:%b|\"%b\"|'%b')[ \t]*:(?:[ \t]+|$)" % (spelled, spelled, spelled))
    values = _Values(lines)
    found: set[int] = set()
    for number, line in enumerate(lines):
        after_key = key.match(line)
        if after_key is not None and number not in found:
            found.update(range(number, _end_of_property(lines, values, number, after_key.end())))
    return found


def _end_of_property(lines: Sequence[bytes], values: _Values, first: int, at: int) -> int:
    """The number of the line after the last one of a property whose key stands on the line `first`, before the column `at`."""
    begun = lines[first][at : at + 1] not in (b"", b"#")
    dash: bytes | None = None  # what stands before the dash of each item
    number = end = values.end(first, at)
    while number < len(lines):
        line = lines[number]
        item = _ITEM.match(line)
        is_indented = line[:1] in (b" ", b"\t")
        if not line.strip() or line.startswith(b"#"):
            number += 1
        elif is_indented and not begun and line.lstrip().startswith(b"#"):
            number = end = number + 1
        elif not (is_indented or item):
            break
        elif begun and (item is None or item[1] != dash):
            number = end = number + 1
        else:
            dash = item[1] if item else None
            begun = True
            number = end = values.end(number, item.end() if item else len(line) - len(line.lstrip()))
    return end


class _Values:
    """Where the values that begin on some line end; a quote or bracket that nothing closes ends with its line."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._text = b"\n".join(lines)
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self._unclosed = False  # looking again from each of many lines would take the square of the time

    def end(self, number: int, column: int) -> int:
        """The number of the line after the one on which the value that begins there ends."""
        start = self._starts[number] + column
        return number + 1 + self._text.count(b"\n", start, self._end(start))

    def _end(self, start: int) -> int:
        sign = self._text[start : start + 1]
        if self._unclosed or sign not in (b'"', b"'", b"[", b"{"):
            return start
        end = self._end_of_brackets(start) if sign in b"[{" else self._end_of_quotes(start)
        self._unclosed = end is None
        return start if end is None else end

    def _end_of_quotes(self, start: int) -> int | None:
        quoted = _QUOTED.match(self._text, start)
        return None if quoted is None else quoted.end()

    def _end_of_brackets(self, start: int) -> int | None:
        depth = 0
        at = start
        while (part := _IN_BRACKETS.match(self._text, at)) is not None:
            at = part.end()
            depth += (part.lastgroup == "opens") - (part.lastgroup == "closes")
            if not depth:
                return at
        return None
