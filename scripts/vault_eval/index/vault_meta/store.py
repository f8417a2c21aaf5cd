"""One index of this format, read whole when it is opened: chunks, their pages, and which pages are still what was indexed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from vault_eval.digests import sha256_hex
from vault_eval.index.vault_meta.document import CorruptIndexError, IndexDocument, OtherSchemaError, parse_index
from vault_eval.index.vault_meta.page_state import PageState, page_state
from vault_eval.index.vault_meta.places import INDEX_PATH, VaultMetaFolder, unusable
from vault_eval.index.vault_meta.records import ChunkRecord, Skip, read_record
from vault_eval.limits import VAULT_META_INDEX_MAX_BYTES
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.refusal import FileRefusedError
from vault_eval.vault.snapshot import VaultSnapshot

# How a chunk's prefix was made, as records say; other words are not repeated.
_PREFIX_SOURCES = ("synthetic", "anthropic-api", "claude-cli", "skipped")
_MOMENT = re.compile(r"[0-9T:.Z+-]{1,40}")


@dataclass(frozen=True, slots=True)
class VaultMetaIndex:
    """Chunks are numbered in the order of the index file; close it.

    A chunk whose record was skipped is of no page; it still counts in N, df and the mean length, as it does for the product.
    """

    folder: VaultMetaFolder
    sha256: str  # of the index file
    document: IndexDocument
    records: Sequence[ChunkRecord | None]  # by chunk
    states: Sequence[PageState]  # by chunk
    pages: Mapping[str, Sequence[int]]  # page -> its chunks, ascending
    undecodable_pages: frozenset[str]
    skipped_malformed: int
    skipped_undecodable: int

    def state(self, page: str) -> PageState | None:
        """The best state of the page's chunks; None where it is not in the index."""
        found = {self.states[chunk] for chunk in self.pages.get(page, ())}
        return next((state for state in PageState if state in found), None)

    def path_order(self) -> list[int]:
        """For each chunk its place among all by page and number, which is how equal scores are ordered."""
        keys = [(record.page, record.number, chunk) if record else ("", 0, chunk) for chunk, record in enumerate(self.records)]
        places = [0] * len(keys)
        for place, (_, _, chunk) in enumerate(sorted(keys)):
            places[chunk] = place
        return places

    def provenance(self) -> Mapping[str, str | int]:
        """What is told of how the index was made: when, its chunks by the source of their prefix, and their sizes."""
        known = [record for record in self.records if record is not None]
        told = Counter(one.prefix_source if one.prefix_source in _PREFIX_SOURCES else "other" for one in known)
        sources = {f"prefix_{source.replace('-', '_')}": told[source] for source in sorted(told)}
        sizes = [len(one.text) for one in known]
        spread = {"chunk_characters_median": median_low(sizes), "chunk_characters_max": max(sizes)} if sizes else {}
        built = {"built": self.document.updated_at} if _MOMENT.fullmatch(self.document.updated_at) else {}
        return {**built, **sources, **spread}

    def digest_now(self) -> str | None:
        """The SHA-256 of the index file as it is now; None where it cannot be read or a record is no longer what it was."""
        try:
            data = self.folder.read(INDEX_PATH, VAULT_META_INDEX_MAX_BYTES)
        except FileRefusedError:
            return None
        return sha256_hex(data) if self.folder.is_unchanged() else None

    def close(self) -> None:
        """Release the folder."""
        self.folder.close()


def open_vault_meta(folder: str, vault: VaultSnapshot) -> VaultMetaIndex:
    """The index in `folder`, a result of `vault_meta_folder`; creates nothing.

    Raises IndexUnusableError, which says what mends it: unreadable, corrupt, of another schema, or of another vault.
    """
    files = VaultMetaFolder(folder, vault)
    try:
        data = files.read(INDEX_PATH, VAULT_META_INDEX_MAX_BYTES)
        return _read_records(files, sha256_hex(data), parse_index(data), vault)
    except (FileRefusedError, OtherSchemaError, CorruptIndexError) as error:
        files.close()
        reason = error.reason if isinstance(error, FileRefusedError) else str(error)
        problem = f"the claude-obsidian index {files.path + '/' + INDEX_PATH!r} cannot be used: {reason}"
        raise unusable(problem, vault.root) from None


def _read_records(files: VaultMetaFolder, sha256: str, document: IndexDocument, vault: VaultSnapshot) -> VaultMetaIndex:
    listed = frozenset((*vault.names, *(one.path for one in vault.listing.excluded)))
    found = [read_record(files, chunk) for chunk in document.chunks]
    states = [_state(one, listed, vault.pages) for one in found]
    readable = [(one.page, state) for one, state in zip(found, states, strict=True) if isinstance(one, ChunkRecord)]
    undecodable = {page for page, state in readable if state is PageState.UNDECODABLE}
    records = [one if isinstance(one, ChunkRecord) and one.page not in undecodable else None for one in found]
    pages: dict[str, list[int]] = {}
    for number, record in enumerate(records):
        if record is not None:
            pages.setdefault(record.page, []).append(number)
    if pages and listed.isdisjoint(pages):
        raise CorruptIndexError(f"it is of another vault: none of its {len(pages):,} pages is here")
    malformed = found.count("malformed")
    return VaultMetaIndex(
        files,
        sha256,
        document,
        records,
        states,
        pages,
        frozenset(undecodable),
        malformed,
        records.count(None) - malformed,
    )


def _state(record: ChunkRecord | Skip, listed: frozenset[str], pages: PageDigests) -> PageState:
    """The state of the page that a record names; a page that is no note of the vault any more is stale."""
    if isinstance(record, str) or record.page not in listed:
        return PageState.STALE
    return page_state(pages, record.page, record.page_sha256)
