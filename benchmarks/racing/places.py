"""One generated vault with its labels and its index, and where the contenders are to be found."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from racing.processes import run

BENCHMARKS = Path(__file__).resolve().parents[1]
SCRIPTS = BENCHMARKS.parent / "scripts"
EVALUATE, COMMANDS = SCRIPTS / "evaluate-retrieval.py", SCRIPTS / "vault-eval.py"
GENERATOR, CONTENDERS = BENCHMARKS / "generate_vault.py", BENCHMARKS / "contenders"
QUERIES = 1_000


@dataclass(frozen=True, slots=True)
class Contenders:
    """What others are measured against ours: a checkout, an npm prefix, an interpreter with engines; None where not given."""

    product_root: Path | None = None
    qmd_prefix: Path | None = None
    engines_python: str | None = None

    @property
    def python(self) -> str:
        """The interpreter of those contenders that are Python programs with packages."""
        return self.engines_python or sys.executable


@dataclass(frozen=True)
class Place:
    """The folder of one size. All that is made in it is kept, and used again by the next run that is given the folder."""

    notes: int
    folder: Path
    contenders: Contenders

    @property
    def vault(self) -> Path:
        """The notes; nothing changes them."""
        return self.folder / "set" / "vault"

    @property
    def labels(self) -> Path:
        """A thousand queries."""
        return self.folder / "set" / "queries.json"

    @property
    def index(self) -> Path:
        """The standing index, which is searched."""
        return self.folder / "index"

    @property
    def data(self) -> Path:
        """The data folder of the commands."""
        return self.folder / "data"

    @property
    def report(self) -> Path:
        """The report of the last evaluation."""
        return self.folder / "report.json"

    @property
    def report_by_numpy(self) -> Path:
        """The report of the last evaluation that searched by numpy."""
        return self.folder / "report-by-numpy.json"

    @property
    def options(self) -> tuple[object, ...]:
        """The options by which the commands find all this."""
        return "--vault", self.vault, "--index", self.index, "--data", self.data

    @property
    def index_bytes(self) -> int:
        """The size of the index file."""
        return sum(file.stat().st_size for file in self.index.glob("index-*.bin"))

    @cached_property
    def queries(self) -> list[str]:
        """The texts of all labels that expect a page."""
        labels = json.loads(self.labels.read_text(encoding="utf-8"))["queries"]
        return [one["query"] for one in labels if one["expected_pages"]]

    def query(self, turn: int) -> str:
        """Another query every turn, of another kind too: a step that shares no factor with the mixture of kinds."""
        return self.queries[turn * 37 % len(self.queries)]

    def make(self) -> None:
        """The vault and its index, where they are not there yet.

        Other processes make them, so that this one stays small: the kernel counts the peak of a parent as that of its child.
        """
        if not self.labels.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            run((sys.executable, GENERATOR, "--notes", self.notes, "--queries", QUERIES, self.folder / "set"))
        run((sys.executable, COMMANDS, "index", *self.options))
