"""How long the shipped commands take and how much memory they hold: `python benchmarks/speed.py --notes 1000,10000`.

Generated vaults, 1,000 queries each. Every round runs every command once, one after another, so that what else the
machine does falls on all of them; the table has the medians over the rounds (5) of whole processes, peak memory
as the kernel counts it for each, and ratios to `python -I -c pass` and between sizes, which say more than seconds do.
Commands run under the interpreter that runs this file, which must have the packages. POSIX only.

On a machine that others use, compare seconds with CPU seconds before believing that a goal is missed.

Exit: 0 every goal for 10,000 notes is met (or that size was not measured); 1 one is missed; 2 a command failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
EVALUATE, COMMANDS = ROOT / "scripts" / "evaluate-retrieval.py", ROOT / "scripts" / "vault-eval.py"
GENERATOR = Path(__file__).resolve().parent / "generate_vault.py"

QUERIES = 1_000
CHANGED_NOTES = 10
COLD_OF_A_ROUND = 5
SETTLE_SECONDS = 2.5  # a note changed less than two seconds before a build is read once more by the next: another case
GOAL_NOTES = 10_000
MIB = 1_048_576
BARE = "python -I -c pass"
BUILD, UNCHANGED, CHANGED, EVALUATED, COLD = "build", "unchanged", "10 changed", "evaluate", "cold retrieve"
STEPS = (BUILD, UNCHANGED, CHANGED, EVALUATED, COLD)

# For 10,000 notes: seconds and MiB at most, and for a cold query how many times as long as a bare interpreter.
GOAL_SECONDS = {EVALUATED: 2.0, BUILD: 30.0, UNCHANGED: 0.3}
GOAL_MIB = {EVALUATED: 200.0, BUILD: 1_024.0}
GOAL_TIMES_BARE = {COLD: 6.0}


class CommandFailedError(Exception):
    """A command ended with another exit code than 0: its time means nothing."""


@dataclass(slots=True)
class Samples:
    """The wall seconds, CPU seconds and peak memory (MiB) of all processes of one kind."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    mib: list[float] = field(default_factory=list)

    def run(self, command: Sequence[object]) -> None:
        """Run the command once and keep what it took."""
        with tempfile.TemporaryFile() as said:
            started = time.perf_counter()
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds.append(time.perf_counter() - started)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                said.seek(0)
                raise CommandFailedError(f"{' '.join(map(str, command))}\n{said.read().decode(errors='replace')}")
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.mib.append(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1_024) / MIB)


@dataclass(frozen=True, slots=True)
class Vault:
    """One generated vault with its index, and the samples of each step."""

    notes: int
    folder: Path
    samples: Mapping[str, Samples]

    def round(self, number: int) -> None:
        """Every step once. The index is built anew, refreshed for nothing, and refreshed for a few changed notes."""
        index = self.folder / f"index-{number}"
        places = ("--vault", self.folder / "set" / "vault", "--index", index, "--data", self.folder / "data")
        build = (sys.executable, COMMANDS, "index", *places)
        time.sleep(SETTLE_SECONDS)
        self.samples[BUILD].run(build)
        self.samples[UNCHANGED].run(build)
        labels = ("--queries", self.folder / "set" / "queries.json", "--out", self.folder / "report.json")
        self.samples[EVALUATED].run((sys.executable, EVALUATE, *places, *labels, "--cold-samples", "0", "--format", "json"))
        for query in self._queries(number):
            self.samples[BARE].run((sys.executable, "-I", "-c", "pass"))
            self.samples[COLD].run((sys.executable, "-I", COMMANDS, "retrieve", *places, "--", query))
        self._change_notes(number)
        self.samples[CHANGED].run(build)

    def _queries(self, number: int) -> list[str]:
        queries = json.loads((self.folder / "set" / "queries.json").read_text(encoding="utf-8"))["queries"]
        step = max(1, len(queries) // COLD_OF_A_ROUND)
        return [one["query"] for one in queries[number::step][:COLD_OF_A_ROUND]]

    def _change_notes(self, number: int) -> None:
        notes = sorted((self.folder / "set" / "vault").rglob("*.md"))
        for note in notes[number :: max(1, len(notes) // CHANGED_NOTES)][:CHANGED_NOTES]:
            with note.open("a", encoding="utf-8") as file:
                file.write(f"\nOne more line, of round {number}.\n")


def make_vault(notes: int, folder: Path) -> Vault:
    """A generated vault in a new folder.

    Another process makes it, so that this one stays small: the kernel counts the peak of a parent as that of its child.
    """
    place = folder / f"{notes}"
    command = [sys.executable, GENERATOR, "--notes", notes, "--queries", QUERIES, place / "set"]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return Vault(notes, place, {step: Samples() for step in (*STEPS, BARE)})


def table(vaults: Sequence[Vault]) -> list[str]:
    """A line a step and size: medians, the spread of the seconds, and the ratio to a bare interpreter."""
    lines = [f"{'notes':>7} {'step':18} {'n':>3} {'seconds':>9} {'min':>8} {'max':>8} {'CPU s':>8} {'x pass':>8} {'peak MiB':>9}"]
    for vault in vaults:
        for step in (BARE, *STEPS):
            one = vault.samples[step]
            figures = f"{median(one.seconds):9.3f} {min(one.seconds):8.3f} {max(one.seconds):8.3f} {median(one.cpu):8.3f}"
            ratio = times_pass(vault, step)
            lines.append(f"{vault.notes:7,} {step:18} {len(one.seconds):3} {figures} {ratio:8.2f} {max(one.mib):9.1f}")
    return lines


def times_pass(vault: Vault, step: str) -> float:
    """How many times as long as a bare interpreter, medians both."""
    return median(vault.samples[step].seconds) / median(vault.samples[BARE].seconds)


def growth(vaults: Sequence[Vault]) -> list[str]:
    """What each larger vault costs as a multiple of the smallest."""
    lines = []
    for vault in vaults[1:]:
        ratios = (
            (step, median(vault.samples[step].seconds) / median(vaults[0].samples[step].seconds)) for step in (*STEPS, BARE)
        )
        shown = ", ".join(f"{step} {ratio:.1f}" for step, ratio in ratios)
        lines.append(f"{vault.notes:,} notes against {vaults[0].notes:,}, times as long: {shown}")
    for vault in vaults:
        build = median(vault.samples[BUILD].seconds)
        parts = ", ".join(f"{step} {median(vault.samples[step].seconds) / build:.3f}" for step in (UNCHANGED, CHANGED))
        lines.append(f"{vault.notes:,} notes, as a share of a whole build: {parts}")
    return lines


def goals(vault: Vault) -> list[tuple[str, float, float]]:
    """Name, measured and allowed for each goal; seconds and ratios are medians, memory the highest peak."""
    found = [
        (f"{step}, seconds (CPU {median(vault.samples[step].cpu):.2f})", median(vault.samples[step].seconds), most)
        for step, most in GOAL_SECONDS.items()
    ]
    found += [(f"{step}, peak MiB", max(vault.samples[step].mib), most) for step, most in GOAL_MIB.items()]
    found += [(f"{step}, times {BARE}", times_pass(vault, step), most) for step, most in GOAL_TIMES_BARE.items()]
    return found


def say_goals(vault: Vault) -> bool:
    """Print each goal; whether all are met."""
    met = [measured <= most for _, measured, most in goals(vault)]
    for (name, measured, most), good in zip(goals(vault), met, strict=True):
        print(f"{'ok  ' if good else 'MISS'} {name}: {measured:.3g}, at most {most:g}")
    return all(met)


def measure(sizes: Sequence[int], rounds: int) -> list[Vault]:
    """All samples, the sizes interleaved within each round; everything is made in a temporary folder and deleted."""
    with tempfile.TemporaryDirectory(prefix="vault-eval-speed-") as folder:
        vaults = [make_vault(notes, Path(folder)) for notes in sizes]
        for number in range(rounds):
            for vault in vaults:
                vault.round(number)
            print(f"round {number + 1} of {rounds}: load average {os.getloadavg()[0]:.2f}", file=sys.stderr, flush=True)
    return vaults


def as_json(vaults: Sequence[Vault]) -> dict[str, object]:
    """Every sample, for whoever wants other figures than medians."""
    return {
        str(vault.notes): {
            step: {"seconds": one.seconds, "cpu_seconds": one.cpu, "peak_mib": one.mib} for step, one in vault.samples.items()
        }
        for vault in vaults
    }


def arguments() -> argparse.Namespace:
    """The command line; ends the program with 2 where it is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", metavar="N,N…", default="1000,10000", help="sizes of the vaults")
    parser.add_argument("--rounds", metavar="N", type=int, default=5)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every sample")
    options = parser.parse_args()
    try:
        options.notes = sorted({int(size) for size in options.notes.split(",")})
    except ValueError:
        parser.error("--notes takes whole numbers with commas between them")
    if options.rounds < 1 or options.notes[0] < CHANGED_NOTES:
        parser.error(f"--rounds takes 1 or more, --notes {CHANGED_NOTES} or more")
    return options


def main() -> int:
    """Measure, print the tables, and decide the goals."""
    options = arguments()
    before = os.getloadavg()[0]
    try:
        vaults = measure(options.notes, options.rounds)
    except CommandFailedError as error:
        print(f"speed: {error}", file=sys.stderr)
        return 2
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, {QUERIES:,} queries, {options.rounds} rounds; ", end="")
    print(f"load average {before:.2f} before, {os.getloadavg()[0]:.2f} after")
    print("\n".join(table(vaults)))
    print("\n".join(growth(vaults)))
    if options.json is not None:
        options.json.write_text(json.dumps(as_json(vaults), indent=1) + "\n", encoding="utf-8")
    return 0 if all(say_goals(vault) for vault in vaults if vault.notes == GOAL_NOTES) else 1


if __name__ == "__main__":
    raise SystemExit(main())
