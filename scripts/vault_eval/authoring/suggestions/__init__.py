"""One module a source of suggestions. Adding a source is adding a file here: it is found by its presence.

Each module has `NAME`, in words for a person, and `candidates(material)`, which gives what it finds and what it left out.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from vault_eval.index.markdown_blocks import Heading
from vault_eval.labels.wikilinks import PageNames
from vault_eval.model import Target
from vault_eval.vault.note import Note


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A note of the vault: its page, what it says of itself, its headings with lines of the file counted from 0."""

    page: str
    note: Note
    headings: tuple[Heading, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """What the note is called first of all: its file name without suffix, and its title."""
        return (self.page.rpartition("/")[2][: -len(".md")], *filter(None, [self.note.title]))

    @property
    def names(self) -> tuple[str, ...]:
        """All that the note is called: its titles and aliases."""
        return (*self.titles, *self.note.aliases)


@dataclass(frozen=True, slots=True)
class Material:
    """What suggestions are made from: the notes by page, the searches and the transcript that the owner named."""

    notes: dict[str, ReadNote]
    pages: PageNames
    failed: Sequence[str] = ()
    transcript: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that the vault itself proposes, the place it names (None where only the owner knows), and where it was found.

    `names` are what that place is called: a query that says no more tells nothing.
    """

    query: str
    target: Target | None
    origin: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something found that makes no label, and why: a count for a person."""

    reason: str


NOT_ALONE = LeftOut("it says nothing away from its place")
TOO_SHORT = LeftOut("it is too short to tell one note from another")


class SuggestionSource(Protocol):
    """What a module of this package offers."""

    NAME: str

    def candidates(self, material: Material) -> Iterator[Candidate | LeftOut]:
        """What the source finds, in the order of the vault or file."""
        ...


def suggestion_sources() -> dict[str, SuggestionSource]:
    """All sources of this package by module name, in order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: cast(SuggestionSource, importlib.import_module(f"{__name__}.{name}")) for name in names}
