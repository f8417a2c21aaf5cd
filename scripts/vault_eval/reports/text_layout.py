"""Lines for a terminal: wrapped text, and columns that stay straight with wide characters. Every line is made safe to print."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from vault_eval.limits import TERMINAL_TEXT_MAX_CHARACTERS
from vault_eval.reports.escaping import for_terminal
from vault_eval.reports.wording import cut

COLUMN_MAX_CHARACTERS = 40
WRAPPED_MAX_CHARACTERS = 400
_GAP = "   "


def display_width(text: str) -> int:
    """How many terminal columns the text takes: two for a wide character, none for a combining one."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def wrapped(text: str, width: int, *, first: str = "", indent: str | None = None) -> list[str]:
    """The text over lines of at most `width` characters, `first` before it and `indent` (default: as wide) before the rest."""
    safe = for_terminal(cut(text, WRAPPED_MAX_CHARACTERS))
    rest = " " * len(first) if indent is None else indent
    lines = textwrap.wrap(safe, max(width, len(rest) + 20), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return lines or [first.rstrip()]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns with their header: the first aligned to the left, the others to the right; cells are cut, never wrapped."""
    cells = [[for_terminal(cut(cell, COLUMN_MAX_CHARACTERS)) for cell in row] for row in (header, *rows)]
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    return [_row(row, widths) for row in cells]


def bounded(lines: Sequence[str], closing: Sequence[str], cut_off: str) -> str:
    """All lines, or as many as leave room for `cut_off` and the closing ones, ended by LF: fewer than 30,000 characters."""
    room = TERMINAL_TEXT_MAX_CHARACTERS - sum(len(line) + 1 for line in (*closing, cut_off)) - 1
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append(cut_off)
            break
        kept.append(line)
    return "\n".join([*kept, *closing]) + "\n"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [" " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True)]
    others = (f"{_GAP}{padding}{cell}" for cell, padding in zip(cells[1:], padded[1:], strict=True))
    return "  " + (cells[0] + padded[0] + "".join(others)).rstrip()
