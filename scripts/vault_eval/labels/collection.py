"""A collection: the part of a vault that a label set was made for, named by its labels, and perhaps a folder of the vault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vault_eval.errors import UsageError
from vault_eval.model import Label
from vault_eval.vault.paths import page_name, page_problem, quoted


@dataclass(frozen=True, slots=True)
class Collection:
    """The name that labels give, and the folder below which their paths are; None where they are those of the vault."""

    name: str
    folder: str | None = None

    @classmethod
    def of(cls, text: str) -> Collection:
        """What `--collection NAME` or `NAME=FOLDER` says. Raises UsageError where one is empty, or the folder no plain path."""
        name, has_folder, path = text.partition("=")
        folder = page_name(path.rstrip("/")) if has_folder else None
        problem = page_problem(folder) if folder else None
        if not name or folder == "" or problem is not None:
            found = f": {problem}" if problem else ""
            raise UsageError(f"--collection {quoted(text)}{found}; write NAME, or NAME=FOLDER with a folder of the vault")
        return cls(name, folder)

    def has(self, label: Label) -> bool:
        """Whether a label belongs to it: one that names no collection does."""
        return label.collection in (None, self.name)

    def placed(self, labels: Sequence[Label]) -> tuple[Label, ...]:
        """The labels with the paths of the vault: those of this collection are below its folder, if they are not written so."""
        return tuple(self._placed(label) if self.folder is not None and self.has(label) else label for label in labels)

    def _placed(self, label: Label) -> Label:
        return replace(
            label,
            gold=tuple(replace(target, page=self._path(target.page)) for target in label.gold),
            grades={self._path(target): grade for target, grade in label.grades.items()},
            hashes={self._path(target): sha256 for target, sha256 in label.hashes.items()},
        )

    def _path(self, written: str) -> str:
        return written if written.startswith(f"{self.folder}/") else f"{self.folder}/{written}"
