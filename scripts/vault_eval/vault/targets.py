"""Gold places as text: a page, and within it a heading, a block or a PDF page. Reads no disk."""

from __future__ import annotations

import re

from vault_eval.errors import VaultEvalError
from vault_eval.model import Target
from vault_eval.vault.paths import (
    has_control_character,
    has_lone_surrogate,
    is_markdown,
    is_pdf,
    page_name,
    page_problem,
    quoted,
)

_FRAGMENT = re.compile(r"\.(?:md|pdf)(#)", re.IGNORECASE)
_PDF_PAGE = re.compile(r"page=([1-9][0-9]{0,5})")


class TargetError(VaultEvalError):
    """Text that cannot name a gold place; the message says why and what is allowed, the caller adds file and query."""


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
    if is_pdf(path):
        return _pdf_target(path, fragment)
    hint = "name a note"
    if path.startswith("[["):
        hint = "links work in label notes only: write the path"
    elif "." not in path.rpartition("/")[2]:
        hint = f"for a note write {quoted(path + '.md')}"
    raise TargetError(f"the path {quoted(path)} is neither Markdown (.md) nor PDF (.pdf), so it can never be found; {hint}")


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
