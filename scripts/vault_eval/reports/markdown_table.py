"""Tables for GitHub and Obsidian."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 0) -> Iterator[str]:
    """Rows of cells that are Markdown already; the first column and the last `words` hold words, the others numbers."""
    numbers = len(header) - 1 - words
    yield _row(header)
    yield _row([":--", *["--:"] * numbers, *[":--"] * words])
    yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
