"""What a command would write: shown as a diff, and written only while each file still holds what the diff was made from."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from vault_eval.errors import UsageError
from vault_eval.labels.load import LabelDocument
from vault_eval.vault.note_text import decode
from vault_eval.vault.reader import from_the_top
from vault_eval.vault.writer import create_file, replace_file

# Of what two lines share so much is shown: where they begin, and beside the place at which they differ.
_HEAD_CHARACTERS, _AROUND_CHARACTERS = 60, 40


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
        """A unified diff to be read, a line each without its line end; text as it stands in the file, to be shown escaped.

        Lines beside a change are cut, and so is what a line shares with the one whose place it takes.
        """
        old, new = (decode(data).removesuffix("\n").split("\n") if data else [] for data in (self.before, self.after))
        yield f"--- {os.devnull if self.before is None else f'a/{self.path}'}"
        yield f"+++ b/{self.path}"
        for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes():
            yield f"@@ -{group[0][1] + 1},{group[-1][2] - group[0][1]} +{group[0][3] + 1},{group[-1][4] - group[0][3]} @@"
            for tag, *(first, after, new_first, new_after) in group:
                yield from _hunk(tag, old[first:after], new[new_first:new_after])


def change_of(document: LabelDocument, root: str, after: bytes) -> Change:
    """The change of a label file that was opened below the vault `root`, or outside it."""
    if document.path_in_vault is not None:
        return Change(root, document.path_in_vault, document.data, after)
    return Change(*from_the_top(document.name), document.data, after)


def new_label_file(path: str, text: str, vault_root: str) -> Change:
    """The change that makes a label file which is not there yet, in the vault or outside it.

    Raises UsageError for a name that is not one of JSON, and for a hidden place in the vault.
    """
    if not path.lower().endswith(".json"):
        raise UsageError(f"{path!r}: a first label file is JSON; end its name in .json")
    return _new(Change(*from_the_top(path), None, text.encode("utf-8")), vault_root)


def new_label_note(page: str, text: str, vault_root: str) -> Change:
    """The change that makes a note which is not there yet. Raises UsageError for a hidden place."""
    return _new(Change(vault_root, page, None, text.encode("utf-8")), vault_root)


def _new(change: Change, vault_root: str) -> Change:
    place, vault = os.path.realpath(change.place), os.path.join(vault_root, "")
    if place.startswith(vault) and any(part.startswith(".") for part in place[len(vault) :].split(os.sep)):
        problem = f"{change.place!r}: it lies in a hidden file or folder, which is not part of the vault"
        raise UsageError(f"{problem}; name a place that Obsidian shows")
    return change


def write_changes(changes: Sequence[Change]) -> None:
    """Write each file at once or not at all. Raises ChangedError or VaultEvalError; those before it stay."""
    for change in changes:
        if change.before is None:
            create_file(change.root, change.path, change.after)
        else:
            replace_file(change.root, change.path, change.before, change.after)


def _hunk(tag: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    if tag == "equal":
        yield from (f" {_without(line, _HEAD_CHARACTERS + _AROUND_CHARACTERS, len(line))}" for line in old)
        return
    pairs = [_apart(*pair) for pair in zip(old, new, strict=False)]  # the longer of both ends with lines of its own
    yield from (f"-{line}" for line in (*(one for one, _ in pairs), *old[len(pairs) :]))
    yield from (f"+{line}" for line in (*(other for _, other in pairs), *new[len(pairs) :]))


def _apart(old: str, new: str) -> tuple[str, str]:
    """Two lines without the middle of what they begin with, and without the rest of what they end with."""
    begun = _shared(old, new)
    ended = max(0, _shared(old[begun:][::-1], new[begun:][::-1]) - _AROUND_CHARACTERS)
    one, other = (_without(line, len(line) - ended, len(line)) for line in (old, new))
    middle = (_HEAD_CHARACTERS, begun - _AROUND_CHARACTERS)
    return _without(one, *middle), _without(other, *middle)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _without(line: str, start: int, end: int) -> str:
    return f"{line[:start]} … {line[end:]}" if end > start + len(" … ") else line
