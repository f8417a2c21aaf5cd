"""What each label counts as: decided once, in the order skipped, missing gold, negative, scored.

A query whose gold does not exist says nothing about searching, so it leaves every mean and is listed with its reason.
Gold that exists but is excluded, unindexed or unreadable stays: the search cannot find it, and that is a miss.
"""

from __future__ import annotations

import functools
import posixpath
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from vault_eval.errors import LabelError, MissingPackageError, UnreadableFileError
from vault_eval.labels.problems import Place, Problems
from vault_eval.limits import LABEL_NEAR_NAMES_MAX
from vault_eval.model import Label
from vault_eval.nearest import nearest
from vault_eval.vault.note_text import decode
from vault_eval.vault.paths import folded, is_markdown, is_pdf, page_title, quoted
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import LINK, NOT_REGULAR, FileRefusedError
from vault_eval.vault.walk import OTHER_VAULT, VaultListing

if TYPE_CHECKING:
    from vault_eval.labels.collection import Collection

Status: TypeAlias = Literal["skipped", "missing-gold", "negative", "scored", "other-collection"]
_MOVED_SHOWN_MAX = 3
_NEAR_SHOWN_MAX = 2
# One letter of five, or two in the wrong order, make a ratio of 0.8; what is less alike is another word.
_ALIKE = 0.8
_LENGTHS_APART_MAX = 2


@dataclass(frozen=True, slots=True)
class SettledLabel:
    """A label and its status; for missing gold each missing page with why, and what it may have become."""

    label: Label
    status: Status
    missing: Mapping[str, str]


def settle(
    labels: Sequence[Label],
    listing: VaultListing,
    reader: FolderReader,
    collection: Collection | None,
    split: str | None,
    same_content: Callable[[str], str | None],
) -> tuple[SettledLabel, ...]:
    """Every label with its status, in order. `same_content(page)` names the page that now has the missing one's bytes.

    Raises LabelError where gold exists as, or passes through, a link or a file that is not regular.
    """
    gold = _GoldPages(listing, reader, same_content)
    problems = Problems()
    settled = tuple(_settle(label, gold, collection, split, problems) for label in labels)
    problems.raise_if_any()
    return settled


def _settle(label: Label, gold: _GoldPages, collection: Collection | None, split: str | None, problems: Problems) -> SettledLabel:
    if collection is not None and not collection.has(label):
        return SettledLabel(label, "other-collection", {})
    if split is not None and label.split != split:
        return SettledLabel(label, "other-collection", {})
    if label.skip_reason is not None:
        return SettledLabel(label, "skipped", {})
    missing: dict[str, str] = {}
    for page in label.pages:
        try:
            reason = gold.missing(page)
        except LabelError as error:
            Place(problems, label.source, label.place).problem(str(error))
            continue
        if reason is not None:
            missing[page] = reason
    if missing:
        return SettledLabel(label, "missing-gold", missing)
    return SettledLabel(label, "scored" if label.gold else "negative", {})


class _GoldPages:
    """Answers whether gold pages exist; each is looked at once."""

    def __init__(self, listing: VaultListing, reader: FolderReader, same_content: Callable[[str], str | None]) -> None:
        self._present = {one.page for one in listing.pages} | {one.path for one in listing.excluded}
        self._skipped = {one.path: one.reason for one in listing.skipped}
        self._reader = reader
        self._same_content = same_content
        self._answers: dict[str, str | None] = {}
        self._near_left = LABEL_NEAR_NAMES_MAX

    def missing(self, page: str) -> str | None:
        """Why the page counts as missing, or None where it exists. Raises LabelError for what cannot be gold."""
        if page in self._present:
            return None
        if page not in self._answers:
            self._answers[page] = self._look(page)
        return self._answers[page]

    def _look(self, page: str) -> str | None:
        skipped = self._skipped.get(page, "")
        if "iCloud" in skipped:
            return skipped
        if any(part.startswith(".") for part in page.split("/")):
            return "it lies in a hidden file or folder, which is not part of the vault"
        nested = self._other_vault(page)
        if nested is not None:
            return f"it lies in another vault, {quoted(nested)}"
        try:
            self._reader.read(page)
        except FileRefusedError as refusal:
            if refusal.reason in {LINK, NOT_REGULAR}:
                raise LabelError(f"the gold page {quoted(page)} cannot be gold: {refusal.reason}; name the note itself") from None
            # What is there, but cannot be read, is a miss and no fault of the label.
            return self._proposal(page) if refusal.absent else None
        # A disk that ignores letter case takes this name for a note that the vault spells otherwise.
        return self._proposal(page) if self._reader.spelling_on_disk(page) is None else None

    def _other_vault(self, page: str) -> str | None:
        folders = (folder for folder, why in self._skipped.items() if why.startswith(OTHER_VAULT))
        return next((folder for folder in folders if page.startswith(f"{folder}/")), None)

    def _proposal(self, page: str) -> str:
        """What the page may have become; never followed, only said."""
        sort = "PDF" if is_pdf(page) else "note"
        not_there = f"no {sort} of that name is in the vault"
        twin = self._by_folded_path.get(folded(page))
        if twin is not None:
            return f"{not_there}; in other letter case there is {quoted(twin)}: write it so"
        renamed = self._same_content(page)
        if renamed is not None:
            return f"{not_there}; {quoted(renamed)} has the same content: was it renamed?"
        moved = self._by_folded_name.get(folded(posixpath.basename(page)), [])
        if moved:
            return (
                f"{not_there}; a {sort} of the same name is at {', '.join(map(quoted, moved[:_MOVED_SHOWN_MAX]))}: was it moved?"
            )
        name = folded(page_title(page))
        for kind, pages in (("alias", self._names[0].get(name)), ("title", self._names[1].get(name))):
            if pages:
                shown = ", ".join(map(quoted, pages[:_MOVED_SHOWN_MAX]))
                return f"{not_there}; its name is the {kind} of {shown}: was it renamed?"
        near = self._near(page)
        return f"{not_there}; {f'is {near} meant?' if near else 'correct the path'}"

    def _near(self, page: str) -> str:
        """The pages of almost this name, for a message; none with another number in it: it is the note of another day."""
        if self._near_left == 0:
            return ""
        self._near_left -= 1
        name = folded(page_title(page))
        named = self._by_kind.get(_kind(page), {})
        as_long = (one for one in named if abs(len(one) - len(name)) <= _LENGTHS_APART_MAX)
        pages = [one for near in nearest(name, as_long, most=_NEAR_SHOWN_MAX, alike=_ALIKE) for one in named[near]]
        return " or ".join(map(quoted, pages[:_NEAR_SHOWN_MAX]))

    @functools.cached_property
    def _names(self) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        """Pages by folded alias, and by folded title: read from all notes, only once something is missing."""
        from vault_eval.vault.note import parse_note

        aliases: dict[str, list[str]] = {}
        titles: dict[str, list[str]] = {}
        for page in filter(is_markdown, sorted(self._present)):
            try:
                note = parse_note(decode(self._reader.read(page)))
            except UnreadableFileError:
                continue
            except MissingPackageError:
                break  # a proposal is a courtesy: without the package that reads properties there is none
            for alias in note.aliases:
                aliases.setdefault(folded(alias), []).append(page)
            if note.title is not None:
                titles.setdefault(folded(note.title), []).append(page)
        return aliases, titles

    @functools.cached_property
    def _by_kind(self) -> Mapping[tuple[bool, str], Mapping[str, list[str]]]:
        """Pages by folded name, those of one kind and with the same digits together."""
        kinds: dict[tuple[bool, str], dict[str, list[str]]] = defaultdict(dict)
        for page in sorted(self._present):
            kinds[_kind(page)].setdefault(folded(page_title(page)), []).append(page)
        return kinds

    @functools.cached_property
    def _by_folded_path(self) -> Mapping[str, str]:
        return {folded(page): page for page in sorted(self._present, reverse=True)}

    @functools.cached_property
    def _by_folded_name(self) -> Mapping[str, list[str]]:
        pages: dict[str, list[str]] = {}
        for page in sorted(self._present):
            pages.setdefault(folded(posixpath.basename(page)), []).append(page)
        return pages


def _kind(page: str) -> tuple[bool, str]:
    """Whether it is a PDF, and the digits of its name."""
    return is_pdf(page), "".join(filter(str.isdigit, page_title(page)))
