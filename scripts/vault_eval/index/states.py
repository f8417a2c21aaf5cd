"""File states of the notes in an index, kept beside it: they let an unchanged note be told without reading it.

They are only a short cut: a state that is missing, or too young to be trusted, makes the note be read and hashed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TypeAlias

from vault_eval import strict_json

STATES_NAME = "states.json"
NoteStates: TypeAlias = Mapping[str, tuple[int, int, int, int]]

_COLUMNS = ("pages", "sizes", "mtimes", "ctimes", "inodes")
# A file written twice within one tick of the clock may keep its state; one changed this shortly before the build is not trusted.
_SETTLED_NS = 2_000_000_000


def states_text(index_sha256: str, states: NoteStates, started_ns: int) -> bytes:
    """The file's bytes: columns of pages, sizes, mtimes, ctimes and inodes, without notes changed just before `started_ns`."""
    settled = [(page, *state) for page, state in states.items() if max(state[1], state[2]) < started_ns - _SETTLED_NS]
    columns = dict(zip(_COLUMNS, zip(*settled, strict=True), strict=False))
    return strict_json.encode(strict_json.dumps({"index": index_sha256, **columns}))


def read_states(folder: str, index_sha256: str) -> NoteStates:
    """The states kept for this very index; none where the file is absent, damaged or belongs to another one."""
    try:
        with open(os.path.join(folder, STATES_NAME), "rb") as file:
            # The lenient reader is three times as quick; what it lets through is refused below.
            content = json.loads(file.read().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict) or content.get("index") != index_sha256:
        return {}
    columns = [column for column in map(content.get, _COLUMNS) if isinstance(column, list)]
    kinds = [set(map(type, column)) for column in columns]
    if kinds != [{str}, {int}, {int}, {int}, {int}] or len(set(map(len, columns))) != 1:
        return {}
    return {page: (size, mtime, ctime, inode) for page, size, mtime, ctime, inode in zip(*columns, strict=True)}
