"""The only writer of files of the vault and of label files: what a person asked for by name, and never through a link.

A file is replaced only while it still holds the bytes that the change was made from.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import stat
from collections.abc import Iterator

from vault_eval.atomic_file import write_atomically
from vault_eval.errors import ChangedError, UsageError, VaultEvalError
from vault_eval.limits import NOTE_MAX_BYTES
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError, reason_of

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_BY_THE_UMASK = 0o666


def replace_file(root: str, path: str, before: bytes, after: bytes) -> None:
    """Put `after` in the place of the file that holds `before`, at once or not at all; its mode stays.

    `path` is relative to `root` with `/`. Raises ChangedError where the file no longer holds `before`, VaultEvalError for a
    link in any component, a hard link, a write-protected file, and whatever else cannot be read or written.
    """
    # A reader of its own: one that was open before would show a folder that was moved away meanwhile.
    with FolderReader(root) as reader, _as_not_written(root, path):
        if reader.read(path, max(len(before), NOTE_MAX_BYTES)) != before:
            raise _changed(root, path)
        spelled = path if reader.state(path) else reader.spelling_on_disk(path) or path
        state = reader.states[spelled]
        below, place = _place(reader, spelled)
        found = os.stat(place, dir_fd=below, follow_symlinks=False)
        _refuse_protected(path, found)

        def last_look() -> None:
            if reader.state(spelled) != state:
                raise _changed(root, path)

        mode, whole = stat.S_IMODE(found.st_mode), _whole(root, path)
        write_atomically(place, [after], mode, below=below, shown=whole, last_look=last_look)


def create_file(root: str, path: str, data: bytes) -> None:
    """Make a new file below `root`, in a folder that is there. Raises UsageError where something has that name already,
    VaultEvalError for a link on the way to it, a folder that is missing, and whatever else cannot be written.
    """
    with FolderReader(root) as reader, _as_not_written(root, path):
        try:
            below, place = _place(reader, path)
        except FileRefusedError as refusal:
            advice = "make that folder first, or name another" if refusal.absent else refusal.advice
            raise FileRefusedError(path, f"its folder: {refusal.reason}", advice) from None
        try:
            descriptor = os.open(place, _NEW_FILE, _BY_THE_UMASK, dir_fd=below)
        except FileExistsError:
            raise UsageError(f"{_whole(root, path)!r} is there already; name another place: nothing is overwritten") from None
        except OSError as error:
            raise FileRefusedError(path, reason_of(error)) from None
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(place, dir_fd=below)
            raise FileRefusedError(path, reason_of(error), "free some space or name another place") from None


def _place(reader: FolderReader, path: str) -> tuple[int | None, str]:
    """The open folder of a file and the name in it; where folders cannot be open, the whole path."""
    folder, name = posixpath.split(path)
    below = reader.descriptor(folder)
    return below, _whole(reader.root, path) if below is None else name


def _refuse_protected(path: str, found: os.stat_result) -> None:
    if not found.st_mode & stat.S_IWUSR:
        raise FileRefusedError(path, "it is write-protected", "allow its owner to write it")
    if found.st_nlink > 1:
        reason = "it has a second name (a hard link), which would keep the old text"
        raise FileRefusedError(path, reason, "make it a file of its own first")


@contextlib.contextmanager
def _as_not_written(root: str, path: str) -> Iterator[None]:
    """Whatever is refused on the way to a file is told as what it means here: it was not written."""
    try:
        yield
    except FileRefusedError as refusal:
        advice = f"; {refusal.advice}" if refusal.advice else ""
        raise VaultEvalError(f"{_whole(root, path)!r} could not be written: {refusal.reason}{advice}") from None


def _whole(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/"))


def _changed(root: str, path: str) -> ChangedError:
    return ChangedError(f"{_whole(root, path)!r} changed since it was read, and was left as it is; run the command again")
