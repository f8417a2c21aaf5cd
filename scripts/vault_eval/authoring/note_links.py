"""Links as people write them in notes, with the text they show and the note they lead to. Code holds no links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from vault_eval.diagnosis.sections import outside_fences
from vault_eval.labels.wikilinks import LinkResolver, PageNames
from vault_eval.model import Target
from vault_eval.vault.paths import page_name
from vault_eval.vault.targets import TargetError

_WIKI = re.compile(r"(?<!!)\[\[([^\[\]|\n]+?)\\?\|([^\[\]\n]+)\]\]")
_MARKDOWN = re.compile(
    r"(?<!!)\[([^\[\]\n]+)\]\((?:<([^<>\n]+)>|([^\s()<>]+(?:\([^\s()]*\)[^\s()]*)*))(?:\s+[\"'][^\"'\n]*[\"'])?\)"
)
_TICKS = re.compile(r"`+")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link with a text of its own: the text shown, where it leads as written, and its line from 1."""

    text: str
    target: str
    line: int


def links(text: str, body_line: int) -> Iterator[NoteLink]:
    """The links of a note's body in reading order, those to other places than notes left out."""
    for number, line in outside_fences(text.split("\n")[body_line:]):
        yield from _in_line(_without_code(line), body_line + number)


def _in_line(line: str, number: int) -> Iterator[NoteLink]:
    for found in _WIKI.finditer(line):
        yield NoteLink(found[2], found[1].strip(), number)
    for found in _MARKDOWN.finditer(line):
        target = unquote(found[2] or found[3])
        if not _ELSEWHERE.match(target):
            yield NoteLink(found[1], target, number)


def _without_code(line: str) -> str:
    """The line without code between backticks: a run of them ends at the next run of the same length (CommonMark 6.1)."""
    if "`" not in line:
        return line
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(line)]
    following: dict[int, int] = {}  # length -> the end of the next run of that length
    ends = [0] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        ends[number] = following.get(end - start, 0)
        following[end - start] = end
    kept, at = [], 0
    for (start, _), end in zip(runs, ends, strict=True):
        if start >= at and end:
            kept.append(line[at:start])
            at = end
    return " ".join([*kept, line[at:]])


def linked_target(link: NoteLink, folder: str, pages: PageNames) -> Target | None:
    """The one note of the vault that a link leads to, from a note in `folder`; None for none and for several."""
    path, sign, fragment = page_name(link.target).partition("#")
    relative = posixpath.normpath(posixpath.join(folder, path))
    for candidate in (relative, f"{relative}.md"):
        if pages.has(candidate):
            return Target(candidate, heading=fragment.rpartition("#")[2].strip() or None if sign else None)
    try:
        target = LinkResolver(pages, folder).target(f"[[{link.target}]]")
    except TargetError:
        return None
    return target if pages.has(target.page) else None
