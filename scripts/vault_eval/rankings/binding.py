"""Hold a run to the bytes it began with: labels, index, and every page that was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_eval.digests import sha256_hex
from vault_eval.errors import ChangedError
from vault_eval.vault.paths import quoted
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError

_ADVICE = "the figures would describe neither state: pause sync and run again"
_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class BoundFile:
    """A file whose bytes must stay: its name for messages, their SHA-256, and how to compute it again.

    `again` gives None where the file is gone or is no longer what it was.
    """

    name: str
    sha256: str
    again: Callable[[], str | None]


def label_file(name: str, data: bytes, reread: Callable[[], bytes]) -> BoundFile:
    """A label source bound to the bytes that were parsed."""
    # Not cut, as other text is: the end of a long path is its file.
    return BoundFile(f"the label file {name!r}", sha256_hex(data), lambda: sha256_hex(reread()))


def refuse_changes(files: Sequence[BoundFile], reader: FolderReader) -> None:
    """Raises ChangedError naming what changed since it was read: a label source, the index, or a page."""
    for file in files:
        try:
            same = file.again() == file.sha256
        except FileRefusedError:
            same = False
        if not same:
            raise ChangedError(f"{file.name} changed while it was measured; {_ADVICE}")
    changed = reader.changed()
    if changed:
        rest = len(changed) - _SHOWN_MAX
        named = ", ".join(map(quoted, changed[:_SHOWN_MAX])) + (f" and {rest} more" if rest > 0 else "")
        raise ChangedError(f"{named} changed while the vault was measured; {_ADVICE}")
