"""Cold latency: the shipped `retrieve` in a process of its own, start and index load included, as an agent would wait for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vault_eval.digests import sha256_hex
from vault_eval.errors import VaultEvalError
from vault_eval.limits import COLD_QUERY_MAX_SECONDS
from vault_eval.model import Label

# As the size of a sample: no bound, since there are never so many labels.
EVERY_LABEL = sys.maxsize
_SAID_MAX_CHARACTERS = 300
_BARE = (sys.executable, "-I", "-c", "pass")


@dataclass(frozen=True, slots=True)
class ColdTimes:
    """Milliseconds by query id, and of as many bare interpreters started in between."""

    queries: Mapping[str, float]
    interpreter: tuple[float, ...]


def cold_sample(labels: Sequence[Label], size: int) -> tuple[Label, ...]:
    """The same labels every time: the `size` first by the SHA-256 of their ids, in file order; all where there are no more."""
    chosen = {label.id for label in sorted(labels, key=lambda label: sha256_hex(label.id.encode()))[:size]}
    return tuple(label for label in labels if label.id in chosen)


def time_cold(labels: Sequence[Label], command: Sequence[str], clock_ns: Callable[[], int]) -> ColdTimes:
    """Run `command` plus the query once a label, alternating with `python -I -c pass`.

    Raises VaultEvalError where a process fails: a time of a failure is no latency.
    """
    queries: dict[str, float] = {}
    interpreter: list[float] = []
    for label in labels:
        interpreter.append(_time(_BARE, clock_ns))
        queries[label.id] = _time([*command, "--", label.query], clock_ns)
    return ColdTimes(queries, tuple(interpreter))


def beside_interpreters(queries: Mapping[str, float], samples: int, clock_ns: Callable[[], int]) -> ColdTimes:
    """Times that each were a process's own already, beside those of at most `samples` bare interpreters."""
    pairs = min(samples, len(queries))
    return ColdTimes(queries, tuple(_time(_BARE, clock_ns) for _ in range(pairs)))


def _time(command: Sequence[str], clock_ns: Callable[[], int]) -> float:
    import subprocess  # here: an evaluation without cold samples starts nothing

    started = clock_ns()
    try:
        # A list, never a shell; the query is an argument after `--` and cannot be taken for an option.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COLD_QUERY_MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise _no_latency(f"a query took longer than {COLD_QUERY_MAX_SECONDS} seconds") from None
    except (OSError, ValueError) as error:
        raise _no_latency(str(error)) from None
    elapsed = (clock_ns() - started) / 1e6
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-_SAID_MAX_CHARACTERS:]
        raise _no_latency(f"{command[0]!r} ended with exit code {done.returncode} and said {said!r}")
    return elapsed


def _no_latency(problem: str) -> VaultEvalError:
    return VaultEvalError(f"cold latency could not be measured: {problem}; use --cold-samples 0 to leave it out")
