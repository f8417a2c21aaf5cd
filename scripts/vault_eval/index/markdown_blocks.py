"""Where headings and blocks stand in a note: lines from markdown-it tokens, never text.

Tokens tell lines truly, but lose text (below the nesting limit, in link definitions, in HTML), so whoever needs text
takes it from the source lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_eval.errors import MissingPackageError

if TYPE_CHECKING:
    from markdown_it.token import Token

_MISSING = "finding the headings of notes needs the package markdown-it-py; run `vault-eval.py doctor --install`"
_RULES = ["heading", "lheading", "hr", "list", "blockquote", "fence", "code", "html_block"]
# Outlines of fifty levels; far deeper ones would exhaust the stack.
_NESTING_MAX_LEVELS = 100
# Without such a line a note has no heading, and needs no parser to say so.
_MAYBE_HEADING = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$)", re.MULTILINE)

_LINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]|!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)")
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]+\s*$")
# What stands in code is read as it is; a backslash takes the meaning of the sign after it.
_MARKUP = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|\*+|~~|==(?=\S)|(?<=\S)==|`+|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)",
    re.DOTALL,
)
_SPACES = re.compile(r"\s+")
# A paragraph with `---` right below it is a heading too, however long; its path is kept with every section below.
_HEADING_MAX_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6 as readable text, on lines `first` up to but not including `after`, counted from 0."""

    level: int
    text: str
    first: int
    after: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """The outermost headings of a text in order, and the lines at which an outermost block starts."""

    headings: tuple[Heading, ...]
    starts: tuple[int, ...]


class BlockReader:
    """Reads the blocks of Markdown texts; one parser for all of them."""

    def __init__(self) -> None:
        self._parse: Callable[[str], Sequence[Token]] | None = None

    def blocks(self, text: str, *, need_starts: bool) -> Blocks:
        """The blocks of `text`, whose lines end at LF; `starts` may be empty unless asked for."""
        if not need_starts and not _MAYBE_HEADING.search(text):
            return Blocks((), ())
        if self._parse is None:
            self._parse = _parser()
        tokens = self._parse(text)
        headings: list[Heading] = []
        starts: list[int] = []
        for position, token in enumerate(tokens):
            if token.level == 0 and token.map is not None and token.nesting >= 0:
                starts.append(token.map[0])
                if token.type == "heading_open":
                    content = tokens[position + 1].content
                    headings.append(Heading(int(token.tag[1]), readable(content), token.map[0], token.map[1]))
        return Blocks(tuple(headings), tuple(starts))


def readable(heading: str) -> str:
    """The text a person reads: link texts, no code, emphasis or highlight signs, no block id, single blanks.

    Cut after 1,000 characters.
    """
    text = _LINK.sub(_link_text, _BLOCK_ID.sub("", " " + heading[: 4 * _HEADING_MAX_CHARACTERS]))
    return _SPACES.sub(" ", _MARKUP.sub(_plain, text)).strip()[:_HEADING_MAX_CHARACTERS].rstrip()


def _plain(markup: re.Match[str]) -> str:
    return (markup["code"] or "").strip() or markup["escaped"] or ""


def _link_text(link: re.Match[str]) -> str:
    target, alias, text = link.groups()
    return str(alias or target or text or "")


def _parser() -> Callable[[str], Sequence[Token]]:
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        raise MissingPackageError(_MISSING) from None
    # Below the nesting limit the rest of the note would be taken for a part of the outline.
    parser = MarkdownIt("zero", {"html": True, "maxNesting": _NESTING_MAX_LEVELS}).enable(_RULES)
    # Inline text is never looked at: a data URI of a megabyte costs nothing.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.parse
