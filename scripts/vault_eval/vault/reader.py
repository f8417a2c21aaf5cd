"""The only opener of files of a vault and of label files: no links, regular files, bounded, read whole.

Every path is opened component by component with descriptors that do not follow links, so that a folder which is
swapped for a link between two steps cannot lead elsewhere. Platforms without descriptor-relative opening get the
degraded mode: no component may be a link before and after the read, and the file read must be the file seen.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from typing import NamedTuple

from vault_eval.errors import UnreadableFileError
from vault_eval.limits import NOTE_MAX_BYTES

_FILE_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
DESCRIPTOR_RELATIVE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")

# Open folders are kept: a vault has far fewer folders than notes. Bounded below the usual limit of 1,024 files.
_OPEN_FOLDERS_MAX = 128
_NTFS_REPARSE_POINT = 0x400


class FileState(NamedTuple):
    """What tells one state of a file from the next without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class FileRefusedError(UnreadableFileError):
    """A file was not read; `reason` is the short form: absent, link, not a regular file, …"""

    def __init__(self, path: str, reason: str, advice: str = "") -> None:
        super().__init__(f"{path!r} was not read: {reason}{'; ' + advice if advice else ''}")
        self.reason = reason

    @property
    def absent(self) -> bool:
        """Nothing of that name is there."""
        return self.reason == ABSENT


ABSENT = "it does not exist"
LINK = "it is, or passes through, a link"
NOT_REGULAR = "it is not a regular file"
CHANGED = "it changed while it was read"


class FolderReader:
    """Reads files below one folder, which itself may be reached by a link; close it, or use it in a `with`."""

    def __init__(self, root: str, *, descriptor_relative: bool = DESCRIPTOR_RELATIVE) -> None:
        self.root = os.path.realpath(root)
        self.states: dict[str, FileState] = {}  # path as read -> its state at that moment
        self._relative = descriptor_relative
        self._folders: dict[str, int] = {}
        try:
            if not os.path.isdir(self.root):
                raise NotADirectoryError
            self._root_fd = os.open(self.root, _FOLDER_FLAGS) if descriptor_relative else -1
        except OSError as error:
            found = error.strerror or "no folder is there"
            raise UnreadableFileError(f"the folder {root!r} cannot be opened ({found}); name an existing folder") from None

    def __enter__(self) -> FolderReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all folders."""
        for descriptor in self._folders.values():
            os.close(descriptor)
        self._folders.clear()
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1

    def read(self, path: str, max_bytes: int = NOTE_MAX_BYTES) -> bytes:
        """The bytes of one file; `path` is relative to the root with `/`, in the spelling of the disk or in NFC.

        Raises FileRefusedError: absent, a link in any component, not regular, too large, not readable, or changed meanwhile.
        """
        try:
            return self._read(path, max_bytes)
        except FileRefusedError as refusal:
            spelled = self.spelling_on_disk(path) if refusal.absent and not path.isascii() else None
            if spelled is None or spelled == path:
                raise
            data = self._read(spelled, max_bytes)
            self.states[path] = self.states[spelled]
            return data

    def state(self, path: str) -> FileState | None:
        """The present state of a regular file, or None where there is none (absent, link, folder, …)."""
        try:
            folder, _, name = path.rpartition("/")
            if self._relative:
                found = os.stat(name, dir_fd=self._folder(folder), follow_symlinks=False)
            else:
                self._refuse_links(path)
                found = os.lstat(os.path.join(self.root, path))
        except (OSError, UnreadableFileError, ValueError):
            return None
        return _state(found) if stat.S_ISREG(found.st_mode) else None

    def changed(self) -> list[str]:
        """The paths read so far whose state on disk is another one now."""
        return sorted(path for path, before in self.states.items() if self.state(path) != before and self._spelled_state(path) != before)

    def list(self, folder: str) -> list[os.DirEntry[str]]:
        """The entries of one folder below the root, unsorted; `""` is the root. Raises FileRefusedError."""
        try:
            place: int | str = self._folder(folder) if self._relative else os.path.join(self.root, folder) if folder else self.root
            if not self._relative:
                self._refuse_links(folder)
            with os.scandir(place) as entries:
                return list(entries)
        except OSError as error:
            raise FileRefusedError(folder, _os_reason(error)) from None

    def spelling_on_disk(self, path: str) -> str | None:
        """The path whose components equal those of `path` in NFC, as the disk spells them, or None."""
        found = ""
        for part in path.split("/"):
            try:
                names = [entry.name for entry in self.list(found)]
            except FileRefusedError:
                return None
            matches = sorted(name for name in names if name == part or unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", part))
            if not matches:
                return None
            # The exact spelling wins; else the first, as in the walk of the vault.
            found = f"{found}/{part if part in matches else matches[0]}".lstrip("/")
        return found

    def _spelled_state(self, path: str) -> FileState | None:
        spelled = None if path.isascii() else self.spelling_on_disk(path)
        return None if spelled is None else self.state(spelled)

    def _read(self, path: str, max_bytes: int) -> bytes:
        try:
            descriptor, seen = self._open(path)
        except OSError as error:
            raise FileRefusedError(path, _os_reason(error)) from None
        except ValueError:
            raise FileRefusedError(path, "its name holds a NUL character") from None
        try:
            data, after = _read_regular(descriptor, path, max_bytes)
        except OSError as error:
            raise FileRefusedError(path, _os_reason(error)) from None
        finally:
            os.close(descriptor)
        if seen is not None and (seen.inode != after.inode or self.state(path) is None):
            raise FileRefusedError(path, CHANGED, "pause sync and run again")
        self.states[path] = after
        return data

    def _open(self, path: str) -> tuple[int, FileState | None]:
        if self._relative:
            folder, _, name = path.rpartition("/")
            return os.open(name, _FILE_FLAGS, dir_fd=self._folder(folder)), None
        self._refuse_links(path)
        full = os.path.join(self.root, path)
        return os.open(full, _FILE_FLAGS), _state(os.lstat(full))

    def _folder(self, folder: str) -> int:
        if not folder:
            return self._root_fd
        known = self._folders.get(folder)
        if known is not None:
            return known
        parent, _, name = folder.rpartition("/")
        descriptor = os.open(name, _FOLDER_FLAGS, dir_fd=self._folder(parent))
        if len(self._folders) >= _OPEN_FOLDERS_MAX:
            os.close(self._folders.pop(next(iter(self._folders))))
        self._folders[folder] = descriptor
        return descriptor

    def _refuse_links(self, path: str) -> None:
        place = self.root
        for part in path.split("/") if path else ():
            place = os.path.join(place, part)
            found = os.lstat(place)
            if stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & _NTFS_REPARSE_POINT:
                raise OSError(errno.ELOOP, LINK)


def read_outside(path: str, max_bytes: int) -> bytes:
    """The bytes of a file named by the person, outside any vault; no component of its absolute path may be a link.

    Raises FileRefusedError; for a link the message prints the physical path to use instead.
    """
    absolute = os.path.abspath(path)
    drive, tail = os.path.splitdrive(absolute)
    with FolderReader(drive + os.sep) as reader:
        try:
            return reader.read(tail.replace(os.sep, "/").lstrip("/"), max_bytes)
        except FileRefusedError as refusal:
            advice = ""
            if refusal.reason == LINK:
                advice = f"name the physical path instead: {os.path.realpath(absolute)!r}"
            raise FileRefusedError(path, refusal.reason, advice) from None


def _read_regular(descriptor: int, path: str, max_bytes: int) -> tuple[bytes, FileState]:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise FileRefusedError(path, NOT_REGULAR)
    if before.st_size > max_bytes:
        raise FileRefusedError(path, f"it has {before.st_size:,} bytes; at most {max_bytes:,} are read")
    data = os.read(descriptor, before.st_size + 1)
    # A short read is rare but allowed: go on until the file ends or is longer than it was.
    while 0 < len(data) < before.st_size:
        more = os.read(descriptor, before.st_size + 1 - len(data))
        if not more:
            break
        data += more
    after = _state(os.fstat(descriptor))
    if len(data) != before.st_size or after != _state(before):
        raise FileRefusedError(path, CHANGED, "pause sync and run again")
    return data, after


def _state(found: os.stat_result) -> FileState:
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _os_reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return ABSENT
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return LINK
    if isinstance(error, (IsADirectoryError, NotADirectoryError)):
        return NOT_REGULAR
    if isinstance(error, PermissionError):
        return "permission denied"
    return (error.strerror or type(error).__name__).lower()
