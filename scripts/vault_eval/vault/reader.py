"""The only reader of files of a vault and of label files: no links, regular files, bounded, read whole.

What it read, listed and refused it remembers, and can say later what of it is no longer so.
"""

from __future__ import annotations

import errno
import os
import stat

from vault_eval.errors import UnreadableFileError
from vault_eval.limits import NOTE_MAX_BYTES
from vault_eval.vault.opening import DESCRIPTOR_RELATIVE, FileState, OpenFolder, file_state
from vault_eval.vault.refusal import (
    ABSENT,
    CHANGED,
    DENIED,
    LINK,
    NOT_REGULAR,
    FileRefusedError,
    physical_advice,
    plain_absolute,
    reason_of,
)
from vault_eval.vault.spelling import spelling_on_disk


class FolderReader:
    """Reads files below one folder, which itself may be reached by a link; close it, or use it in a `with`."""

    def __init__(self, root: str, *, descriptor_relative: bool = DESCRIPTOR_RELATIVE) -> None:
        self._opened = OpenFolder(root, descriptor_relative=descriptor_relative)
        self.root = self._opened.root
        self.states: dict[str, FileState] = {}  # path as read -> its state when it was first read
        self._torn: set[str] = set()  # changed during a read, or between two
        self._refused: set[str] = set()  # not there, or of another kind, when it was to be read or listed
        # Folder -> its state and entries when it was listed first.
        self._listed: dict[str, tuple[FileState, list[os.DirEntry[str]]]] = {}

    def __enter__(self) -> FolderReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all folders."""
        self._opened.close()

    def read(self, path: str, max_bytes: int = NOTE_MAX_BYTES) -> bytes:
        """The bytes of one file; `path` is relative to the root with `/`, in the spelling of the disk or in NFC.

        Raises FileRefusedError: absent, a link in any component, a path that leaves the root, not regular, too large,
        not readable, or changed meanwhile.
        """
        try:
            return self._read(path, max_bytes)
        except FileRefusedError as refusal:
            spelled = self.spelling_on_disk(path) if refusal.absent and not path.isascii() else None
            if spelled is None or spelled == path:
                if refusal.reason in {ABSENT, LINK, NOT_REGULAR} and not self._is_folder(path):
                    self._refused.add(path)
                raise
            data = self._read(spelled, max_bytes)
            self._remember(path, self.states[spelled])
            return data

    def state(self, path: str) -> FileState | None:
        """The present state of a regular file, or None where there is none (absent, link, folder, …)."""
        try:
            found = self._opened.lstat(path)
        except (OSError, UnreadableFileError, ValueError):
            return None
        return file_state(found) if stat.S_ISREG(found.st_mode) else None

    def changed(self) -> list[str]:
        """The paths that are no longer what they were when they were read, refused or listed, or changed while they were read."""
        self._opened.forget()
        if not self._opened.is_there():
            return sorted({*self.states, *self._torn})
        found = self._torn | {path for path, before in self.states.items() if self._state_now(path) != before}
        found = found.union(*(self._changed_entries(folder) for folder in self._listed))
        # Last: what comes back before its folder was looked at again is seen here, what comes back later was seen there.
        return sorted(found | {path for path in self._refused if self._state_now(path) is not None or self._is_folder(path)})

    def list(self, folder: str) -> list[os.DirEntry[str]]:
        """The entries of one folder below the root, unsorted; `""` is the root. Raises FileRefusedError.

        They can be asked for their state until another folder is listed or a file is read.
        """
        try:
            before = file_state(self._opened.lstat(folder))
            found = self._opened.entries(folder)
        except (OSError, ValueError) as error:
            # The descriptor of a folder that may only be passed through is a bad one for listing.
            denied = isinstance(error, OSError) and error.errno == errno.EBADF
            refusal = FileRefusedError(folder, DENIED if denied else reason_of(error))
            if refusal.reason in {ABSENT, LINK, NOT_REGULAR}:
                self._refused.add(folder)
            raise refusal from None
        if folder not in self._listed:
            self._listed[folder] = (before, found)
        return found

    def descriptor(self, folder: str) -> int | None:
        """The open folder itself, reached without a link, until another is opened; None where the platform has no such thing.

        Raises FileRefusedError.
        """
        try:
            return self._opened.descriptor(folder)
        except (OSError, ValueError) as error:
            raise FileRefusedError(folder, reason_of(error)) from None

    def spelling_on_disk(self, path: str) -> str | None:
        """The path whose components equal those of `path` in NFC, as the disk spells them, or None."""
        return spelling_on_disk(path, lambda folder: [entry.name for entry in self.list(folder)])

    def _state_now(self, path: str) -> FileState | None:
        now = self.state(path)
        if now is not None or path.isascii():
            return now
        spelled = self.spelling_on_disk(path)
        return None if spelled is None else self.state(spelled)

    def _changed_entries(self, folder: str) -> set[str]:
        """The entries of a folder that came, went or became another kind of thing since it was listed, hidden ones aside."""
        before, entries = self._listed[folder]
        try:
            if file_state(self._opened.lstat(folder)) == before:
                return set()
            changed = set(map(_kind, entries)) ^ set(map(_kind, self.list(folder)))
        except (OSError, UnreadableFileError, ValueError):
            return {folder}
        return {f"{folder}/{name}".lstrip("/") for name, _, _ in changed if not name.startswith(".")}

    def _is_folder(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(self._opened.lstat(path).st_mode)
        except (OSError, UnreadableFileError, ValueError):
            return False

    def _remember(self, path: str, state: FileState) -> None:
        if self.states.setdefault(path, state) != state:
            self._torn.add(path)

    def _read(self, path: str, max_bytes: int) -> bytes:
        try:
            data, state = self._opened.read(path, max_bytes)
        except (OSError, ValueError) as error:
            raise FileRefusedError(path, reason_of(error)) from None
        except FileRefusedError as refusal:
            if refusal.reason == CHANGED:
                self._torn.add(path)
            raise
        self._remember(path, state)
        return data


def read_outside(path: str, max_bytes: int) -> bytes:
    """The bytes of a file named by the person, outside any vault; no component of its absolute path may be a link.

    Raises FileRefusedError; for a link the message prints the physical path to use instead.
    """
    top, below = from_the_top(path)
    with FolderReader(top) as reader:
        try:
            return reader.read(below, max_bytes)
        except FileRefusedError as refusal:
            advice = physical_advice(plain_absolute(path)) if refusal.reason == LINK else refusal.advice
            raise FileRefusedError(path, refusal.reason, advice) from None


def from_the_top(path: str) -> tuple[str, str]:
    """The top folder of the disk, and the path below it with `/`. Raises FileRefusedError as `plain_absolute` does."""
    drive, tail = os.path.splitdrive(plain_absolute(path))
    return drive + os.sep, tail.replace(os.sep, "/").strip("/")


def _kind(entry: os.DirEntry[str]) -> tuple[str, bool, bool]:
    return entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()
