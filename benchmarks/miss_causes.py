"""Why the default search misses on public labelled sets: `python benchmarks/miss_causes.py --sets DIR`.

`--sets`: each folder holds `vault/` and `queries*.json`. Each set is indexed and evaluated in a temporary folder; the table has
the share of missed pages by cause. Every cause is checked against what the row itself says, and that each miss has one.

Exit: 0 every miss of every set has exactly one cause, and none is unexplained; 1 otherwise; 2 a set is not there.
Run it with an interpreter that has the packages.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

from vault_eval.diagnosis.causes import CAUSE_NAMES  # noqa: E402 - after its folder is on the path
from vault_eval.evaluation import clock, evaluate  # noqa: E402
from vault_eval.index.build import build_index, no_progress  # noqa: E402
from vault_eval.index.options import IndexOptions  # noqa: E402
from vault_eval.limits import METRIC_CUTOFF_PAGES  # noqa: E402
from vault_eval.reports.document import QueryRow  # noqa: E402
from vault_eval.request import Request  # noqa: E402
from vault_eval.vault.snapshot import open_snapshot  # noqa: E402

NAMES = ("cranfield", "scifact", "xquad-tr", "known-en-obsidian-tasks")
NO_MISS_OF_RECALL = frozenset(("label_invalid", "section_only"))
FAILED = 2


@dataclass(slots=True)
class Causes:
    """The misses of one set by cause, and what is wrong with them."""

    name: str
    queries: int = 0
    missed: int = 0
    by_cause: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def take(self, row: QueryRow) -> None:
        """Count one query's misses."""
        missed = row.misses(METRIC_CUTOFF_PAGES) or ()
        given = [one for one in row.diagnosis if one.cause not in NO_MISS_OF_RECALL]
        self.queries += row.status == "scored"
        self.missed += len(missed)
        self.by_cause.update(one.cause for one in given)
        if tuple(one.page for one in given) != missed:
            self.problems.append(f"{row.id}: missed {missed}, causes given for {[one.page for one in given]}")
        bare = (one for one in given if not one.detail or one.cause == "unexplained")
        self.problems += [f"{row.id}: {one.page}: {one.cause}: {one.detail or 'no evidence'}" for one in bare]


def causes_of(folder: Path, work: Path) -> Causes:
    """The misses of one set, its index built first."""
    vault, index = folder / "vault", str(work / "index")
    with open_snapshot(str(vault)) as snapshot:
        build_index(snapshot.reader, snapshot.listing, IndexOptions(), index, snapshot.id, time.time_ns(), no_progress)
    found = Causes(folder.name)
    for labels in sorted(folder.glob("queries*.json")):
        report = evaluate(Request(str(vault), (str(labels),), data=str(work / "data"), index=index, cold_samples=0), clock())
        for row in report.runs[0].rows:
            found.take(row)
    return found


def table(sets: Sequence[Causes]) -> list[str]:
    """A line a cause that occurred, a column a set."""
    names = [name for name in CAUSE_NAMES if any(one.by_cause[name] for one in sets)]
    lines = [f"{'':<22}" + "".join(f"{one.name:>26}" for one in sets)]
    lines.append(f"{'queries / missed pages':<22}" + "".join(f"{f'{one.queries:,} / {one.missed:,}':>26}" for one in sets))
    for name in names:
        shares = (f"{one.by_cause[name]:,} ({100 * one.by_cause[name] / max(1, one.missed):.1f} %)" for one in sets)
        lines.append(f"{name:<22}" + "".join(f"{share:>26}" for share in shares))
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code; the table goes to stdout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sets", type=Path, required=True, metavar="DIR")
    parser.add_argument("--names", nargs="+", default=NAMES, metavar="NAME", help="the sets to look at (default: all four)")
    chosen = parser.parse_args(arguments)
    absent = [name for name in chosen.names if not (chosen.sets / name / "vault").is_dir()]
    if absent:
        print(f"{chosen.sets}: not there: {', '.join(absent)}", file=sys.stderr)
        return FAILED
    sets = []
    for name in chosen.names:
        with tempfile.TemporaryDirectory() as work:
            sets.append(causes_of(chosen.sets / name, Path(work)))
    print("\n".join(table(sets)))
    problems = [f"{one.name}: {problem}" for one in sets for problem in one.problems]
    print("\n".join(problems) if problems else "every miss has exactly one cause, none is unexplained")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
