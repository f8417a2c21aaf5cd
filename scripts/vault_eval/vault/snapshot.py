"""One vault as it is looked at in one run: listed once, read through one reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from vault_eval.vault.excluded import read_exclusions
from vault_eval.vault.location import vault_id, vault_root
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.walk import VaultListing, walk_vault


@dataclass(frozen=True, slots=True)
class VaultSnapshot:
    """One vault as it is looked at in one run: its physical root and id, its one reader, its pages, their digests."""

    named: str  # the path as the person gave it
    root: str
    id: str
    reader: FolderReader
    listing: VaultListing
    pages: PageDigests

    @property
    def names(self) -> list[str]:
        """The names of all pages in scope, sorted."""
        return [one.page for one in self.listing.pages]

    def read(self, page: str) -> bytes:
        """The bytes of a page as they are now, however the disk spells its name. Raises FileRefusedError."""
        return self.pages.read(page)


@contextmanager
def open_snapshot(path: str, exclude: Sequence[str] = (), *, with_pdfs: bool = False) -> Iterator[VaultSnapshot]:
    """The vault at `path`, listed once; `exclude` are globs left out beside Obsidian's excluded files.

    PDFs are among its pages on demand alone.

    Raises UsageError where there is no folder, UnreadableFileError where it cannot be opened.
    """
    root = vault_root(path)
    with FolderReader(root) as reader:
        listing = walk_vault(reader, read_exclusions(reader, exclude), with_pdfs=with_pdfs)
        spelled = {one.page: one.disk_path for one in listing.pages if one.disk_path != one.page}
        yield VaultSnapshot(path, root, vault_id(root), reader, listing, PageDigests(reader, spelled))
