"""How the disk spells a path: folders synced between systems hold names in composed and decomposed Unicode."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from vault_eval.vault.refusal import FileRefusedError


def spelling_on_disk(path: str, names_in: Callable[[str], Sequence[str]]) -> str | None:
    """The path whose components equal those of `path` in NFC, as the disk spells them, or None.

    Of several the exact spelling wins, then that in NFC, then the first: the order in which the vault is walked. Where a
    folder cannot be listed, the rest stays as it is, so that a read says why. `names_in(folder)` raises FileRefusedError.
    """
    found = [""]
    parts = path.split("/")
    for number, part in enumerate(parts):
        spelled: list[str] = []
        for folder in found:
            try:
                names = names_in(folder)
            except FileRefusedError as refusal:
                if not refusal.absent:
                    return "/".join(filter(None, [folder, *parts[number:]]))
                continue
            spelled += [f"{folder}/{name}" if folder else name for name in _matches(part, names)]
        found = spelled
    return found[0] if found else None


def _matches(part: str, names: Sequence[str]) -> list[str]:
    wanted = unicodedata.normalize("NFC", part)
    matches = [name for name in names if name == part or unicodedata.normalize("NFC", name) == wanted]
    return sorted(matches, key=lambda name: (name != part, name != wanted, name))
