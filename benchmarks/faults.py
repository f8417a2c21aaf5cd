"""Faults injected into index, report and evaluation, and what was lost: `make faults`, about three minutes.

Processes stopped at every step that writes and at random moments; bytes flipped, cut and swapped in index, seal and states; full,
failing and read-only disks; another program that changes notes, labels or index before each single step of an evaluation.
After each, the old state or the new one must be there, whole: an evaluation gives the full right result, or refuses with
the documented exit code. Each row counts what was injected and what came of it. Same seed, same faults.

Exit: 0 nothing was lost, 1 something was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT / "scripts"), str(_ROOT / "benchmarks")]

from fault_injection.damage import damage  # noqa: E402 - after their folders are on the path
from fault_injection.disk import disk  # noqa: E402 - as above
from fault_injection.kills import kills  # noqa: E402 - as above
from fault_injection.races import races  # noqa: E402 - as above
from fault_injection.workspace import Part, Row, table  # noqa: E402 - as above

PARTS: dict[str, Part] = {"kills": kills, "races": races, "disk": disk, "damage": damage}
_QUICK_SIZE = 0.05


def inject(parts: list[str], size: float, seed: int) -> list[Row]:
    """The rows of these parts, each in a process and a temporary folder of its own; `size` 1.0 is everything."""
    # The physical path: links in it are refused, as a person's would be.
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="vault-eval-faults-")))
    os.environ["VAULT_EVAL_DATA"] = str(folder / "faults of ours")
    spawn = get_context("spawn")  # a forked process would keep the hooks of this one
    try:
        with ProcessPoolExecutor(min(len(parts), os.cpu_count() or 1), spawn) as pool:
            done = [pool.submit(_part, part, folder / part, size, seed) for part in parts]
            return [row for future in done for row in future.result()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _part(part: str, folder: Path, size: float, seed: int) -> list[Row]:
    started = time.monotonic()
    sys.dont_write_bytecode = True
    rows = PARTS[part](folder, size, seed)
    print(f"{part}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a twentieth of it, in some 20 seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    rows = inject(options.parts, _QUICK_SIZE if options.quick else 1.0, options.seed)
    lost = sum(len(row.lost) for row in rows)
    print(table(rows))
    injected = sum(row.outcomes.total() for row in rows)
    print(f"{injected:,} faults injected, {lost or 'nothing'} lost (seed {options.seed})")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
