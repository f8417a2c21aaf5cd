"""How an index stands to the notes as they are now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vault_eval.index.states import NoteStates
from vault_eval.index.store import LABEL_NOTE, IndexFile
from vault_eval.labels.sources import is_label_note
from vault_eval.vault.note_text import LABEL_PROPERTY
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.walk import NoteFile, VaultListing


@dataclass(frozen=True, slots=True)
class Freshness:
    """The SHA-256 of every note now, and which notes the index does not have, has in another state, or has in vain.

    An indexed note that cannot be read any more counts as changed, one that the index left out as added once its bytes are
    others; notes that still are label notes are in none of the lists. `left_out` are those that would be left out again.
    `renamed` gives for a removed note the added one that has its bytes.
    """

    indexed: frozenset[str]
    left_out: Mapping[str, str]
    digests: Mapping[str, str]
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: Mapping[str, str]
    label_only: tuple[str, ...] = ()  # only the label property differs: still a result
    records_skipped: int = 0  # parts of the index that cannot be used: a note that seems to be added may be one of theirs
    remedy: str = "run index again"  # what brings the index up to date

    @property
    def is_fresh(self) -> bool:
        """Nothing was added, changed or removed since the index was built."""
        return not (self.added or self.changed or self.removed)


def compare_with_vault(listing: VaultListing, index: IndexFile, states: NoteStates, pages: PageDigests) -> Freshness:
    """The index held against the listing; a note with the file state remembered is taken as unchanged, others are read."""
    indexed = {page: ordinal for ordinal, page in enumerate(index.page_names())}
    then = index.all_page_digests()
    every = frozenset(indexed)
    left_out = dict(index.skipped())
    unusable = index.unusable()
    digests: dict[str, str] = {}
    added: list[str] = []
    changed: list[str] = []
    label_only: list[str] = []
    for note in listing.pages:
        ordinal = indexed.pop(note.page, None)
        before = None if ordinal is None else then[ordinal]
        is_known = before is not None and states.get(note.page) == note.state
        now = before if is_known else pages.digest(note.page)
        if now is not None:
            digests[note.page] = now
        if before is None and _is_new(note, left_out.get(note.page), unusable, states, pages):
            added.append(note.page)
            left_out.pop(note.page, None)
        elif ordinal is not None and now != before:
            (label_only if _same_body(note.page, ordinal, index, pages) else changed).append(note.page)
    by_digest = {digests[page]: page for page in reversed(added) if page in digests}
    bytes_of = {page: then[ordinal] for page, ordinal in indexed.items()}
    renamed = {page: by_digest[digest] for page, digest in bytes_of.items() if digest in by_digest}
    found = (tuple(added), tuple(changed), tuple(sorted(indexed)))
    return Freshness(every, left_out, digests, *found, renamed, tuple(label_only))


def without_index(listing: VaultListing, pages: PageDigests) -> Freshness:
    """Where nothing is indexed and notes are searched as they are: every note that can be read is fresh."""
    read = ((note.page, pages.digest(note.page)) for note in listing.pages)
    digests = {page: digest for page, digest in read if digest is not None}
    return Freshness(frozenset(digests), {}, digests, (), (), (), {})


def _same_body(page: str, ordinal: int, index: IndexFile, pages: PageDigests) -> bool:
    """Whether nothing but the label property differs: such a page stays a result."""
    return pages.body_digest(page, LABEL_PROPERTY) == index.page_digest(ordinal, body=True)


def _is_new(note: NoteFile, reason: str | None, unusable: Mapping[str, str], states: NoteStates, pages: PageDigests) -> bool:
    """Whether a note that is not in the index, or was left out for a reason, might be in it after the next build."""
    if reason is None:
        return True
    if reason == LABEL_NOTE:
        return states.get(note.page) != note.state and not is_label_note(pages.read, note.page)
    return pages.digest(note.page) != unusable.get(note.page)
