"""How an index of this format stands to the notes as they are now."""

from __future__ import annotations

from vault_eval.index.freshness import Freshness
from vault_eval.index.vault_meta.page_state import PageState
from vault_eval.index.vault_meta.places import SCRIPTS
from vault_eval.index.vault_meta.records import PAGES_FOLDER
from vault_eval.index.vault_meta.store import VaultMetaIndex
from vault_eval.vault.note_text import body_of, readable_text
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.snapshot import VaultSnapshot

_OUTSIDE = f"it lies outside {PAGES_FOLDER}, the only folder that claude-obsidian indexes"
_UNDECODABLE = "it is not UTF-8"
_REMEDY = f"have claude-obsidian index the vault again ({', then '.join(SCRIPTS)}), or have index make one of ours"
_EMPTY = "it has no text below its properties"


def freshness(index: VaultMetaIndex, vault: VaultSnapshot) -> Freshness:
    """The index held against the listing; every note is read. A page of which only the label property changed is changed too."""
    digests = {note.page: digest for note in vault.listing.notes if (digest := vault.pages.digest(note.page)) is not None}
    unindexed = [note.page for note in vault.listing.notes if note.page not in index.pages]
    reasons = {page: _why_left_out(page, index, vault.pages) for page in unindexed}
    added = tuple(page for page, reason in reasons.items() if reason is None)
    present = {*vault.names, *(one.path for one in vault.listing.excluded)}
    removed = tuple(sorted(page for page in index.pages if page not in present))
    dropped = {page: index.state(page) for page in sorted(present & index.pages.keys())}
    by_digest = {digests[page]: page for page in reversed(added) if page in digests}
    before = {page: record.page_sha256 for page in removed if (record := index.records[index.pages[page][0]]) is not None}
    return Freshness(
        indexed=frozenset(index.pages),
        left_out={page: reason for page, reason in reasons.items() if reason is not None},
        digests=digests,
        added=added,
        changed=tuple(page for page, state in dropped.items() if state is not PageState.FRESH),
        removed=removed,
        renamed={page: by_digest[digest] for page, digest in before.items() if digest in by_digest},
        label_only=tuple(page for page, state in dropped.items() if state is PageState.LABEL_ONLY),
        records_skipped=index.skipped_malformed,
        remedy=_REMEDY,
    )


def _why_left_out(page: str, index: VaultMetaIndex, pages: PageDigests) -> str | None:
    """Why building the index again would not take the page; None where it would."""
    if not page.startswith(PAGES_FOLDER):
        return _OUTSIDE
    if page in index.undecodable_pages:
        return _UNDECODABLE
    text = readable_text(pages.read, page)
    return None if text is None or body_of(text).strip() else _EMPTY
