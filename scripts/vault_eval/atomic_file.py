"""Files that are whole or absent: written under a temporary name, flushed to disk, renamed into place."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from typing import TypeAlias

from vault_eval.errors import VaultEvalError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
Part: TypeAlias = "bytes | memoryview[int]"


def write_atomically(path: str, parts: Iterable[Part], mode: int = PRIVATE_FILE) -> None:
    """Write `parts` as the file `path`: whatever happens, the old file or the new one is there, never a mixture.

    Raises VaultEvalError that names the path and the reason (full disk, read-only folder, …); the temporary file is removed.
    """
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), mode)
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
    """Make a folder and its parents, readable by its owner alone. Raises VaultEvalError with the reason."""
    try:
        os.makedirs(path, mode=PRIVATE_FOLDER, exist_ok=True)
    except OSError as error:
        raise VaultEvalError(f"the folder {path!r} could not be made: {error.strerror}; name another place with --data or --out") from None


def _sync_folder(folder: str) -> None:
    # Not every platform lets a folder be opened; the rename itself is atomic there all the same.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
