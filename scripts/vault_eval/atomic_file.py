"""Files that are whole or absent: written under a temporary name, flushed to disk, renamed into place."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from vault_eval.errors import VaultEvalError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
_GROWING_FILE = os.O_RDWR | os.O_CREAT | os.O_APPEND | _PLAIN
Part: TypeAlias = "bytes | memoryview[int]"


def write_atomically(
    path: str,
    parts: Iterable[Part],
    mode: int = PRIVATE_FILE,
    *,
    below: int | None = None,
    shown: str | None = None,
    last_look: Callable[[], None] | None = None,
) -> None:
    """Write `parts` as the file `path`: whatever happens, the old file or the new one is there, never a mixture.

    `path` is relative to the open folder `below` where one is given; messages name it `shown` then. `last_look` is called
    when all is written but for the name: what it raises leaves the old file. Raises VaultEvalError that names the path and
    the reason (full disk, read-only folder, …); the temporary file is removed.
    """
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{os.urandom(8).hex()}.tmp")
    at = {} if below is None else {"dir_fd": below}
    try:
        descriptor = os.open(temporary, _NEW_FILE, mode, **at)
        with os.fdopen(descriptor, "wb", buffering=1 << 20) as file:
            for part in parts:
                file.write(part)
            file.flush()
            _set_mode(file.fileno(), mode)
            os.fsync(file.fileno())
        if last_look is not None:
            last_look()
        os.replace(temporary, path, **{f"{side}_{key}": value for side in ("src", "dst") for key, value in at.items()})
        _sync_folder(folder, at)
    except OSError as error:
        problem = f"{shown or path!r} could not be written: {error.strerror}"
        raise VaultEvalError(f"{problem}; free some space or name another place") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary, **at)


def append_line(path: str, line: bytes) -> None:
    """Add one line to a file that only ever grows, flushed to disk; `line` has no line end of its own.

    A line that a crash or a full disk cut short is closed first, so that it swallows nothing. Raises VaultEvalError.
    """
    make_private_folder(os.path.dirname(path))
    try:
        with os.fdopen(os.open(path, _GROWING_FILE, PRIVATE_FILE), "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            is_cut_short = size > 0 and file.seek(size - 1) >= 0 and file.read(1) != b"\n"
            whole = (b"\n" if is_cut_short else b"") + line + b"\n"
            # One write, so that two processes never mix their lines; a disk that fills up takes a part of it without an error.
            if file.write(whole) < len(whole):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
    except OSError as error:
        raise VaultEvalError(f"{path!r} could not be written: {error.strerror}; free some space or name another place") from None


def make_private_folder(path: str) -> None:
    """Make a folder and the parents it lacks, each readable by its owner alone. Raises VaultEvalError with the reason."""
    missing: list[str] = []
    place = os.path.abspath(path)
    while not os.path.isdir(place) and place not in missing:
        missing.append(place)
        place = os.path.dirname(place)
    try:
        for folder in reversed(missing):
            _make_folder(folder)
    except OSError as error:
        problem = f"the folder {path!r} could not be made: {error.strerror}"
        raise VaultEvalError(f"{problem}; name another place with --data or --out") from None


def _make_folder(folder: str) -> None:
    # `os.makedirs` gives its mode to the last folder only.
    try:
        os.mkdir(folder, PRIVATE_FOLDER)
    except FileExistsError:  # another process was quicker, unless it is a file
        if not os.path.isdir(folder):
            raise


def _set_mode(descriptor: int, mode: int) -> None:
    # The file was made with this mode but for the bits that the umask takes; not every file system knows modes.
    if hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, mode)


def _sync_folder(folder: str, at: Mapping[str, int]) -> None:
    # Not every platform lets a folder be opened; the rename itself is atomic there all the same.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY, **at)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
