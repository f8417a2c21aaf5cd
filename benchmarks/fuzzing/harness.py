"""One command in this process, and what may not come of it."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from fuzzing.mutation import FORGED

from vault_eval import cli, strict_json

DOCUMENTED_CODES = frozenset({0, 1, 2, 3, 10})
COMMAND_MAX_SECONDS = 10.0
_STDERR_MAX_CHARACTERS = 30_000
# Controls that a terminal obeys, and the ones that turn the direction of text; tabs and line ends are ours.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FAULT_FILE = re.compile(r"the details are in '([^']+)'")


class TooSlowError(BaseException):
    """The alarm of one command; no `except Exception` may catch it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command did. `code` is None where an exception came out instead; `escaped` is its name."""

    argv: tuple[str, ...]
    code: int | None
    escaped: str
    stdout: str
    stderr: str
    seconds: float


def run(argv: Sequence[str]) -> Outcome:
    """The command as the entry scripts start it, both streams caught."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    code, escaped = None, ""
    started = time.perf_counter()
    try:
        with redirect_stdout(out), redirect_stderr(err), _alarm():
            code = cli.main(list(argv), script="vault-eval.py")
    except SystemExit as stop:  # argparse has printed its help
        code = stop.code if isinstance(stop.code, int) else None
        escaped = "" if code == 0 else f"SystemExit({stop.code!r})"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        escaped = f"{type(error).__name__} {_where(error)}"
    seconds = time.perf_counter() - started
    return Outcome(tuple(argv), code, escaped, _text(out), _text(err), seconds)


def complaints(outcome: Outcome) -> Iterator[str]:
    """What a command must never do; each sentence starts with a word that groups equal findings."""
    if outcome.escaped:
        yield f"escaped: {outcome.escaped}"
    elif outcome.code == cli.EXIT_FAULT:
        yield f"fault: {_fault(outcome.stderr)}"
    elif outcome.code not in DOCUMENTED_CODES:
        yield f"code: {outcome.code}"
    command = outcome.argv[0] if outcome.argv else ""
    for stream, text in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        yield from (f"{problem} on {stream} of {command}" for problem in _dangers(text))
    yield from _wrong_streams(outcome, command)
    yield from _bad_json(outcome, command)


def _dangers(text: str) -> Iterator[str]:
    if "Traceback (most recent call last)" in text:
        yield "traceback: one"
    if found := _OBEYED.search(text):
        yield f"control: a character of {unicodedata.category(found.group())}"
    if re.search(f"^{FORGED}", text, re.MULTILINE):
        yield "forged: a line of its own"


def _wrong_streams(outcome: Outcome, command: str) -> Iterator[str]:
    if outcome.code in (2, 10) and command != "doctor":
        if not outcome.stderr.startswith("vault-eval: "):
            yield f"mute: exit {outcome.code} of {command} without a message"
        if outcome.stdout:
            yield f"printed: exit {outcome.code} of {command} with a result on stdout"
    if outcome.code in (1, 3) and not (outcome.stderr or outcome.stdout):
        yield f"mute: exit {outcome.code} of {command} without a sentence"
    # The line of exit 10 repeats every option that was remembered, however long.
    if outcome.code != 10 and len(outcome.stderr) > _STDERR_MAX_CHARACTERS:
        yield f"long: {command} said more than {_STDERR_MAX_CHARACTERS} characters on stderr"


def _bad_json(outcome: Outcome, command: str) -> Iterator[str]:
    words = " ".join(outcome.argv).replace("--format=", "--format ")
    asked = command == "retrieve" or words.rpartition("--format ")[2].startswith("json")
    if asked and outcome.code in (0, 1, 3) and outcome.stdout and not {"--help", "-h", "--markdown"} & set(outcome.argv):
        try:
            strict_json.loads(outcome.stdout)
        except ValueError as error:
            yield f"json: stdout of {command} is none: {error}"


def folder_state(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Mode, size and time of change of everything below a folder."""
    found: dict[str, tuple[int, int, int]] = {}
    places = [os.fsencode(folder)]
    while places:
        place = places.pop()
        for entry in os.scandir(place):
            state = entry.stat(follow_symlinks=False)
            found[os.fsdecode(entry.path)] = (state.st_mode, state.st_size, state.st_mtime_ns)
            if entry.is_dir(follow_symlinks=False):
                places.append(entry.path)
    return found


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    if not hasattr(signal, "setitimer"):  # Windows: a slow command is then seen by whoever waits
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, COMMAND_MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    return buffer.getvalue().decode("utf-8", "replace") if isinstance(buffer, io.BytesIO) else ""


def _fault(stderr: str) -> str:
    """The last line of the traceback, and the deepest place of ours in it."""
    match = _FAULT_FILE.search(stderr)
    if match is None:
        return stderr.strip()
    path = Path(match[1])
    lines = path.read_text(encoding="utf-8").strip().splitlines()
    path.unlink()
    places = [line.strip() for line in lines if "vault_eval" in line and line.lstrip().startswith("File")]
    name = re.sub(r'File ".*?vault_eval', 'File "vault_eval', places[-1]) if places else ""
    return f"{lines[-1].split(':')[0]} at {name}: {lines[-1][:200]}"


def _where(error: BaseException) -> str:
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "vault_eval" in file:
            place = f"at {Path(file).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def use_data_folder(folder: Path) -> None:
    """Faults and reports go there, nothing is installed, and bytecode, which is not what is tested, is not compiled."""
    from vault_eval import launcher

    os.environ["VAULT_EVAL_DATA"] = str(folder)
    os.environ["VAULT_EVAL_NO_INSTALL"] = "1"
    sys.dont_write_bytecode = True
    vars(launcher)["precompile"] = lambda _data: None
