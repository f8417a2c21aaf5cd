"""Names of pages as text: one spelling, and what a gold path may look like. Reads no disk."""

from __future__ import annotations

import posixpath
import re
import unicodedata

from vault_eval.limits import MESSAGE_TEXT_MAX_CHARACTERS, NOTE_MAX_BYTES, PDF_MAX_BYTES

_DRIVE = re.compile(r"[A-Za-z]:")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")  # all of Unicode's category Cc but TAB
_ALLOWED = "allowed is a vault-relative path such as 'Folder/Note.md'"


def quoted(text: str) -> str:
    """Text from a vault or label file as a message shows it: in quotes, controls escaped, cut to 80 characters."""
    return repr(text if len(text) <= MESSAGE_TEXT_MAX_CHARACTERS else text[: MESSAGE_TEXT_MAX_CHARACTERS - 1] + "…")


def page_name(text: str) -> str:
    """The one spelling of a page's path: Unicode NFC. Nothing else is changed, letter case least of all."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(path: str) -> str:
    """A key that is equal for paths which differ in letter case or Unicode form only: NFC, case-folded, NFC again."""
    return path.casefold() if path.isascii() else page_name(page_name(path).casefold())


def is_markdown(path: str) -> bool:
    """Whether the name ends in `.md`, in any letter case."""
    return path[-3:].lower() == ".md"


def is_pdf(path: str) -> bool:
    """Whether the name ends in `.pdf`, in any letter case."""
    return path[-4:].lower() == ".pdf"


def page_title(page: str) -> str:
    """The file name of a page, without its folders and its suffix."""
    return posixpath.basename(page).rpartition(".")[0]


def page_max_bytes(page: str) -> int:
    """The size up to which a page is read: PDFs may be larger than notes."""
    return PDF_MAX_BYTES if is_pdf(page) else NOTE_MAX_BYTES


def has_lone_surrogate(text: str) -> bool:
    """Whether the text holds half a character, which no UTF-8 file can hold; a JSON escape or a file name can bring it."""
    return not text.isascii() and _LONE_SURROGATE.search(text) is not None


def has_control_character(text: str) -> bool:
    """Whether the text holds a control character or line break other than TAB."""
    return _CONTROL.search(text) is not None


def page_problem(path: str) -> str | None:
    """Why `path` may not name a page, or None where it may.

    Refused: empty, absolute, drive and UNC paths, backslashes, the segments `..`, `.` and empty ones, control
    characters but TAB, and lone surrogates. `~`, `%2e` and every other character are ordinary.
    """
    return next((f"the path {quoted(path)} {reason}; {_ALLOWED}" for refused, reason in _refusals(path) if refused), None)


def _refusals(path: str) -> tuple[tuple[bool, str], ...]:
    segments = path.split("/")
    return (
        (not path, "is empty"),
        (has_lone_surrogate(path), "holds half a character (a lone surrogate, not valid Unicode)"),
        (has_control_character(path), "holds a control character or line break"),
        ("\\" in path, "holds a backslash; folders are parted by `/`"),
        (path.startswith("/"), "is absolute"),
        (_DRIVE.match(path) is not None, "starts with a drive letter"),
        (".." in segments, "holds the segment `..`, which may leave the vault"),
        ("." in segments, "holds the segment `.`"),
        ("" in segments, "holds an empty segment (two slashes, or one at the end)"),
    )
