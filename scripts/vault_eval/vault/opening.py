"""Folders opened component by component with descriptors that do not follow links, and files read through them.

A folder that is swapped for a link between two steps cannot lead elsewhere so. Platforms without descriptor-relative opening
get the degraded mode: no component may be a link before and after the read, and the file read must be the file seen.
"""

from __future__ import annotations

import errno
import functools
import operator
import os
import stat
from typing import NamedTuple

from vault_eval.errors import UnreadableFileError
from vault_eval.vault.refusal import LINK, NOT_REGULAR, FileRefusedError, changed_while_read, no_folder, refuse_unplain

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


class OpenFolder:
    """One folder, which itself may be reached by a link, and all below it; close it when it is done with.

    Paths are relative to it with `/`, in the spelling of the disk; `""` is the folder itself. All methods that take one raise
    FileRefusedError for a path that is not plain, and OSError or ValueError as the system does: a link in any component is one.
    """

    def __init__(self, root: str, *, descriptor_relative: bool) -> None:
        self.root = os.path.realpath(root)
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

    def close(self) -> None:
        """Release all folders."""
        self.forget()
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1

    def forget(self) -> None:
        """Release the folders below: one that is still open would show a folder that was moved away, not the one there now."""
        while self._folders:
            os.close(self._folders.popitem()[1])

    def is_there(self) -> bool:
        """Whether the folder is still found by its name."""
        try:
            return os.path.samestat(os.stat(self.root), self._identity)
        except OSError:
            return False

    def lstat(self, path: str) -> os.stat_result:
        """What the system says of a file or a folder; of a link that is the last component, what it says of the link."""
        refuse_unplain(path)
        if not self._relative:
            return _lstat_without_links(self.root, path)
        folder, _, name = path.rpartition("/")
        return os.stat(name or ".", dir_fd=self._folder(folder), follow_symlinks=False)

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        """What is in a folder, unsorted; entries can be asked for their state until another folder is opened."""
        found = _entries(self._folder(folder) if self._relative else os.path.join(self.root, folder))
        if not self._relative:
            self.lstat(folder)
        return found

    def descriptor(self, folder: str) -> int | None:
        """The open folder itself until another is opened; None where the platform has no such thing."""
        refuse_unplain(folder)
        if self._relative:
            return self._folder(folder)
        self.lstat(folder)
        return None

    def read(self, path: str, max_bytes: int) -> tuple[bytes, FileState]:
        """All bytes of a regular file, and its state. Raises FileRefusedError for one that is none, too large, or changing."""
        before = self.lstat(path)
        if not stat.S_ISREG(before.st_mode):  # opening a device may already do something
            raise FileRefusedError(path, LINK if stat.S_ISLNK(before.st_mode) else NOT_REGULAR)
        descriptor = self._open(path)
        try:
            data, after = _read_regular(descriptor, path, max_bytes)
        finally:
            os.close(descriptor)
        if not self._relative and not self._is_same(path, after):
            raise changed_while_read(path)
        return data, file_state(after)

    def _is_same(self, path: str, read: os.stat_result) -> bool:
        try:
            return os.path.samestat(self.lstat(path), read)
        except OSError:
            return False

    def _open(self, path: str) -> int:
        if not self._relative:
            return os.open(os.path.join(self.root, path), _FILE_FLAGS)
        folder, _, name = path.rpartition("/")
        return os.open(name, _FILE_FLAGS, dir_fd=self._folder(folder))

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


def file_state(found: os.stat_result) -> FileState:
    """The state that the system tells of a file."""
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


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
