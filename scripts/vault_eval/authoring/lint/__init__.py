"""One module a kind of finding. Adding a kind is adding a file here: it is found by its presence.

Each module has `NAME`, the kind in words, `ADVICE`, what to make of it, and `find(checked)`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from vault_eval.authoring.gold_places import GoldPlaces
from vault_eval.diagnosis.label_findings import FindingKind, LabelFinding
from vault_eval.errors import UnreadableFileError
from vault_eval.index.terms import Analyzer
from vault_eval.labels.eligibility import SettledLabel
from vault_eval.model import Label
from vault_eval.vault.note import Note, parse_note
from vault_eval.vault.note_text import decode
from vault_eval.vault.paths import is_markdown
from vault_eval.vault.snapshot import VaultSnapshot


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is doubtful: what, in words that need no context, and the labels and pages it is about."""

    what: str
    queries: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A label set as it is checked: each label with what it counts as, the vault, what diagnosis says of the labels, and
    what there is in the gold pages.
    """

    vault: VaultSnapshot
    settled: Sequence[SettledLabel]
    diagnosed: Sequence[LabelFinding]
    places: GoldPlaces
    analyzer: Analyzer = field(default_factory=Analyzer)
    _notes: dict[str, Note | None] = field(default_factory=dict)

    @property
    def labels(self) -> list[Label]:
        """All labels that are asked or would be: those skipped or of another collection are left out."""
        return [one.label for one in self.settled if one.status in ("scored", "negative", "missing-gold")]

    @property
    def scored(self) -> list[Label]:
        """The labels with gold that exists."""
        return [one.label for one in self.settled if one.status == "scored"]

    def note(self, page: str) -> Note | None:
        """A note as it is now, None where it cannot be read, and for a PDF; each is read once."""
        if page not in self._notes:
            try:
                self._notes[page] = parse_note(decode(self.vault.read(page))) if is_markdown(page) else None
            except UnreadableFileError:
                self._notes[page] = None
        return self._notes[page]

    def of(self, *kinds: FindingKind) -> list[LabelFinding]:
        """What diagnosis found of these kinds."""
        return [one for one in self.diagnosed if one.kind in kinds]


class LintRule(Protocol):
    """What a module of this package offers."""

    NAME: str
    ADVICE: str

    def find(self, checked: Checked) -> Iterator[Finding]:
        """The findings of this kind in the order of the labels."""
        ...


def lint_rules() -> dict[str, LintRule]:
    """All rules of this package by module name, in order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: cast(LintRule, importlib.import_module(f"{__name__}.{name}")) for name in names}
