"""Names in formats whose columns are parted by white space: percent-encoded where they hold any, as in `Two%20words.md`."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

# Python programs part columns at any white space; half characters are no UTF-8; a byte-order mark is lost at the start.
_ENCODED = re.compile("[\\s%\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]")
# As long as C programs read without overflow.
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
# What C programs part columns at; every other white space in a file of theirs belongs to a name.
_COLUMN = re.compile(r"[^ \t\r\f\v]+")
_COMMENT = "#"


def token(name: str) -> str:
    """`name` as one column, which `name_of` reads back: white space, `%` and what no text file keeps are percent-encoded."""
    return _ENCODED.sub(lambda found: quote(found[0], safe="", errors="surrogatepass"), name)


def first_token(name: str) -> str:
    """As `token`, for the first column, where `#` would begin a comment."""
    written = token(name)
    return f"%23{written[1:]}" if written.startswith(_COMMENT) else written


def name_of(column: str) -> str:
    """The name that a column holds; `%` without two hexadecimal digits stands for itself.

    Raises ValueError where the bytes so written are no UTF-8.
    """
    return unquote(column, errors="surrogatepass")


def columns_of(line: str) -> list[str]:
    """The columns of one line; none for a blank line or a comment."""
    return [] if line.startswith(_COMMENT) else _COLUMN.findall(line)
