"""Random and damaged input through the real commands: `make fuzz ARGS='--seconds 3600'`.

Label files of every format, notes, file names, settings, index files, saved reports, queries and command lines go through
`vault_eval.cli.main` in this process. Each case is decided by the seed and its number alone: `--seed S --only N` runs one again.
A finding is an undocumented exit code, exit 70, an exception, a traceback, text of the input that a terminal would obey or that
forges a line, a changed vault, a temporary file left behind, JSON that is none, or a command of more than ten seconds.

Exit: 0 nothing was found, 1 something was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT / "scripts"), str(_ROOT / "benchmarks")]

from fuzzing.cases import TARGETS  # noqa: E402 - after their folders are on the path
from fuzzing.harness import use_data_folder  # noqa: E402 - as above
from fuzzing.workspace import Workspace, corpus, prepare  # noqa: E402 - as above

_SAID_EVERY_SECONDS = 60.0


def fuzz(workspace: Workspace, options: argparse.Namespace) -> tuple[Counter[str], dict[str, list[int]]]:
    """Cases run by target, and the numbers of the cases that led to each finding."""
    ran: Counter[str] = Counter()
    found: dict[str, list[int]] = {}
    started = said = time.monotonic()
    chosen = {name: TARGETS[name] for name in options.targets}
    weights = [weight for _, weight in chosen.values()]
    number = options.first
    while time.monotonic() - started < options.seconds and (options.only is None or number <= options.only):
        rng = Random(f"{options.seed}:{number}")
        name = rng.choices(list(chosen), weights)[0]
        ran[name] += 1
        for complaint in chosen[name][0](rng, workspace):
            found.setdefault(f"{name}: {complaint}", []).append(number)
        number += 1
        if time.monotonic() - said > _SAID_EVERY_SECONDS:
            said = time.monotonic()
            print(f"  {said - started:6.0f} s: {ran.total():,} cases, {len(found)} findings", flush=True)
    return ran, found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long")
    parser.add_argument("--seed", type=int, help="default: another one each time, which is printed")
    parser.add_argument("--only", type=int, metavar="N", help="run case N of a seed alone")
    parser.add_argument("--targets", nargs="+", choices=list(TARGETS), default=list(TARGETS), help="which inputs")
    parser.add_argument("--keep", action="store_true", help="leave the folder of the last case for a look")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(4), "big")
    options.first = options.only or 0
    return options


def main() -> int:
    """Print the cases run and each finding with the numbers of its first cases."""
    options = _options()
    print(f"seed {options.seed}, {options.seconds:g} s: {', '.join(options.targets)}", flush=True)
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="vault-eval-fuzz-")))
    use_data_folder(folder / "data")
    workspace = Workspace(folder, corpus())
    prepare(workspace)
    started = time.monotonic()
    try:
        ran, found = fuzz(workspace, options)
    finally:
        if options.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(os.fsencode(folder), ignore_errors=True)
    for finding, numbers in sorted(found.items()):
        print(f"FOUND {finding}\n      {len(numbers)} cases, such as --seed {options.seed} --only {numbers[0]}")
    by_target = ", ".join(f"{name} {count:,}" for name, count in sorted(ran.items()))
    print(f"{ran.total():,} cases in {time.monotonic() - started:.0f} s ({by_target}); {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
