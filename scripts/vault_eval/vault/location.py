"""Where a vault is: its physical root, its id, and what lies inside it by file identity."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vault_eval.digests import sha256_hex
from vault_eval.errors import UnsafePathError, UsageError

_ID_DIGITS = 16
# The folder that Obsidian makes in a vault when it first opens it.
VAULT_MARK = ".obsidian"


def vault_root(path: str) -> str:
    """The physical path of a vault folder, all links resolved once. Raises UsageError where there is no folder."""
    # An empty path, as an unset variable of a shell gives, would be the current folder.
    found = "an empty path" if not path else "a NUL character" if "\0" in path else ""
    root = "" if found else os.path.realpath(path)
    if not os.path.isdir(root):
        found = found or f"{_found(root)} is there"
        raise UsageError(f"--vault {path!r}: {found}; name the folder that holds your notes")
    return root


def _found(place: str) -> str:
    try:
        os.stat(place)
    except PermissionError:
        return "a place that may not be entered"
    except OSError:
        return "nothing"
    return "a file"


def vault_id(root: str) -> str:
    """The name under which data about this vault is kept: hexadecimal digits of a digest of its physical path."""
    return sha256_hex(os.fsencode(os.path.realpath(root)))[:_ID_DIGITS]


def refuse_inside_vault(path: str, root: str, option: str) -> None:
    """Raises UnsafePathError where `path`, or any folder above it, is the vault by file identity.

    Spelling does not matter: letter case, `..`, links and a bind mount of the vault are all seen through, since the
    device and inode of every existing ancestor are compared with those of the vault.
    """
    vault = os.stat(root)
    for place in _and_above(path, option):
        try:
            found = os.stat(place)
        except OSError:
            continue
        if os.path.samestat(found, vault):
            raise _inside(path, root, option)


def refuse_inside_any_vault(path: str, option: str) -> None:
    """Raises UnsafePathError where `path`, or any folder above it, holds `.obsidian`: a vault, although nobody named it."""
    for place in _and_above(path, option):
        if os.path.lexists(os.path.join(place, VAULT_MARK)):
            raise _inside(path, place, option)


def _and_above(path: str, option: str) -> Iterator[str]:
    """The physical place of `path`, and each folder above it."""
    if "\0" in path:
        raise UnsafePathError(f"{option} {path!r} holds a NUL character; name another place")
    place = os.path.realpath(path)
    yield place
    while place != (place := os.path.dirname(place)):
        yield place


def _inside(path: str, root: str, option: str) -> UnsafePathError:
    problem = f"{option} {path!r} lies inside the vault {root!r}"
    return UnsafePathError(f"{problem}; name a place outside it: nothing is written into a vault")
