"""Names of pages as text: one spelling, what a gold path may look like, and the place within a page. Reads no disk."""

from __future__ import annotations

import re
import unicodedata

from vault_eval.errors import VaultEvalError
from vault_eval.limits import MESSAGE_TEXT_MAX_CHARACTERS
from vault_eval.model import Target

_FRAGMENT = re.compile(r"\.(?:md|pdf)(#)", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")  # all of Unicode's category Cc but TAB
_PDF_PAGE = re.compile(r"page=([1-9][0-9]{0,5})")
_ALLOWED = "allowed is a vault-relative path such as 'Folder/Note.md'"


class TargetError(VaultEvalError):
    """Text that cannot name a gold place; the message says why and what is allowed, the caller adds file and query."""


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


def has_lone_surrogate(text: str) -> bool:
    """Whether the text holds half a character, which no UTF-8 file can hold; a JSON escape or a file name can bring it."""
    return _LONE_SURROGATE.search(text) is not None


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


def parse_target(text: str) -> Target:
    """The gold place that `text` names: `Note.md`, `Note.md#Heading`, `Note.md#^block` or `file.pdf#page=4`, in NFC.

    It is split at the first `.md#` or `.pdf#` in any letter case, so `C# tips.md` is a page.
    Raises TargetError for a path with a `page_problem`, an empty fragment, and gold that is neither Markdown nor PDF.
    """
    path, fragment = split_fragment(page_name(text))
    problem = page_problem(path)
    if problem is not None:
        raise TargetError(problem)
    if is_markdown(path):
        return _markdown_target(path, fragment)
    if path[-4:].lower() == ".pdf":
        return _pdf_target(path, fragment)
    raise TargetError(f"the path {quoted(path)} is neither Markdown (.md) nor PDF (.pdf), so it can never be found; name a note")


def split_fragment(text: str) -> tuple[str, str | None]:
    """Path and fragment, parted at the first `.md#` or `.pdf#`; the fragment is None where there is no such place."""
    found = _FRAGMENT.search(text)
    return (text, None) if found is None else (text[: found.start(1)], text[found.end(1) :])


def target_text(target: Target) -> str:
    """The target as `parse_target` reads it."""
    if target.block is not None:
        return f"{target.page}#^{target.block}"
    if target.pdf_page is not None:
        return f"{target.page}#page={target.pdf_page}"
    return target.page if target.heading is None else f"{target.page}#{target.heading}"


def _markdown_target(path: str, fragment: str | None) -> Target:
    if fragment is None:
        return Target(path)
    name = fragment.removeprefix("^").strip()
    if not name or has_control_character(name) or has_lone_surrogate(name):
        raise TargetError(f"after '#' in {quoted(path + '#' + fragment)} a heading or `^block` is expected")
    return Target(path, block=name) if fragment.startswith("^") else Target(path, heading=name)


def _pdf_target(path: str, fragment: str | None) -> Target:
    page = _PDF_PAGE.fullmatch(fragment) if fragment is not None else None
    if fragment is not None and page is None:
        raise TargetError(f"after '#' in {quoted(path + '#' + fragment)} a page is expected, such as 'page=4'")
    return Target(path, pdf_page=int(page.group(1)) if page is not None else None)


def pdf_problem(target: Target) -> str | None:
    """Why PDF gold cannot be measured, or None for a note."""
    if target.page[-4:].lower() != ".pdf":
        return None
    return f"the path {quoted(target.page)} is a PDF, which needs the extra [pdf]; it is not installed: name a note instead"
