"""The bytes of one note as text, where its frontmatter lies, and its digest without the label property.

Nothing here knows YAML: these must work, and be quick, where no YAML reader is installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from vault_eval.digests import sha256_hex
from vault_eval.errors import UnreadableFileError
from vault_eval.vault.paths import is_pdf

# The property in which gold notes may keep their questions; it is no part of what is searched.
LABEL_PROPERTY = "answers"

_BOM = b"\xef\xbb\xbf"
_EMPTY_FRONTMATTER = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*(?:\r\n|\r|\n)---[ \t]*(?:[\r\n]|$)")
_CLOSING_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)


def decode_utf8(data: bytes) -> str:
    """The text of strict UTF-8 bytes without one leading byte-order mark, line ends as they are.

    Raises UnreadableFileError with the byte offset of the first fault.
    """
    try:
        return data[len(_BOM) :].decode("utf-8") if data.startswith(_BOM) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if data.startswith(_BOM) else 0)
        hint = "; it looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise UnreadableFileError(f"not UTF-8: {error.reason} at byte {offset}{hint}; save the file as UTF-8") from None


def decode(data: bytes) -> str:
    """The text of a note: strict UTF-8, one leading byte-order mark dropped, CRLF and CR folded to LF.

    Raises UnreadableFileError as `decode_utf8` does.
    """
    text = decode_utf8(data)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def readable_text(read: Callable[[str], bytes], page: str) -> str | None:
    """The text of a note, its bytes given by `read`; None where it cannot be read, and for a PDF."""
    try:
        return None if is_pdf(page) else decode(read(page))
    except UnreadableFileError:
        return None


def frontmatter_block(text: str) -> str | None:
    """The text between the fences, with its final line feed; None without two fences."""
    if not text.startswith("---"):
        return None
    opening = text.split("\n", 1)
    if opening[0].rstrip(" \t") != "---" or len(opening) == 1:
        return None
    closing = _CLOSING_FENCE.search(opening[1])
    return opening[1][: closing.start()] if closing else None


def body_of(text: str) -> str:
    """What follows the line of the closing fence; the whole text without frontmatter."""
    block = frontmatter_block(text)
    if block is None:
        return text
    return text[text.index("\n") + 1 + len(block) :].partition("\n")[2]


def why_no_frontmatter(text: str) -> str:
    """What is said of a text without `frontmatter_block`: TOML, an open fence, or nothing."""
    first = text.split("\n", 1)[0].rstrip(" \t")
    if first == "+++":
        return "the frontmatter is TOML (`+++`); labels in a note are YAML between two lines `---`"
    if first == "---":
        return "the frontmatter is not closed; it needs a closing line `---` after its last property"
    return "no frontmatter; labels in a note are YAML between a first line `---` and a later line `---`"


def body_digest(data: bytes, label_property: str = LABEL_PROPERTY) -> str:
    """The SHA-256 of a note's bytes without the lines of one top-level property, and without a frontmatter that is empty then.

    Which lines are those of the property, `property_lines` says. A note has the same digest before its first label and after.
    """
    if label_property.encode() not in data and not _EMPTY_FRONTMATTER.match(data):
        return sha256_hex(data)
    lines = data.removeprefix(_BOM).splitlines(keepends=True)  # bytes are split at LF, CR LF and CR only
    dropped = _own_lines(lines, label_property)
    kept = b"".join(line for number, line in enumerate(lines) if number not in dropped)
    return sha256_hex((_BOM if data.startswith(_BOM) else b"") + kept)


def without_properties(text: str, names: Sequence[str] = (LABEL_PROPERTY,)) -> str:
    """A `decode`d note without the lines of top-level properties, each left out as `body_digest` does."""
    for name in names:
        dropped = _lines_of_property(text, name)
        if dropped:
            text = "\n".join(line for number, line in enumerate(text.split("\n")) if number not in dropped)
    return text


def with_empty_property(text: str, label_property: str = LABEL_PROPERTY) -> str:
    """A `decode`d note in which the lines `without_properties` leaves out are empty: every other line keeps its number."""
    dropped = _lines_of_property(text, label_property)
    return "\n".join("" if number in dropped else line for number, line in enumerate(text.split("\n"))) if dropped else text


def _lines_of_property(text: str, label_property: str) -> set[int]:
    if label_property not in text:
        return set()
    return _own_lines([line.encode("utf-8", "surrogatepass") for line in text.split("\n")], label_property)


def _own_lines(lines: Sequence[bytes], label_property: str) -> set[int]:
    """The numbers of the property's lines among all lines of a note, and of the fences where nothing else is between them."""
    from vault_eval.vault.property_lines import property_lines  # few notes need it, and searches start without

    stripped = (line.rstrip(b" \t\r\n") for line in lines)
    if next(stripped, None) != b"---":
        return set()
    end = next((number for number, line in enumerate(stripped, 1) if line == b"---"), None)
    if end is None:
        return set()
    own = property_lines(lines[:end], label_property)
    return own | {0, end} if len(own) == end - 1 else own
