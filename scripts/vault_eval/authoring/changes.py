"""What a command would write: shown as a diff, and written only while each file still holds what the diff was made from."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_eval.labels.load import LabelDocument
from vault_eval.vault.note_text import decode
from vault_eval.vault.reader import from_the_top
from vault_eval.vault.writer import create_file, replace_file


@dataclass(frozen=True, slots=True)
class Change:
    """One file: its path below `root` with `/`, its bytes now (None where it is not there), and what they would become."""

    root: str
    path: str
    before: bytes | None
    after: bytes

    @property
    def place(self) -> str:
        """The whole path of the file."""
        return os.path.join(self.root, *self.path.split("/"))

    def diff(self) -> Iterator[str]:
        """A unified diff, a line each without its line end; text as it stands in the file, to be shown escaped."""
        old, new = (decode(data or b"").removesuffix("\n").split("\n") for data in (self.before, self.after))
        if not self.before:
            old = []
        yield from difflib.unified_diff(old, new, f"a/{self.path}", f"b/{self.path}", lineterm="")


def change_of(document: LabelDocument, root: str, after: bytes) -> Change:
    """The change of a label file that was opened below the vault `root`, or outside it."""
    if document.path_in_vault is not None:
        return Change(root, document.path_in_vault, document.data, after)
    return Change(*from_the_top(document.name), document.data, after)


def write_changes(changes: Sequence[Change]) -> None:
    """Write each file at once or not at all. Raises ChangedError, FileRefusedError or VaultEvalError; those before it stay."""
    for change in changes:
        if change.before is None:
            create_file(change.root, change.path, change.after)
        else:
            replace_file(change.root, change.path, change.before, change.after)
