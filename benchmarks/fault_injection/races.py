"""Another program that acts while an evaluation runs: before each single step of it, and undone before a later one.

The evaluation runs in this process; a hook counts its steps (what is opened, listed, looked at, read, mapped) and acts at
one of them. It may end with exit 2 that names what changed, or with the full right result of one of the two states.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from fault_injection.workspace import FIXTURE, LONG_AGO_NS, Answer, Row, Workspace, build, evaluate, figures, lay_out

_Value = TypeVar("_Value")
_EVENTS = frozenset({"open", "os.scandir", "os.listdir", "mmap.__new__"})
# Options are remembered, so both are spelled out.
_OTHER = ("--chunk-chars", "150", "--chunk-max", "400", "--overlap", "20")
_USUAL = ("--chunk-chars", "2000", "--chunk-max", "4000", "--overlap", "200")
_WATCHED = ("stat", "lstat", "fstat", "read")


@dataclass(frozen=True, slots=True)
class Act:
    """Something another program does to the vault, the labels or the index, and how it is undone."""

    name: str
    do: Callable[[Workspace], None]
    undo: Callable[[Workspace], None]
    names: str  # what a refusal must name; the page, "label file" or "index"


class Steps:
    """Counts the steps of one evaluation and acts before those that are planned; switched off it only passes on."""

    def __init__(self) -> None:
        self.plan: dict[int, Callable[[], None]] = {}
        self.count = 0
        self._on = False

    def take(self) -> None:
        """One step: what is planned for it is done first, and the steps of that are not counted."""
        if not self._on:
            return
        self.count += 1
        action = self.plan.get(self.count)
        if action is not None:
            self._on = False
            try:
                action()
            finally:
                self._on = True

    def watch(self, event: str, _arguments: object) -> None:
        """The audit hook."""
        if event in _EVENTS:
            self.take()

    @contextmanager
    def running(self, plan: dict[int, Callable[[], None]]) -> Iterator[None]:
        """The steps inside are counted from one."""
        self.plan, self.count, self._on = plan, 0, True
        try:
            yield
        finally:
            self._on = False


def races(folder: Path, size: float, seed: int) -> list[Row]:
    """Every row of this module; `size` 1.0 takes about a minute."""
    rng = Random(f"races:{seed}")
    steps = Steps()
    sys.addaudithook(steps.watch)
    rows: list[Row] = []
    with _watched_functions(steps):
        for act in ACTS:
            place = folder / act.name
            place.mkdir(parents=True)
            rows += _race(act, _prepared(place), steps, rng, size)
            shutil.rmtree(place)
    return rows


def _prepared(folder: Path) -> Workspace:
    """A vault, its index, and beside them what the acts put in their places."""
    workspace = lay_out(folder)
    workspace.write("Unlabelled.md", "no question is about the harbour master's parrot\n")
    build(workspace, *_OTHER)
    shutil.move(workspace.index, folder / "other index")
    build(workspace, *_USUAL)
    shutil.copytree(workspace.vault / "Machines", folder / "Machines outside")
    (folder / "Machines outside" / "Drain pump.md").write_text("passphrase pelican\n", encoding="utf-8")
    return workspace


def _race(act: Act, workspace: Workspace, steps: Steps, rng: Random, size: float) -> Iterator[Row]:
    figures(workspace)
    before = evaluate(workspace)
    act.do(workspace)
    after = evaluate(workspace)
    act.undo(workspace)
    if evaluate(workspace) != before or after == before:
        raise RuntimeError(f"{act.name}: it was not undone, or cannot be told from what was before")
    with steps.running({}):
        evaluate(workspace)
    last = steps.count
    once, twice = Row(f"{act.name}, before a step"), Row(f"{act.name}, and back before a later step")
    stride = 1 if size >= 1 else 12
    for step in range(1 + rng.randrange(stride), last + 1, stride):
        _one(once, act, workspace, steps, {step: act.do}, (before, after))
        later = rng.randint(step + 1, last + 20)
        _one(twice, act, workspace, steps, {step: act.do, later: act.undo}, (before, after))
    yield once
    yield twice


def _one(
    row: Row,
    act: Act,
    workspace: Workspace,
    steps: Steps,
    plan: dict[int, Callable[[Workspace], None]],
    right: tuple[Answer, Answer],
) -> None:
    done: list[int] = []

    def planned(number: int, action: Callable[[Workspace], None]) -> Callable[[], None]:
        def act_now() -> None:
            done.append(number)
            action(workspace)

        return act_now

    with steps.running({number: planned(number, action) for number, action in plan.items()}):
        answer = evaluate(workspace)
    if len(done) == 1:  # done, and not undone yet
        act.undo(workspace)
    _judge(row, act, answer, right, f"step {' and '.join(map(str, plan))}")


def _judge(row: Row, act: Act, answer: Answer, right: tuple[Answer, Answer], where: str) -> None:
    if answer.code == 0 and answer.figures == right[0].figures:
        row.took("the state before")
    elif answer.code == 0 and answer.figures == right[1].figures:
        row.took("the state after")
    elif answer.code == 0:
        row.lose(f"{where}: figures of neither state: {_difference(answer.figures, right[0].figures)}")
    elif answer.code in (2, 10) and act.names in answer.said:
        row.took(f"exit {answer.code} that names it")
    else:
        row.lose(f"{where}: exit {answer.code} {answer.said[:300]!r}")


def _difference(one: str, other: str) -> str:
    at = next((place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), 0)
    return f"…{one[max(0, at - 60) : at + 40]}… where {other[at : at + 40]}… belongs"


@contextmanager
def _watched_functions(steps: Steps) -> Iterator[None]:
    """`os.stat` and its like raise no audit event, so they are wrapped."""

    def watched(real: Callable[..., _Value]) -> Callable[..., _Value]:
        def call(*arguments: object, **keywords: object) -> _Value:
            steps.take()
            return real(*arguments, **keywords)

        return call

    before = {name: getattr(os, name) for name in _WATCHED}
    for name, real in before.items():
        setattr(os, name, watched(real))
    try:
        yield
    finally:
        for name, real in before.items():
            setattr(os, name, real)


def _swap_folder(workspace: Workspace) -> None:
    (workspace.vault / "Machines").rename(workspace.folder / "Machines away")
    (workspace.vault / "Machines").symlink_to(workspace.folder / "Machines outside")


def _swap_folder_back(workspace: Workspace) -> None:
    (workspace.vault / "Machines").unlink()
    (workspace.folder / "Machines away").rename(workspace.vault / "Machines")


def _put(place: Path, data: bytes) -> None:
    """As an editor saves: a new file renamed over the old one, its times set back."""
    new = place.parent / ".new"
    new.write_bytes(data)
    os.utime(new, ns=(LONG_AGO_NS, LONG_AGO_NS))
    new.replace(place)


def _overwrite(place: Path, data: bytes) -> None:
    """In place, and its time set back: only the time of change of its state tells."""
    with place.open("r+b") as file:
        file.write(data)
        file.truncate()
    os.utime(place, ns=(LONG_AGO_NS, LONG_AGO_NS))


def _original(page: str) -> bytes:
    return (FIXTURE / page).read_bytes()


def _note(name: str, page: str, data: bytes, put: Callable[[Path, bytes], None]) -> Act:
    original = _original(f"pages/{page}")
    return Act(
        name,
        lambda workspace: put(workspace.vault / page, data),
        lambda workspace: put(workspace.vault / page, original),
        page,
    )


def _delete(page: str) -> Act:
    original = _original(f"pages/{page}")
    return Act(
        f"the note {Path(page).stem} is deleted",
        lambda workspace: (workspace.vault / page).unlink(),
        lambda workspace: _put(workspace.vault / page, original),
        page,
    )


def _labels() -> Act:
    original = _original("queries.json")
    changed = original.replace(b"pump_valve_7b", b"pump_valve_7c").replace(b"byelaws barbecue", b"bylaws: barbecue")
    return Act(
        "labels rewritten by a text of equal size",
        lambda workspace: _overwrite(workspace.labels, changed),
        lambda workspace: _overwrite(workspace.labels, original),
        "label",
    )


def _exchange_index(workspace: Workspace) -> None:
    aside = workspace.folder / "aside"
    workspace.index.rename(aside)
    (workspace.folder / "other index").rename(workspace.index)
    aside.rename(workspace.folder / "other index")


_PUMP = "Machines/Drain pump.md"
_BERTHS = "Berth depths.md"

ACTS = (
    Act("a folder is swapped for a link", _swap_folder, _swap_folder_back, "Machines"),
    _note("a note is replaced by another text", _BERTHS, b"drain pump in frost, drain pump in frost\n", _put),
    _note("a note is overwritten by a text of equal size", _PUMP, _original(f"pages/{_PUMP}")[::-1], _overwrite),
    _note("a note grows", _BERTHS, _original(f"pages/{_BERTHS}") + b"\nAnd a line more.\n", _overwrite),
    _delete(_PUMP),
    _delete("Fuel dock.md"),
    _labels(),
    Act("the index is exchanged for another valid one", _exchange_index, _exchange_index, "index"),
    Act(
        "the index is rebuilt with other options",
        lambda workspace: build(workspace, *_OTHER),
        lambda workspace: build(workspace, *_USUAL),
        "index",
    ),
)
