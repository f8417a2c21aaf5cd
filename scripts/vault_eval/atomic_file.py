"""Files that are whole or absent: written under a temporary name, flushed to disk, renamed into place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from typing import TypeAlias

from vault_eval.errors import VaultEvalError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
Part: TypeAlias = "bytes | memoryview[int]"


def write_atomically(path: str, parts: Iterable[Part], mode: int = PRIVATE_FILE) -> None:
    """Write `parts` as the file `path`: whatever happens, the old file or the new one is there, never a mixture.

    Raises VaultEvalError that names the path and the reason (full disk, read-only folder, …); the temporary file is removed.
    """
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{os.urandom(8).hex()}.tmp")
    try:
        descriptor = os.open(temporary, _NEW_FILE, mode)
        with os.fdopen(descriptor, "wb", buffering=1 << 20) as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(folder)
    except OSError as error:
        raise VaultEvalError(f"{path!r} could not be written: {error.strerror}; free some space or name another place") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


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


def _sync_folder(folder: str) -> None:
    # Not every platform lets a folder be opened; the rename itself is atomic there all the same.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
