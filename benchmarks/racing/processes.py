"""One process at a time, and what the system says it took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import IO, TypeAlias

MIB = 1_048_576
SAID_MAX_CHARACTERS = 2_000
Figures: TypeAlias = "dict[str, float]"


class CommandFailedError(Exception):
    """A command ended with another exit code than 0: its time means nothing."""


def run(command: Sequence[object], *, env: Mapping[str, str] | None = None, told: bool = False) -> Figures:
    """`seconds` from start to exit, `cpu` seconds, the peak in `mib`, and how many bytes were `printed`.

    With `told`, what the command printed is a JSON object of further figures. POSIX only.
    """
    words = list(map(str, command))
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=printed, stderr=said, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        size = printed.seek(0, os.SEEK_END)
        if process.returncode:
            raise CommandFailedError(f"{' '.join(words)}\nexit code {process.returncode}: {_end(said)}{_end(printed)}")
        printed.seek(0)
        further: Figures = json.loads(printed.read()) if told else {}
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1_024) / MIB
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "mib": peak, "printed": size, **further}


def _end(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - SAID_MAX_CHARACTERS))
    return file.read().decode(errors="replace")
