"""The real commands, as a person would start them, with what they said and what they took."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from case_input import LABELS

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Outcome:
    """What one command did. `megabytes` is the largest resident size of its process."""

    code: int
    out: str
    err: str
    seconds: float
    megabytes: float

    @property
    def report(self) -> dict[str, object]:
        """The one JSON document on stdout; NaN and the like are no JSON."""
        return json.loads(self.out, parse_constant=_no_number)

    @property
    def run(self) -> dict[str, object]:
        return self.report["runs"][0]


class Server:
    """One warm interpreter; see case_server.py."""

    def __init__(self, scripts: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="vault-eval-cases-"))
        self._files = [self._folder / name for name in ("out", "err")]
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("case_server.py"), scripts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment({}),
        )

    def call(self, script: Path, arguments: list[str], cwd: Path) -> tuple[int, str, str, int]:
        for file in self._files:
            file.write_bytes(b"")
        request = [str(script), arguments, str(cwd), *map(str, self._files)]
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        code, size = json.loads(self._process.stdout.readline())
        return code, *(file.read_bytes().decode("utf-8", "surrogateescape") for file in self._files), size

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        shutil.rmtree(self._folder)


@dataclass(frozen=True)
class Program:
    """The scripts of one checkout with one data folder; the servers that are idle are kept for the next call."""

    data: Path
    scripts: Path = SCRIPTS
    idle: list[Server] = field(default_factory=list)

    def call(self, script: str, *arguments: object, cwd: Path, environment: dict[str, str] | None = None) -> Outcome:
        """Start a script and wait for it; with other environment variables, or from another checkout, in a new process."""
        words = [*map(str, arguments), "--data", str(self.data)]
        began = time.monotonic()
        if environment is None and self.scripts == SCRIPTS and hasattr(os, "fork"):
            try:
                server = self.idle.pop()
            except IndexError:
                server = Server(self.scripts)
            code, out, err, size = server.call(self.scripts / script, words, cwd)
            self.idle.append(server)
        else:
            code, out, err, size = self._start(script, words, cwd, environment or {})
        unit = 1_048_576 if sys.platform == "darwin" else 1_024
        return Outcome(code, out, err, time.monotonic() - began, size / unit)

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()

    def _start(self, script: str, words: list[str], cwd: Path, environment: dict[str, str]) -> tuple[int, str, str, int]:
        process = subprocess.Popen(
            [sys.executable, self.scripts / script, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=_environment(environment),
        )
        clock = threading.Timer(TIMEOUT_SECONDS, process.kill)
        clock.start()
        with ThreadPoolExecutor(2) as readers:
            out, err = readers.map(_text, (process.stdout, process.stderr))
        # Not process.wait(): only wait4 tells the memory of this one process.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        clock.cancel()
        return process.returncode, out, err, used.ru_maxrss


def _environment(more: dict[str, str]) -> dict[str, str]:
    """The variables of this process but for ours; nothing may be installed."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("VAULT_EVAL_")}
    return variables | {"VAULT_EVAL_NO_INSTALL": "1"} | more


def _text(stream: IO[bytes]) -> str:
    with stream:
        return stream.read().decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Bench:
    """One case laid out in a folder, and the commands on it."""

    program: Program
    folder: Path
    vault: str = "vault"
    labels: str = LABELS

    @property
    def index_folder(self) -> Path:
        return self.folder / "index"

    def index(self, *arguments: object, **more: object) -> Outcome:
        places = ("--vault", self.folder / self.vault, "--index", self.index_folder)
        return self.program.call("vault-eval.py", "index", *places, *arguments, **{"cwd": self.folder, **more})

    def evaluate(
        self, *arguments: object, labels: str | None = None, vault: str | None = None, form: str = "json", **more: object
    ) -> Outcome:
        """`evaluate-retrieval.py` on the labels and the vault of the case, or on others."""
        return self.program.call(
            "evaluate-retrieval.py", *self.places(labels, vault), "--format", form, *arguments, **self._at(more)
        )

    def places(self, labels: str | None = None, vault: str | None = None) -> tuple[object, ...]:
        vault_folder = self.folder / (vault or self.vault)
        return (
            *("--vault", vault_folder, "--queries", self.folder / (labels or self.labels)),
            *("--index", self.index_folder, "--cold-samples", "0"),
        )

    def _at(self, more: dict[str, object]) -> dict[str, object]:
        return {"cwd": self.folder, **more}


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON")
