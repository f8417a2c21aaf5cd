"""How fast the shipped commands are against others that do the same: `python benchmarks/speed.py --notes 1000,10000`.

Every row of the table is a ratio, or a figure that a person notices, measured on generated vaults with 1,000 queries each.
Every round runs every command once, one after another, so that what else the machine does falls on all of them; a value is the
median over the rounds of what the pairs of a round gave, the least and the greatest beside it. Commands run under the
interpreter that runs this file, which must have the packages. POSIX only.

Contenders that are not there leave their rows unmeasured, with the reason: `--product-root` names a checkout of claude-obsidian,
`--qmd-prefix` an npm prefix with @tobilu/qmd and node, `--python-with-engines` an interpreter that has numpy, pytrec_eval,
ir_measures, ranx, bm25s and tantivy (this one otherwise). `--work DIR` keeps vaults and indexes for the next run.

Exit: 0 every goal that was measured is met; 1 one is missed; 2 a command failed; 3 with --require-all, one was not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from racing.places import QUERIES, Contenders, Place
from racing.processes import CommandFailedError
from racing.rows import ROWS, Bound, Row, chosen
from racing.taken import Taken, race
from racing.works import CHANGED_NOTES, Work

ROUNDS = 5
MISSED, FAILED, NOT_MEASURED = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row at one size; `values` are those of the rounds, none where it was not measured, with the reason."""

    row: Row
    notes: int
    values: Sequence[float]
    reason: str | None = None

    @property
    def goal(self) -> Bound | None:
        """What is asked of it here."""
        return self.row.goal(self.notes)

    @property
    def verdict(self) -> str:
        """ok, MISS, not measured, or nothing where there is no goal."""
        if self.goal is None:
            return "" if self.values else "not measured"
        if not self.values:
            return "not measured"
        return "ok" if self.goal.is_met(self.row.of_rounds(self.values)) else "MISS"

    def line(self) -> str:
        """The row as it is printed."""
        said = f"{self.verdict:12} {self.notes:8,} {self.row.name:22}"
        if not self.values:
            return f"{said} {self.row.meaning}: {self.reason}"
        spread = f"{min(self.values):.4g} to {max(self.values):.4g}" if len(self.values) > 1 else "once"
        goal = f"; {self.goal}" if self.goal is not None else ""
        return f"{said} {self.row.of_rounds(self.values):9.4g}  ({spread}{goal})  {self.row.meaning}"


def measured(rows: Sequence[Row], places: Sequence[Place], rounds: int) -> tuple[Taken, list[Outcome]]:
    """What was taken, and the outcome of every row at every size that it is about."""
    sizes = [place.notes for place in places]
    asked = [(row, place) for place in places for row in rows if row.is_measured_at(place.notes, sizes)]
    reasons = _missing({work.name: work for row, _ in asked for work in row.works}, places[0].contenders)
    plan: dict[Place, dict[str, Work]] = {}
    for row, place in asked:
        if not any(work.name in reasons for work in row.works):
            plan.setdefault(place, {}).update({work.name: work for work in row.works})
    taken = race({place: list(works.values()) for place, works in plan.items()}, rounds)
    outcomes = []
    for row, place in asked:
        reason = next((reasons[work.name] for work in row.works if work.name in reasons), None)
        values = row.value(taken, place) if reason is None else ()
        if values or reason is not None:
            outcomes.append(Outcome(row, place.notes, values, reason))
    return taken, outcomes


def _missing(works: Mapping[str, Work], contenders: Contenders) -> dict[str, str]:
    found = {name: work.missing(contenders) for name, work in works.items()}
    return {name: reason for name, reason in found.items() if reason is not None}


def table(taken: Taken, sizes: Sequence[int]) -> Iterator[str]:
    """A line a work and size: medians of all its processes, and the spread of the seconds."""
    yield f"{'notes':>8} {'work':38} {'n':>3} {'seconds':>9} {'min':>8} {'max':>8} {'CPU s':>8} {'peak MiB':>9}"
    for notes in sizes:
        for name in taken.names(notes):
            seconds, cpu, mib = (taken.every(notes, name, figure) for figure in ("seconds", "cpu", "mib"))
            spread = f"{median(seconds):9.3f} {min(seconds):8.3f} {max(seconds):8.3f}"
            yield f"{notes:8,} {name:38} {len(seconds):3} {spread} {median(cpu):8.3f} {max(mib):9.1f}"


def arguments() -> argparse.Namespace:
    """The command line; ends the program with 2 where it is wrong."""
    rows = "\n".join(f"  {row.name:22} {row.meaning}" for row in ROWS)
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=f"rows:\n{rows}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", metavar="N,N…", default="1000,10000", help="sizes of the vaults (1000,10000)")
    parser.add_argument("--only", metavar="ROW", action="append", default=[], choices=[row.name for row in ROWS])
    parser.add_argument("--rounds", metavar="N", type=int, default=ROUNDS, help=f"pairs of each ratio ({ROUNDS})")
    parser.add_argument("--work", metavar="DIR", type=Path, help="keep what is made here (a temporary folder)")
    parser.add_argument("--product-root", metavar="DIR", type=Path, help="a checkout of claude-obsidian 2.1.0")
    parser.add_argument("--qmd-prefix", metavar="DIR", type=Path, default=os.environ.get("QMD_DIR"), help="($QMD_DIR)")
    parser.add_argument("--python-with-engines", metavar="PATH", help="(this interpreter)")
    parser.add_argument("--require-all", action="store_true", help="exit 3 where a goal was not measured")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every sample")
    options = parser.parse_args()
    try:
        options.notes = sorted({int(size) for size in options.notes.split(",")})
    except ValueError:
        parser.error("--notes takes whole numbers with commas between them")
    if options.rounds < 1 or options.notes[0] < CHANGED_NOTES:
        parser.error(f"--rounds takes 1 or more, --notes {CHANGED_NOTES} or more")
    return options


def run(options: argparse.Namespace, folder: Path) -> int:
    """Measure, print the tables, and decide the goals."""
    qmd_prefix = Path(options.qmd_prefix) if options.qmd_prefix else None
    contenders = Contenders(options.product_root, qmd_prefix, options.python_with_engines)
    before = os.getloadavg()[0]
    places = [Place(notes, folder / f"{notes}", contenders) for notes in options.notes]
    taken, outcomes = measured(list(chosen(options.only)), places, options.rounds)
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, {QUERIES:,} queries, {options.rounds} rounds; ", end="")
    print(f"load average {before:.2f} before, {os.getloadavg()[0]:.2f} after")
    print("\n".join((*table(taken, options.notes), "", *(outcome.line() for outcome in outcomes))))
    if options.rounds < ROUNDS:
        print(f"fewer than {ROUNDS} rounds: this is a try, not a measurement")
    if options.json is not None:
        options.json.write_text(json.dumps(taken.as_json(), indent=1) + "\n", encoding="utf-8")
    if any(outcome.verdict == "MISS" for outcome in outcomes):
        return MISSED
    unmeasured = any(outcome.goal is not None and not outcome.values for outcome in outcomes)
    return NOT_MEASURED if unmeasured and options.require_all else 0


def main() -> int:
    """The exit code."""
    options = arguments()
    try:
        if options.work is not None:
            return run(options, options.work.resolve())
        with tempfile.TemporaryDirectory(prefix="vault-eval-speed-") as folder:
            return run(options, Path(folder).resolve())
    except CommandFailedError as error:
        print(f"speed: {error}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    raise SystemExit(main())
