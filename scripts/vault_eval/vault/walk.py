"""The notes there are: one walk of a vault, in path order, with a reason for all that is left out."""

from __future__ import annotations

import os
import stat
import unicodedata
from dataclasses import dataclass

from vault_eval.limits import NOTE_MAX_BYTES, VAULT_DEPTH_MAX_FOLDERS
from vault_eval.vault.excluded import Exclusions
from vault_eval.vault.reader import LINK, NOT_REGULAR, FileRefusedError, FileState, FolderReader

_ICLOUD_SUFFIX = ".icloud"


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note found: its page name, its path as the disk spells it, and its state."""

    page: str
    disk_path: str
    state: FileState


@dataclass(frozen=True, slots=True)
class Skipped:
    """A note that is not searched, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class VaultListing:
    """All notes of a vault by page name; what the owner excluded; what could not be taken."""

    notes: tuple[NoteFile, ...]
    excluded: tuple[Skipped, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...] = ()


def walk_vault(reader: FolderReader, exclusions: Exclusions) -> VaultListing:
    """Every note below the reader's root: `.md` in any letter case, sorted by page name.

    Hidden files and folders, links and other vaults (folders that hold `.obsidian`) are left out. Of two files whose
    names are equal in NFC, the one spelled in NFC is taken and the other skipped.
    """
    notes: dict[str, NoteFile] = {}
    skipped: list[Skipped] = []
    excluded: list[Skipped] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in _entries(reader, folder, skipped):
            name = entry.name
            disk_path = f"{folder}/{name}" if folder else name
            if name.startswith("."):
                if name.endswith(_ICLOUD_SUFFIX) and name[: -len(_ICLOUD_SUFFIX)].lower().endswith(".md"):
                    note = f"{folder}/{name[1 : -len(_ICLOUD_SUFFIX)]}".lstrip("/")
                    skipped.append(Skipped(note, "not downloaded: only its iCloud placeholder is here; open it in Files once"))
                continue
            is_note = name[-3:].lower() == ".md"
            if entry.is_symlink():
                skipped.append(Skipped(disk_path, LINK))
            elif entry.is_dir(follow_symlinks=False):
                if is_note:
                    skipped.append(Skipped(disk_path, NOT_REGULAR + ", but a folder"))
                folders.append(disk_path)
            elif is_note:
                _take(notes, skipped, excluded, exclusions, disk_path, entry.stat(follow_symlinks=False))
    return VaultListing(
        tuple(notes[page] for page in sorted(notes)),
        tuple(sorted(excluded, key=lambda one: one.path)),
        tuple(sorted(skipped, key=lambda one: one.path)),
        exclusions.warnings,
    )


def _entries(reader: FolderReader, folder: str, skipped: list[Skipped]) -> list[os.DirEntry[str]]:
    if folder.count("/") >= VAULT_DEPTH_MAX_FOLDERS:
        skipped.append(Skipped(folder, f"nested deeper than {VAULT_DEPTH_MAX_FOLDERS} folders"))
        return []
    try:
        entries = reader.list(folder)
    except FileRefusedError as refusal:
        skipped.append(Skipped(folder, f"the folder was not read: {refusal.reason}"))
        return []
    if folder and any(entry.name == ".obsidian" for entry in entries):
        skipped.append(Skipped(folder, "another vault: the folder holds .obsidian"))
        return []
    # NFC spellings first, so that they win over a decomposed twin.
    return sorted(entries, key=lambda entry: (not unicodedata.is_normalized("NFC", entry.name), entry.name))


def _take(
    notes: dict[str, NoteFile],
    skipped: list[Skipped],
    excluded: list[Skipped],
    exclusions: Exclusions,
    disk_path: str,
    found: os.stat_result,
) -> None:
    page = disk_path if disk_path.isascii() else unicodedata.normalize("NFC", disk_path)
    reason = exclusions.reason(page)
    if not disk_path.isascii() and not _is_unicode(disk_path):
        skipped.append(Skipped(disk_path, "its name is not UTF-8; rename the file"))
    elif reason is not None:
        excluded.append(Skipped(page, reason))
    elif not stat.S_ISREG(found.st_mode):
        skipped.append(Skipped(page, NOT_REGULAR))
    elif found.st_size > NOTE_MAX_BYTES:
        skipped.append(Skipped(page, f"it has {found.st_size:,} bytes; at most {NOTE_MAX_BYTES:,} are read"))
    elif page in notes:
        skipped.append(Skipped(disk_path, f"its name equals that of {page!r} in another Unicode form"))
    else:
        notes[page] = NoteFile(page, disk_path, FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
