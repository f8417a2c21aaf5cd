"""The only opener of files of a vault and of label files: no links, regular files, bounded, read whole.

Every path is opened component by component with descriptors that do not follow links, so that a folder which is
swapped for a link between two steps cannot lead elsewhere. Platforms without descriptor-relative opening get the
degraded mode: no component may be a link before and after the read, and the file read must be the file seen.
"""

from __future__ import annotations

import errno
import functools
import operator
import os
import stat
from typing import NamedTuple

from vault_eval.errors import UnreadableFileError
from vault_eval.limits import NOTE_MAX_BYTES
from vault_eval.vault.refusal import (
    ABSENT,
    CHANGED,
    DENIED,
    LINK,
    NOT_REGULAR,
    FileRefusedError,
    changed_while_read,
    no_folder,
    physical_advice,
    plain_absolute,
    reason_of,
    refuse_unplain,
)
from vault_eval.vault.spelling import spelling_on_disk

__all__ = [
    "DESCRIPTOR_RELATIVE",
    "LINK",
    "NOT_REGULAR",
    "FileRefusedError",
    "FileState",
    "FolderReader",
    "file_state",
    "read_outside",
]

DESCRIPTOR_RELATIVE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")

# Open folders are kept: a vault has far fewer folders than notes. Bounded below the usual limit of 1,024 files.
_OPEN_FOLDERS_MAX = 128
_NTFS_REPARSE_POINT = 0x400
_ANYONE_MAY_READ = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


def _flags(*names: str) -> int:
    return functools.reduce(operator.or_, (getattr(os, name, 0) for name in names))


_FILE_FLAGS = _flags("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
_FOLDER_FLAGS = _flags("O_RDONLY", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC")
# A folder that may be passed through, but not listed, as home folders are on shared machines.
_SEARCH_FLAGS = _flags("O_PATH", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC") if hasattr(os, "O_PATH") else None


class FileState(NamedTuple):
    """What tells one state of a file from the next without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class FolderReader:
    """Reads files below one folder, which itself may be reached by a link; close it, or use it in a `with`."""

    def __init__(self, root: str, *, descriptor_relative: bool = DESCRIPTOR_RELATIVE) -> None:
        self.root = os.path.realpath(root)
        self.states: dict[str, FileState] = {}  # path as read -> its state when it was first read
        self._torn: set[str] = set()  # changed during a read, or between two
        self._refused: set[str] = set()  # not there, or of another kind, when it was to be read or listed
        self._listed: dict[
            str, tuple[FileState, list[os.DirEntry[str]]]
        ] = {}  # folder -> its state and entries when listed first
        self._relative = descriptor_relative
        self._folders: dict[str, int] = {}
        try:
            self._identity = os.stat(self.root)
            if not stat.S_ISDIR(self._identity.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "a file is there")
            self._root_fd = _open_folder(self.root, None) if descriptor_relative else -1
        except OSError as error:
            found = "nothing is there" if isinstance(error, FileNotFoundError) else error.strerror
            raise UnreadableFileError(f"the folder {root!r} cannot be opened ({found}); name an existing folder") from None

    def __enter__(self) -> FolderReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all folders."""
        self._forget_folders()
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1

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
            found = self._lstat(path)
        except (OSError, UnreadableFileError, ValueError):
            return None
        return file_state(found) if stat.S_ISREG(found.st_mode) else None

    def changed(self) -> list[str]:
        """The paths that are no longer what they were when they were read, refused or listed, or changed while they were read."""
        # Folders that are still open would show a folder that was moved away, not the one that is there now.
        self._forget_folders()
        if not self._root_is_there():
            return sorted({*self.states, *self._torn})
        found = self._torn | {path for path, before in self.states.items() if self._state_now(path) != before}
        found = found.union(*(self._changed_entries(folder) for folder in self._listed))
        # Last: what comes back before its folder was looked at again is seen here, what comes back later was seen there.
        return sorted(found | {path for path in self._refused if self._state_now(path) is not None or self._is_folder(path)})

    def list(self, folder: str) -> list[os.DirEntry[str]]:
        """The entries of one folder below the root, unsorted; `""` is the root. Raises FileRefusedError.

        They can be asked for their state until another folder is listed or a file is read.
        """
        refuse_unplain(folder)
        try:
            before = file_state(self._lstat(folder))
            found = _entries(self._folder(folder) if self._relative else os.path.join(self.root, folder))
            if not self._relative:
                self._lstat(folder)
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
        refuse_unplain(folder)
        try:
            if self._relative:
                return self._folder(folder)
            self._lstat(folder)
        except (OSError, ValueError) as error:
            raise FileRefusedError(folder, reason_of(error)) from None
        return None

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
            if file_state(self._lstat(folder)) == before:
                return set()
            changed = set(map(_kind, entries)) ^ set(map(_kind, self.list(folder)))
        except (OSError, UnreadableFileError, ValueError):
            return {folder}
        return {f"{folder}/{name}".lstrip("/") for name, _, _ in changed if not name.startswith(".")}

    def _is_folder(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(self._lstat(path).st_mode)
        except (OSError, UnreadableFileError, ValueError):
            return False

    def _root_is_there(self) -> bool:
        try:
            return os.path.samestat(os.stat(self.root), self._identity)
        except OSError:
            return False

    def _remember(self, path: str, state: FileState) -> None:
        if self.states.setdefault(path, state) != state:
            self._torn.add(path)

    def _read(self, path: str, max_bytes: int) -> bytes:
        try:
            before = self._lstat(path)
            if not stat.S_ISREG(before.st_mode):  # opening a device may already do something
                raise FileRefusedError(path, LINK if stat.S_ISLNK(before.st_mode) else NOT_REGULAR)
            data, state = self._read_open(path, max_bytes)
        except (OSError, ValueError) as error:
            raise FileRefusedError(path, reason_of(error)) from None
        except FileRefusedError as refusal:
            if refusal.reason == CHANGED:
                self._torn.add(path)
            raise
        self._remember(path, state)
        return data

    def _read_open(self, path: str, max_bytes: int) -> tuple[bytes, FileState]:
        descriptor = self._open(path)
        try:
            data, after = _read_regular(descriptor, path, max_bytes)
        finally:
            os.close(descriptor)
        if not self._relative and not self._is_there(path, after):
            raise changed_while_read(path)
        return data, file_state(after)

    def _is_there(self, path: str, read: os.stat_result) -> bool:
        try:
            return os.path.samestat(self._lstat(path), read)
        except OSError:
            return False

    def _open(self, path: str) -> int:
        if not self._relative:
            return os.open(os.path.join(self.root, path), _FILE_FLAGS)
        folder, _, name = path.rpartition("/")
        return os.open(name, _FILE_FLAGS, dir_fd=self._folder(folder))

    def _lstat(self, path: str) -> os.stat_result:
        refuse_unplain(path)
        if not self._relative:
            return _lstat_without_links(self.root, path)
        folder, _, name = path.rpartition("/")
        return os.stat(name or ".", dir_fd=self._folder(folder), follow_symlinks=False)

    def _folder(self, folder: str) -> int:
        if self._root_fd < 0:  # which would be the current folder
            raise RuntimeError("the reader is closed")
        known = self._folders.get(folder)
        if known is not None:
            return known
        descriptor, place = self._root_fd, ""
        for name in folder.split("/") if folder else ():
            place = f"{place}/{name}" if place else name
            known = self._folders.get(place)
            descriptor = self._keep(place, _open_folder(name, descriptor)) if known is None else known
        return descriptor

    def _keep(self, folder: str, descriptor: int) -> int:
        if len(self._folders) >= _OPEN_FOLDERS_MAX:
            os.close(self._folders.pop(next(iter(self._folders))))
        self._folders[folder] = descriptor
        return descriptor

    def _forget_folders(self) -> None:
        while self._folders:
            os.close(self._folders.popitem()[1])


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


def _entries(place: int | str) -> list[os.DirEntry[str]]:
    with os.scandir(place) as entries:
        return list(entries)


def _open_folder(name: str, parent: int | None) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except PermissionError:
        if _SEARCH_FLAGS is None:
            raise
        return os.open(name, _SEARCH_FLAGS, dir_fd=parent)
    except NotADirectoryError:  # what Linux says of a link as well
        raise no_folder(os.stat(name, dir_fd=parent, follow_symlinks=False)) from None


def _lstat_without_links(root: str, path: str) -> os.stat_result:
    place = root
    found = os.lstat(root)
    for part in path.split("/") if path else ():
        place = os.path.join(place, part)
        try:
            found = os.lstat(place)
        except NotADirectoryError:
            raise no_folder(found) from None
        if stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & _NTFS_REPARSE_POINT:
            raise OSError(errno.ELOOP, LINK)
    return found


def _read_regular(descriptor: int, path: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise FileRefusedError(path, NOT_REGULAR)
    if not before.st_mode & _ANYONE_MAY_READ:
        # The superuser could all the same: the same vault must read alike for everyone.
        raise FileRefusedError(path, "permission denied: nobody may read it")
    if before.st_size > max_bytes:
        raise FileRefusedError(path, f"it has {before.st_size:,} bytes; at most {max_bytes:,} are read")
    parts: list[bytes] = []
    left = before.st_size + 1  # one more is asked for: who gets it knows that the file has grown
    while left > 1 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    after = os.fstat(descriptor)
    if left != 1 or file_state(after) != file_state(before):
        raise changed_while_read(path)
    return b"".join(parts), after


def file_state(found: os.stat_result) -> FileState:
    """The state that the system tells of a file."""
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
