"""File states of the notes in an index, kept beside it: they let an unchanged note be told without reading it.

They are only a short cut: a state that is missing, or too young to be trusted, makes the note be read and hashed again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeAlias

from vault_eval import strict_json

STATES_NAME = "states.json"
NoteStates: TypeAlias = Mapping[str, tuple[int, int, int, int]]

# A file written twice within one tick of the clock may keep its state; one changed this shortly before the build is not trusted.
_SETTLED_NS = 2_000_000_000


def states_text(index_sha256: str, states: NoteStates, started_ns: int) -> bytes:
    """The file's bytes: for each page size, mtime, ctime and inode, unless it changed just before `started_ns`."""
    settled = {page: list(state) for page, state in states.items() if max(state[1], state[2]) < started_ns - _SETTLED_NS}
    return strict_json.encode(strict_json.dumps({"index": index_sha256, "states": settled}))


def read_states(folder: str, index_sha256: str) -> NoteStates:
    """The states kept for this very index; none where the file is absent, damaged or belongs to another one."""
    try:
        with open(os.path.join(folder, STATES_NAME), "rb") as file:
            content = strict_json.loads(file.read().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict) or content.get("index") != index_sha256:
        return {}
    states = content.get("states")
    if not isinstance(states, dict):
        return {}
    return {page: (row[0], row[1], row[2], row[3]) for page, row in states.items() if _is_state(row)}  # type: ignore[index, misc]


def _is_state(row: object) -> bool:
    return isinstance(row, list) and len(row) == 4 and all(isinstance(item, int) for item in row)  # size, mtime, ctime, inode
