"""The bytes of one note as text, where its frontmatter lies, and its digest without the label property.

Nothing here knows YAML: these must work, and be quick, where no YAML reader is installed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vault_eval.digests import sha256_hex
from vault_eval.errors import UnreadableFileError

# The property in which gold notes may keep their questions; it is no part of what is searched.
LABEL_PROPERTY = "answers"

_BOM = b"\xef\xbb\xbf"
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


def frontmatter_block(text: str) -> str | None:
    """The text between the fences, with its final line feed; None without two fences."""
    if not text.startswith("---"):
        return None
    opening = text.split("\n", 1)
    if opening[0].rstrip(" \t") != "---" or len(opening) == 1:
        return None
    closing = _CLOSING_FENCE.search(opening[1])
    return opening[1][: closing.start()] if closing else None


def why_no_frontmatter(text: str) -> str:
    """What is said of a text without `frontmatter_block`: TOML, an open fence, or nothing."""
    first = text.split("\n", 1)[0].rstrip(" \t")
    if first == "+++":
        return "the frontmatter is TOML (`+++`); labels in a note are YAML between two lines `---`"
    if first == "---":
        return "the frontmatter is not closed; it needs a closing line `---` after its last property"
    return "no frontmatter; labels in a note are YAML between a first line `---` and a later line `---`"


def body_digest(data: bytes, label_property: str = LABEL_PROPERTY) -> str:
    """The SHA-256 of a note's bytes without the lines of one top-level property; of all bytes where it is absent.

    The property's lines are that of its key and the indented, `- ` and enclosed blank lines after it.
    """
    if label_property.encode() not in data:
        return sha256_hex(data)
    lines = data.removeprefix(_BOM).splitlines(keepends=True)  # bytes are split at LF, CR LF and CR only
    end = _closing_fence([line.rstrip(b" \t\r\n") for line in lines])
    if end is None:
        return sha256_hex(data)
    dropped = property_lines(lines[:end], re.escape(label_property.encode()))
    kept = b"".join(line for number, line in enumerate(lines) if number not in dropped)
    return sha256_hex((_BOM if data.startswith(_BOM) else b"") + kept)


def without_property(text: str, label_property: str = LABEL_PROPERTY) -> str:
    """A `decode`d note without the lines of one top-level property, as `body_digest` leaves them out."""
    dropped = _lines_of_property(text, label_property)
    return "\n".join(line for number, line in enumerate(text.split("\n")) if number not in dropped) if dropped else text


def with_empty_property(text: str, label_property: str = LABEL_PROPERTY) -> str:
    """A `decode`d note in which the lines `without_property` leaves out are empty: every other line keeps its number."""
    dropped = _lines_of_property(text, label_property)
    return "\n".join("" if number in dropped else line for number, line in enumerate(text.split("\n"))) if dropped else text


def _lines_of_property(text: str, label_property: str) -> set[int]:
    if label_property not in text:
        return set()
    lines = [line.encode("utf-8", "surrogatepass").rstrip(b" \t") for line in text.split("\n")]
    end = _closing_fence(lines)
    return property_lines(lines[:end], re.escape(label_property.encode())) if end is not None else set()


def _closing_fence(lines: list[bytes]) -> int | None:
    if not lines or lines[0] != b"---":
        return None
    return next((number for number, line in enumerate(lines) if number and line == b"---"), None)


def property_lines(block: Sequence[bytes], name: bytes) -> set[int]:
    """The numbers of the lines of one top-level property among the lines before the closing fence, `name` escaped for `re`."""
    key = re.compile(rb"(?:%b|\"%b\"|'%b')[ \t]*:(?:\s|$)" % (name, name, name))
    dropped: set[int] = set()
    inside = False
    blank: list[int] = []
    for number, line in enumerate(block):
        if key.match(line):
            inside, blank = True, []
            dropped.add(number)
        elif not line.strip():
            blank.append(number)
        elif inside and (line[:1] in (b" ", b"\t") or re.match(rb"-(?:\s|$)", line)):
            dropped.update((*blank, number))
            blank = []
        else:
            inside, blank = False, []
    return dropped
