"""The notes there are, and the PDFs where they are asked for: one walk of a vault, with a reason for all that is left out."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from vault_eval.errors import UnreadableFileError
from vault_eval.limits import VAULT_DEPTH_MAX_FOLDERS
from vault_eval.vault.excluded import Exclusions
from vault_eval.vault.location import VAULT_MARK
from vault_eval.vault.opening import FileState, file_state
from vault_eval.vault.paths import has_lone_surrogate, is_markdown, is_pdf, page_max_bytes, page_name
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import LINK, NOT_REGULAR, FileRefusedError, reason_of

_ICLOUD_SUFFIX = ".icloud"

# How the reason of a folder that is a vault of its own begins.
OTHER_VAULT = "another vault"


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note or PDF found: its page name, its path as the disk spells it, and its state."""

    page: str
    disk_path: str
    state: FileState


@dataclass(frozen=True, slots=True)
class Skipped:
    """A note, PDF or folder that is not searched, and why. The path is in NFC, but for a second file of an equal name."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class VaultListing:
    """All notes of a vault by page name; what the owner excluded; what could not be taken; PDFs where they were asked for."""

    notes: tuple[NoteFile, ...]
    excluded: tuple[Skipped, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...] = ()
    pdfs: tuple[NoteFile, ...] = ()

    @property
    def pages(self) -> tuple[NoteFile, ...]:
        """Everything that is indexed, sorted by page name."""
        return tuple(sorted((*self.notes, *self.pdfs), key=lambda one: one.page)) if self.pdfs else self.notes


def walk_vault(reader: FolderReader, exclusions: Exclusions, *, with_pdfs: bool = False) -> VaultListing:
    """Every note below the reader's root, and every PDF on demand: `.md` and `.pdf` in any letter case, sorted by page name.

    Hidden files and folders, links and other vaults (folders that hold `.obsidian`) are left out. Of two files whose
    names are equal in NFC, the one spelled in NFC is taken and the other skipped. Raises UnreadableFileError where the
    root cannot be listed.
    """
    walk = _Walk(reader, exclusions, with_pdfs=with_pdfs)
    folders = [""]
    while folders:
        # Reversed, so that the first is taken next: of twin folders, too, the one spelled in NFC comes first.
        folders += reversed(walk.folder(folders.pop()))
    return walk.listing()


class _Walk:
    """What one walk has found so far."""

    def __init__(self, reader: FolderReader, exclusions: Exclusions, *, with_pdfs: bool) -> None:
        self._reader = reader
        self._exclusions = exclusions
        self._with_pdfs = with_pdfs
        self._pages: dict[str, NoteFile] = {}
        self._excluded: list[Skipped] = []
        self._skipped: list[Skipped] = []

    def listing(self) -> VaultListing:
        pages = [self._pages[page] for page in sorted(self._pages)]
        pdfs = [one for one in pages if is_pdf(one.page)] if self._with_pdfs else []
        return VaultListing(
            tuple(one for one in pages if not is_pdf(one.page)) if pdfs else tuple(pages),
            tuple(sorted(self._excluded, key=lambda one: one.path)),
            tuple(sorted(self._skipped, key=lambda one: (one.path, one.reason))),
            self._exclusions.warnings,
            tuple(pdfs),
        )

    def _is_page(self, name: str) -> bool:
        return is_markdown(name) or (self._with_pdfs and is_pdf(name))

    def folder(self, folder: str) -> list[str]:
        """Take the pages of one folder; the folders in it, in order."""
        folders = []
        for entry in self._entries(folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                self._take_hidden(folder, entry.name)
                continue
            try:
                is_folder = self._take(path, entry)
            except OSError as error:
                gone = "it was deleted while the vault was listed"
                self._skip(path, gone if isinstance(error, FileNotFoundError) else reason_of(error))
                continue
            if is_folder:
                folders.append(path)
        return folders

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        if folder.count("/") >= VAULT_DEPTH_MAX_FOLDERS:
            self._skip(folder, f"nested deeper than {VAULT_DEPTH_MAX_FOLDERS} folders")
            return []
        try:
            entries = self._reader.list(folder)
        except FileRefusedError as refusal:
            if not folder:
                raise UnreadableFileError(f"the vault {self._reader.root!r} cannot be listed: {refusal.reason}") from None
            self._skip(folder, f"the folder was not read: {refusal.reason}")
            return []
        if folder and any(entry.name == VAULT_MARK for entry in entries):
            self._skip(folder, f"{OTHER_VAULT}: the folder holds {VAULT_MARK}")
            return []
        return sorted(entries, key=lambda entry: (page_name(entry.name) != entry.name, entry.name))

    def _take(self, path: str, entry: os.DirEntry[str]) -> bool:
        """Take a page, or say why not; whether it is a folder."""
        is_page = self._is_page(entry.name)
        if entry.is_symlink():
            self._skip(path, LINK)
        elif entry.is_dir(follow_symlinks=False):
            if is_page:
                self._skip(path, f"{NOT_REGULAR}, but a folder")
            return True
        elif is_page:
            self._take_page(path, entry.stat(follow_symlinks=False))
        return False

    def _take_page(self, path: str, found: os.stat_result) -> None:
        page = page_name(path)
        reason = self._exclusions.reason(page)
        if not stat.S_ISREG(found.st_mode):
            self._skip(path, NOT_REGULAR)
        elif has_lone_surrogate(path):
            self._skip(path, "its name is not UTF-8; rename the file")
        elif reason is not None:
            self._excluded.append(Skipped(page, reason))
        elif found.st_size > page_max_bytes(page):
            self._skip(path, f"it has {found.st_size:,} bytes; at most {page_max_bytes(page):,} are read")
        elif page in self._pages:
            self._skipped.append(Skipped(path, f"its name equals that of {page!r} in another Unicode form"))
        else:
            self._pages[page] = NoteFile(page, path, file_state(found))

    def _take_hidden(self, folder: str, name: str) -> None:
        page = name[1 : -len(_ICLOUD_SUFFIX)]
        if name.endswith(_ICLOUD_SUFFIX) and self._is_page(page):
            path = f"{folder}/{page}" if folder else page
            self._skip(path, "not downloaded: only its iCloud placeholder is here; open it in Files once")

    def _skip(self, path: str, reason: str) -> None:
        self._skipped.append(Skipped(page_name(path), reason))
