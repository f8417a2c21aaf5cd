"""What is run in turn: our own commands, and the programs that do the same work in the plainest way."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from racing.places import COMMANDS, CONTENDERS, EVALUATE, Contenders, Place
from racing.processes import CommandFailedError, Figures, run

CHANGED_NOTES = 10
COLD_OF_A_ROUND = 5
FEW_QUERIES = (100, 300)


def nothing(_place: Place) -> None:
    """No preparation."""


def never(_contenders: Contenders) -> str | None:
    """Why it cannot be run: it always can."""
    return None


@dataclass(frozen=True, slots=True)
class Work:
    """One thing to run: `once` runs it and gives its figures; the number it is given rises from turn to turn.

    `ready` prepares a place, untimed. `missing` says why it cannot be run. `times` is how often a round has it, 0 that the
    first round has it and no other.
    """

    name: str
    once: Callable[[Place, int], Figures]
    ready: Callable[[Place], None] = nothing
    missing: Callable[[Contenders], str | None] = never
    times: int = 1


def needing(*packages: str) -> Callable[[Contenders], str | None]:
    """Why a contender cannot be run where its interpreter lacks a package."""

    def missing(contenders: Contenders) -> str | None:
        try:
            run((contenders.python, "-c", f"import {', '.join(packages)}"))
        except (CommandFailedError, OSError):
            return f"{contenders.python} has no {' and '.join(packages)}; name one that has with --python-with-engines"
        return None

    return missing


def of_contender(file: str, *more: object) -> Callable[[Place, int], Figures]:
    """A program beside this one, given the place; it tells its own figures."""

    def once(place: Place, _turn: int) -> Figures:
        places = ("--vault", place.vault, "--index", place.index, "--queries", place.labels, "--folder", place.folder)
        return run((place.contenders.python, CONTENDERS / file, *more, *places), told=True)

    return once


def _build(place: Place, _turn: int) -> Figures:
    folder = place.folder / "index-anew"
    command = (sys.executable, COMMANDS, "index", "--vault", place.vault, "--index", folder, "--data", place.data)
    try:
        return run(command)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unchanged(place: Place, _turn: int) -> Figures:
    return run((sys.executable, COMMANDS, "index", *place.options))


def _edited(place: Place) -> tuple[object, ...]:
    edited = place.folder / "edited"
    return sys.executable, COMMANDS, "index", "--vault", edited / "vault", "--index", edited / "index", "--data", place.data


def _make_edited(place: Place) -> None:
    vault = place.folder / "edited" / "vault"
    if not vault.exists():
        shutil.copytree(place.vault, vault)
    run(_edited(place))


def _changed(place: Place, turn: int) -> Figures:
    notes = sorted((place.folder / "edited" / "vault").rglob("*.md"))
    step = max(1, len(notes) // CHANGED_NOTES)
    for note in notes[turn % step :: step][:CHANGED_NOTES]:
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\nOne more line, of round {turn}.\n")
    return run(_edited(place))


def _evaluation(place: Place, labels: Path, out: Path, program: Sequence[object] = (sys.executable, EVALUATE)) -> Figures:
    return run((*program, *place.options, "--queries", labels, "--out", out, "--cold-samples", "0"))


def _evaluate(place: Place, _turn: int) -> Figures:
    figures = _evaluation(place, place.labels, place.report)
    return figures | {"warm_p95_ms": run((sys.executable, CONTENDERS / "warm_p95.py", place.report), told=True)["warm_p95_ms"]}


def _evaluate_by_numpy(place: Place, _turn: int) -> Figures:
    program = (place.contenders.python, CONTENDERS / "numpy_evaluation.py")
    figures = _evaluation(place, place.labels, place.report_by_numpy, program)
    return figures | {"different": _differences(place.report, place.report_by_numpy)}


def _differences(report: Path, other: Path) -> int:
    """How many parts of two reports differ, timing aside."""
    one, two = (json.loads(path.read_text(encoding="utf-8")) for path in (report, other))
    return sum(one.get(name) != two.get(name) for name in (one.keys() | two.keys()) - {"timing"})


def _few(queries: int) -> Work:
    def labels(place: Place) -> Path:
        return place.folder / f"queries-{queries}.json"

    def ready(place: Place) -> None:
        content = json.loads(place.labels.read_text(encoding="utf-8"))
        content["queries"] = content["queries"][:queries]
        labels(place).write_text(json.dumps(content), encoding="utf-8")

    def once(place: Place, _turn: int) -> Figures:
        return _evaluation(place, labels(place), place.folder / f"report-{queries}.json")

    return Work(f"evaluate {queries}", once, ready)


def _cold(place: Place, turn: int) -> Figures:
    return run((sys.executable, "-I", COMMANDS, "retrieve", *place.options, "--", place.query(turn)))


def _bare(_place: Place, _turn: int) -> Figures:
    return run((sys.executable, "-I", "-c", "pass"))


def _html(place: Place, _turn: int) -> Figures:
    return run((sys.executable, COMMANDS, "report", place.report, "--format", "html", "--data", place.data))


def _make_report(place: Place) -> None:
    _evaluation(place, place.labels, place.report)


BUILD = Work("build", _build)
UNCHANGED = Work("unchanged", _unchanged)
CHANGED = Work(f"{CHANGED_NOTES} changed", _changed, _make_edited)
EVALUATED = Work("evaluate", _evaluate)
FEW: Mapping[int, Work] = MappingProxyType({queries: _few(queries) for queries in FEW_QUERIES})
COLD = Work("cold query", _cold, times=COLD_OF_A_ROUND)
BARE = Work("python -I -c pass", _bare, times=COLD_OF_A_ROUND)
HTML = Work("HTML report", _html, _make_report)
BY_NUMPY = Work("evaluate, searching by numpy", _evaluate_by_numpy, _make_report, needing("numpy"))
NUMPY = Work("numpy program", of_contender("numpy_program.py"), missing=needing("numpy"))
SAME_AS_NUMPY = Work("same as numpy", of_contender("same_rankings.py"), _make_report, needing("numpy"), times=0)
EXACT = Work("exactness", of_contender("exactness.py"), times=0)
EXACT_RANK = Work("exact ranks", of_contender("exact_ranks.py"))
METRICS = Work("metrics", of_contender("metrics_program.py", "ours"))
PYTREC_EVAL, IR_MEASURES, RANX = (
    Work(name, of_contender("metrics_program.py", name), missing=needing(name)) for name in ("pytrec_eval", "ir_measures", "ranx")
)


def _engine(name: str, *packages: str) -> Work:
    make, ask = (of_contender("engines.py", name, what) for what in ("make", "ask"))

    def ready(place: Place) -> None:
        make(place, 0)

    return Work(f"search by {name}", ask, ready, needing(*packages) if packages else never)


OURS = _engine("ours")
ENGINES = (_engine("loop"), _engine("numpy", "numpy"), _engine("bm25s", "bm25s"), _engine("tantivy", "tantivy"))
