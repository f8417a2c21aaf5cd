"""A line of a note over the rows of a terminal: broken at blanks, and beside characters of scripts that write none."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.reports.escaping import for_terminal
from vault_eval.reports.text_layout import display_width

_ROW_MIN_COLUMNS = 20


def rows(line: str, width: int, *, first: str = "") -> Iterator[str]:
    """The line, made safe to print, over rows of at most `width` columns, `first` before it and as many blanks before the rest.

    A wide character takes two columns and may begin or end a row; a word that is longer than a row is cut.
    """
    text = for_terminal(line).rstrip()
    room = max(width - len(first), _ROW_MIN_COLUMNS)
    start, before = 0, first
    while (end := _fitting(text, start, room)) < len(text):
        cut = next((at for at in range(end, start, -1) if _may_break(text, at) and text[start:at].strip()), end)
        yield before + text[start:cut].rstrip()
        start = next(at for at in range(cut, len(text)) if not text[at].isspace())  # the last character is no blank
        before = " " * len(first)
    yield before + text[start:]


def _fitting(text: str, start: int, room: int) -> int:
    """Where the characters end that fit from `start` on; marks that take no column go with the character before them."""
    for at in range(start, len(text)):
        room -= display_width(text[at])
        if room < 0:
            return at
    return len(text)


def _may_break(text: str, at: int) -> bool:
    widths = display_width(text[at - 1]), display_width(text[at])
    return text[at - 1].isspace() or text[at].isspace() or (2 in widths and 0 not in widths)
