"""The faults of all label sources of one run, collected and shown together, and what is only worth a warning."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import basename

from vault_eval.errors import LabelError
from vault_eval.limits import LABEL_PROBLEMS_SHOWN_MAX
from vault_eval.vault.paths import quoted


class Problems:
    """A collector: rules add to it, and whoever started the reading asks once whether all is well."""

    def __init__(self) -> None:
        self._problems: list[str] = []
        self._warnings: list[str] = []

    def add(self, sentence: str) -> None:
        """One fault that makes the labels unusable."""
        self._problems.append(sentence)

    def warn(self, sentence: str) -> None:
        """One thing that a person should know, and that changes nothing."""
        self._warnings.append(sentence)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far, each once, bounded as the problems are."""
        distinct = tuple(dict.fromkeys(self._warnings))
        rest = len(distinct) - LABEL_PROBLEMS_SHOWN_MAX
        return distinct if rest <= 0 else (*distinct[:LABEL_PROBLEMS_SHOWN_MAX], f"… and {rest} more warnings about the labels")

    @property
    def count(self) -> int:
        """How many faults were added so far."""
        return len(self._problems)

    def raise_if_any(self) -> None:
        """Raises one LabelError with the first problems and the number of the rest."""
        if not self._problems:
            return
        shown = self._problems[:LABEL_PROBLEMS_SHOWN_MAX]
        rest = len(self._problems) - len(shown)
        head = [f"{len(self._problems)} problems in the labels:"] if len(self._problems) > 1 else []
        tail = [f"… and {rest} more; mend these first"] if rest else []
        raise LabelError("\n".join([*head, *shown, *tail]))


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found: a label file, and in it a line or query. Problems reported here name it."""

    problems: Problems
    file: str
    where: str = ""

    def at(self, where: str) -> Place:
        """The same file at another line or query."""
        return Place(self.problems, self.file, where)

    def problem(self, message: str) -> None:
        """Adds a fault found here."""
        self.problems.add(self._sentence(message))

    def warn(self, message: str) -> None:
        """Adds a warning about what was found here."""
        self.problems.warn(f"{self.by_base_name}: {message}")

    @property
    def by_base_name(self) -> Place:
        """The place as a warning names it: warnings stand in the report, which is the same wherever it was measured from."""
        return Place(self.problems, basename(self.file), self.where)

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file if self.file.isprintable() else quoted(self.file), self.where) if part)

    def _sentence(self, message: str) -> str:
        return f"{self}: {message}"
