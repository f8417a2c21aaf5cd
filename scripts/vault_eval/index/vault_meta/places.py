"""Where an index of this format lies, and how its files are read: as safely as notes are."""

from __future__ import annotations

import os
import shlex

from vault_eval.errors import IndexUnusableError
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.snapshot import VaultSnapshot

FOLDER_NAME = ".vault-meta"
INDEX_PATH = "bm25/index.json"
# The programs of claude-obsidian that make such an index, in this order.
SCRIPTS = ("contextual-prefix.py", "bm25-index.py")

_INDEX_FOLDER, _INDEX_NAME = INDEX_PATH.split("/")


def vault_meta_folder(place: str) -> str | None:
    """The folder of the index that `place` is or leads to, or None where there is none.

    `place` may be that folder, the vault that holds it, or the `bm25` in it.
    """
    absolute = os.path.abspath(place)
    above = [os.path.dirname(absolute)] if os.path.basename(absolute) == _INDEX_FOLDER else []
    folders = (absolute, os.path.join(absolute, FOLDER_NAME), *above)
    return next((one for one in folders if os.path.lexists(os.path.join(one, _INDEX_FOLDER, _INDEX_NAME))), None)


def unusable(problem: str, vault: str) -> IndexUnusableError:
    """The refusal of an index of this format, with the lines that make it anew and the way round it."""
    options = ("--all --no-llm", "build")
    scripts = [f"{name} --vault {shlex.quote(vault)} {what}" for name, what in zip(SCRIPTS, options, strict=True)]
    advice = (
        "Build it with these commands, in the folder of claude-obsidian; or leave it as it is, and measure keyword on the index "
        "that vault-eval builds, without --index:"
    )
    return IndexUnusableError("\n".join([problem, advice, *(f"  python3 scripts/{one}" for one in scripts)]), says_remedy=True)


class VaultMetaFolder:
    """Reads files of one index folder without following a link; close it.

    Right below the vault, they are read by the vault's own reader, so that a change of any of them is found with those of notes.
    """

    def __init__(self, folder: str, vault: VaultSnapshot) -> None:
        self.path = os.path.abspath(folder)
        parent, name = os.path.split(self.path)
        self._is_in_vault = os.path.isdir(parent) and os.path.samefile(parent, vault.root)
        self._reader = vault.reader if self._is_in_vault else FolderReader(self.path)
        self._prefix = f"{name}/" if self._is_in_vault else ""

    def read(self, path: str, max_bytes: int) -> bytes:
        """The bytes of one file; `path` is relative to the index folder. Raises FileRefusedError."""
        return self._reader.read(self._prefix + path, max_bytes)

    def is_unchanged(self) -> bool:
        """Whether every file is what it was when it was read; of a folder in the vault, its reader tells."""
        return self._is_in_vault or not self._reader.changed()

    def close(self) -> None:
        """Release a reader of our own."""
        if not self._is_in_vault:
            self._reader.close()
