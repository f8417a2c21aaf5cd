"""A vault, its index and labels that faults are injected into, and what counts as lost."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from vault_eval.errors import VaultEvalError
from vault_eval.evaluation import run_quality

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "fixtures" / "original"
SCRIPT = ROOT / "scripts" / "vault-eval.py"
COMMAND_MAX_SECONDS = 60
# Settled long ago, so that remembered states are trusted: the harder case.
LONG_AGO_NS = 10**18
SHOWN_MAX = 3


@dataclass(slots=True)
class Row:
    """One kind of fault: how often it was injected, what came of it, and each time that something was lost."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def took(self, outcome: str) -> None:
        """One injection that ended well."""
        self.outcomes[outcome] += 1

    def lose(self, what: str) -> None:
        """One injection after which something was lost or wrong."""
        self.outcomes["LOST"] += 1
        self.lost.append(what)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an evaluation came to: its exit code, the report without `timing` (empty for an error), and its message."""

    code: int
    figures: str
    said: str

    def word(self) -> str:
        """How it is counted."""
        return f"exit {self.code}"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one run of the benchmark."""

    folder: Path

    @property
    def vault(self) -> Path:
        """Its notes."""
        return self.folder / "vault"

    @property
    def labels(self) -> Path:
        """The label file beside it."""
        return self.folder / "vault.queries.json"

    @property
    def data(self) -> Path:
        """What the commands keep."""
        return self.folder / "data"

    @property
    def index(self) -> Path:
        """The index that is damaged."""
        return self.folder / "index"

    def write(self, page: str, text: str) -> None:
        """One note, changed long ago."""
        place = self.vault / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        os.utime(place, ns=(LONG_AGO_NS, LONG_AGO_NS))

    def index_command(self, *options: str) -> list[str]:
        """`index` as a process."""
        return ["index", "--vault", str(self.vault), "--index", str(self.index), "--data", str(self.data), *options]

    def bench_command(self, *options: str) -> list[str]:
        """`bench` as a process, without further processes of its own."""
        places = ["--vault", str(self.vault), "--queries", str(self.labels), "--index", str(self.index), "--data", str(self.data)]
        return ["bench", *places, "--cold-samples", "0", *options]


Part: TypeAlias = "Callable[[Path, float, int], list[Row]]"


def lay_out(folder: Path, more_notes: int = 0) -> Workspace:
    """The shipped example as a vault that was last changed long ago, with some more notes, not indexed yet."""
    workspace = Workspace(folder)
    shutil.copytree(FIXTURE / "pages", workspace.vault)
    shutil.copyfile(FIXTURE / "queries.json", workspace.labels)
    for path in workspace.vault.rglob("*.md"):
        os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
    for number in range(more_notes):
        text = f"# Log {number}\n\n" + "\n\n".join(
            f"## Day {day}\n\nberth {number * day} pump harbour tide{day}" for day in range(20)
        )
        workspace.write(f"Log/{number % 7}/Day {number}.md", text)
    return workspace


def command(argv: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command in this process."""
    from vault_eval.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(argv), script=str(SCRIPT))
    texts = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return code, texts[0], texts[1]


def build(workspace: Workspace, *options: str) -> None:
    """Index the vault; a failure here is none of those that are injected."""
    code, _, said = command(workspace.index_command(*options))
    if code:
        raise RuntimeError(said)


def evaluate(workspace: Workspace, retriever: str = "keyword") -> Answer:
    """The evaluation in this process; whatever else than a refusal comes out is exit 70."""
    try:
        report = run_quality(
            str(workspace.vault),
            str(workspace.labels),
            retrievers=(retriever,),
            index=str(workspace.index),
            data=str(workspace.data),
            cold_samples=0,
        )
    except VaultEvalError as error:
        return Answer(error.exit_code, "", str(error))
    except Exception as error:  # noqa: BLE001 - what a person would see as a fault of ours
        return Answer(70, "", f"{type(error).__name__}: {error}")
    del report["timing"]
    return Answer(0, json.dumps(report), "")


def figures(workspace: Workspace) -> str:
    """The report of an evaluation that nothing was done to; a refusal here is none of those that are provoked."""
    answer = evaluate(workspace)
    if answer.code:
        raise RuntimeError(f"exit {answer.code}: {answer.said}")
    return answer.figures


def start(argv: Sequence[str], *before: str, script: Path = SCRIPT) -> subprocess.Popen[bytes]:
    """A command as a process of its own, both streams piped; `before` are words that start it in another way."""
    line = [*before, sys.executable, "-I", str(script), *argv]
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Exit code and stderr; one that does not end is killed and counts as a hang."""
    try:
        _, err = process.communicate(timeout=COMMAND_MAX_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return 124, "no end"
    return process.returncode, err.decode("utf-8", "replace")


def left_behind(*folders: Path) -> list[Path]:
    """Temporary files that are still there."""
    return [path for folder in folders if folder.exists() for path in folder.rglob(".*.tmp")]


def table(rows: Sequence[Row]) -> str:
    """The rows as text, and the first losses of each."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'fault':{width}}  injected  lost  what came of it"]
    for row in rows:
        came = ", ".join(f"{count} {outcome}" for outcome, count in sorted(row.outcomes.items()) if outcome != "LOST")
        lines.append(f"{row.name:{width}}  {row.outcomes.total():8}  {len(row.lost):4}  {came}")
    for row in rows:
        lines += [f"LOST {row.name}: {what}" for what in row.lost[:SHOWN_MAX]]
    return "\n".join(lines)
