"""Processes that are stopped: at every step that writes, and at random moments."""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fault_injection.workspace import (
    SCRIPT,
    Row,
    Workspace,
    build,
    command,
    evaluate,
    figures,
    finish,
    lay_out,
    left_behind,
    start,
)

from vault_eval.launcher.stopping import EXIT_STOPPED

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_STEPS_MAX = 60
_ENDS_BYTES = 200
_RANDOM = "a random moment"
_RENDERINGS = ("report.json", "report.md", "report.html", "pages.json")

# Sends itself a signal just before the step of that number: an opening for writing, a rename, a removal or a flush to disk
# below one folder.
_STOPPER = """
import os, runpy, sys
folder, number, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
left = [step]

def count(is_one):
    if is_one:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), number)

def watch(event, arguments):
    if event == "open":
        count(isinstance(arguments[0], str) and arguments[2] & WRITING and arguments[0].startswith(folder))
    elif event in ("os.rename", "os.remove", "os.mkdir"):
        count(isinstance(arguments[0], str) and arguments[0].startswith(folder))

flush = os.fsync
def fsync(descriptor):
    count(True)
    flush(descriptor)
    count(True)

os.fsync = fsync
sys.argv = sys.argv[4:]
sys.path[:0] = [os.path.dirname(sys.argv[0])]
sys.addaudithook(watch)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Moments:
    """When a process is stopped: before steps 1, 1 + stride, …, or, where `random` is not 0, at that many random moments."""

    stride: int = 1
    random: int = 0

    def __str__(self) -> str:
        return f"at {self.random} random moments" if self.random else "at every step" if self.stride == 1 else "at some steps"


def kills(folder: Path, size: float, seed: int) -> list[Row]:
    """Every row of this module; `size` 1.0 takes about two minutes."""
    rng = Random(f"kills:{seed}")
    steps, moments = Moments(stride=1 if size >= 1 else 9), Moments(random=max(1, int(20 * size)))
    return [
        *_index_rows(folder / "index steps", rng, steps),
        *_index_rows(folder / "index moments", rng, moments),
        *_report_rows(folder / "report steps", rng, steps),
        *_report_rows(folder / "report moments", rng, moments),
    ]


def _index_rows(folder: Path, rng: Random, moments: Moments) -> list[Row]:
    """A first build and a refresh, stopped; afterwards the old index or the new one, whole."""
    folder.mkdir(parents=True)
    workspace = lay_out(folder, 40)
    build(workspace)
    old = figures(workspace)
    kept = folder / "kept"
    shutil.copytree(workspace.index, kept)
    workspace.write("Log/0/Day 0.md", "# Log 0\n\nquite another day\n")
    stale = figures(workspace)
    build(workspace)
    new = figures(workspace)
    rows = []
    for number in SIGNALS:
        for name, allowed in (("first", {"", new}), ("refresh", {stale, new})):
            row = Row(f"{number.name} {moments}, {name} index build")

            def reset(name: str = name) -> None:
                shutil.rmtree(workspace.index, ignore_errors=True)
                if name == "refresh":
                    shutil.copytree(kept, workspace.index)

            def check(row: Row, code: int, allowed: set[str] = allowed) -> None:
                _check_index(row, workspace, code, allowed)

            _stop_each(row, number, workspace.index_command(), workspace.index, rng, moments, reset, check)
            rows.append(row)
    if old == new:
        raise RuntimeError("the two states of the vault cannot be told apart")
    return rows


def _check_index(row: Row, workspace: Workspace, code: int, allowed: set[str]) -> None:
    answer = evaluate(workspace)
    if answer.code == 10 and "" in allowed:
        pass
    elif answer.code != 0 or answer.figures not in allowed:
        row.lose(f"exit {code}; the evaluation afterwards: exit {answer.code} {answer.said[:200]}")
        return
    again, _, said = command(workspace.index_command())
    if again or evaluate(workspace).code:
        row.lose(f"exit {code}; index afterwards: exit {again} {said[:200]}")
        return
    row.took({0: "old or new index", 10: "no index yet"}[answer.code])


def _report_rows(folder: Path, rng: Random, moments: Moments) -> list[Row]:
    """A report that replaces another one, stopped; afterwards each file is the old one or the new one, whole."""
    folder.mkdir(parents=True)
    workspace = lay_out(folder)
    build(workspace)
    out, old, new = folder / "out", folder / "old", folder / "new"
    for place, depth in ((old, "10"), (new, "20")):
        code, _, said = command(workspace.bench_command("--top", depth, "--out", str(place)))
        if code:
            raise RuntimeError(said)

    def reset() -> None:
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(old, out)

    rows = []
    for number in SIGNALS:
        row = Row(f"{number.name} {moments}, report replaced")
        line = workspace.bench_command("--top", "20", "--out", str(out))
        _stop_each(row, number, line, out, rng, moments, reset, lambda row, code: _check_report(row, code, out, old, new))
        rows.append(row)
    return rows


def _check_report(row: Row, code: int, out: Path, old: Path, new: Path) -> None:
    states = set()
    for name in _RENDERINGS:
        data = (out / name).read_bytes()
        if data == (old / name).read_bytes() == (new / name).read_bytes():
            continue
        if data == (old / name).read_bytes():
            states.add("old")
        elif _untimed(name, data) == _untimed(name, (new / name).read_bytes()):
            states.add("new")
        else:
            row.lose(f"exit {code}; {name} is neither the old one nor the new one")
            return
    row.took("old and new files side by side" if len(states) == 2 else f"{states.pop()} report")


def _untimed(name: str, data: bytes) -> object:
    """The content without times, or None for what is not whole."""
    if name == "report.html":  # it draws times, so that its middle is another one each time
        return data[:_ENDS_BYTES], data[-_ENDS_BYTES:]
    if name != "report.json":
        return re.sub(rb"[0-9][0-9.,:TZ-]*", b"#", data)  # times stand between words in places of their own
    try:
        report = json.loads(data)
    except ValueError:
        return None
    return {key: value for key, value in report.items() if key != "timing"}


def _stop_each(
    row: Row,
    number: signal.Signals,
    argv: list[str],
    folder: Path,
    rng: Random,
    moments: Moments,
    reset: Callable[[], None],
    check: Callable[[Row, int], None],
) -> None:
    reset()
    started = time.monotonic()
    finish(start(argv))
    whole = time.monotonic() - started
    stopper = folder.parent / "stopper.py"
    stopper.write_text(_STOPPER, encoding="utf-8")
    steps = range(moments.random) if moments.random else range(1, _STEPS_MAX, moments.stride)
    for step in steps:
        reset()
        if moments.random:
            process = start(argv)
            time.sleep(rng.random() * whole)
            process.send_signal(number)
        else:
            process = start([str(folder), str(int(number)), str(step), str(SCRIPT), *argv], script=stopper)
        code, said = finish(process)
        before = len(row.lost)
        if code == 0 and not moments.random:  # there is no such step any more
            break
        _check_ending(row, number, code, said, _RANDOM if moments.random else f"step {step}", left_behind(folder))
        if len(row.lost) == before:
            check(row, code)


def _check_ending(row: Row, number: signal.Signals, code: int, said: str, step: str, left: list[Path]) -> None:
    is_kill = number == signal.SIGKILL
    # At a random moment the interpreter may be before our `main` or past it, and then ends in its own way.
    is_outside = step == _RANDOM and ", in main\n" not in said and code in (1, -number)
    if code not in ((0, -number) if is_kill else (0, EXIT_STOPPED)) and not is_outside:
        row.lose(f"{step}: exit {code} {said.strip()[-200:]}")
    elif "Traceback" in said and not is_outside:
        row.lose(f"{step}: exit {code} with a traceback: {said.strip().splitlines()[-1][:200]}")
    elif left and not is_kill:
        row.lose(f"{step}: exit {code} left {left[0].name}")
