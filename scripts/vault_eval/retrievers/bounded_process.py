"""One run of another program that ends for certain: bounded in time and output, its whole process group stopped after it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from vault_eval.vault.paths import quoted

_READ_BYTES = 65_536
# What is still in a pipe is read in a moment, unless a process that left the group keeps the pipe open.
_LEFT_OPEN_SECONDS = 2.0
# Tracebacks end with the error in Python and begin with it in Node.
_NAMES_ERROR = re.compile(r"(?:error|exception)\w*:", re.IGNORECASE)
_HAS_GROUPS = hasattr(os, "killpg")  # elsewhere only the program itself can be stopped


class ProcessFailedError(Exception):
    """A program could not be started, took too long or wrote too much; `str(error)` is the whole sentence."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a program left behind; `returncode` is negative where a signal ended it."""

    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def said(self) -> str:
        """The one line of stderr for a message: the first that names an error, else the last."""
        return telling_line(self.stderr)


def telling_line(stderr: bytes) -> str:
    """The one line of a program's stderr for a message: the first that names an error, else the last; nothing for none."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return next((line for line in lines if _NAMES_ERROR.search(line)), lines[-1] if lines else "")


def run_bounded(
    argv: Sequence[str],
    *,
    cwd: str | None,
    env: Mapping[str, str] | None,
    stdin: bytes | None,
    timeout_seconds: float,
    max_bytes: int,
) -> Finished:
    """Run a program from a list of arguments, never through a shell, and wait for its end; `env=None` hands on our own.

    Whatever happens, every process of its group is stopped before this returns. Raises ProcessFailedError where it cannot be
    started, takes longer than `timeout_seconds`, writes more than `max_bytes` to stdout or to stderr, or leaves a process
    behind that keeps them open; that one is not waited for beyond the same limit.
    """
    ends = time.monotonic() + timeout_seconds
    process = _start(argv, cwd, env, stdin is not None)
    stopped: list[str] = []  # why we ended it, the first reason first

    def stop(reason: str) -> None:
        stopped.append(reason)
        _kill_group(process)

    timer = threading.Timer(timeout_seconds, stop, [f"took longer than {timeout_seconds:g} seconds"])
    timer.daemon = True
    pipes = [_Pipe(file, max_bytes, stop) for file in (process.stdout, process.stderr) if file is not None]
    feeding = threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True)
    try:
        for thread in (timer, *pipes, feeding):
            thread.start()
        returncode = process.wait()  # without a time-out: waiting with one polls, which a latency would be measured with
    finally:
        timer.cancel()
        _kill_group(process)
        process.wait()
    ends = min(ends, time.monotonic() + _LEFT_OPEN_SECONDS)
    for pipe in pipes if not stopped else ():
        pipe.join(max(0.0, ends - time.monotonic()))
    if not stopped and any(pipe.is_alive() for pipe in pipes):
        stopped.append("ended, but a process that it left behind keeps its output open")
    if stopped:
        raise ProcessFailedError(f"{quoted(argv[0])} {stopped[0]}")
    stdout, stderr = (bytes(pipe.data) for pipe in pipes)
    return Finished(returncode, stdout, stderr)


class _Pipe(threading.Thread):
    """Reads one stream to its end, or until there is more than is allowed."""

    def __init__(self, file: IO[bytes], max_bytes: int, give_up: Callable[[str], None]) -> None:
        super().__init__(daemon=True)
        self.data = bytearray()
        self._file = file
        self._max_bytes = max_bytes
        self._give_up = give_up

    def run(self) -> None:
        with self._file:
            while read := os.read(self._file.fileno(), _READ_BYTES):
                self.data += read
                if len(self.data) > self._max_bytes:
                    self._give_up(f"wrote more than {self._max_bytes:,} bytes")
                    return


def _start(argv: Sequence[str], cwd: str | None, env: Mapping[str, str] | None, is_fed: bool) -> subprocess.Popen[bytes]:
    stdin = subprocess.PIPE if is_fed else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=_HAS_GROUPS,
        )
    except OSError as error:
        raise ProcessFailedError(f"{quoted(argv[0])} could not be started: {error.strerror or error}") from None
    except ValueError as error:  # a NUL character, or text that the system cannot encode
        raise ProcessFailedError(f"{quoted(argv[0])} could not be started: {error}") from None


def _feed(file: IO[bytes] | None, data: bytes | None) -> None:
    # A program need not read what it is given.
    with contextlib.suppress(OSError):
        if file is not None:
            with file:
                file.write(data or b"")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Stop the program and what it started; nothing where all have ended."""
    # No process can get the number of a group that still has members. macOS refuses where only ended ones are left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if _HAS_GROUPS:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
