"""Whether a report passes a limit that somebody set before it was measured; no data never passes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from vault_eval.errors import UsageError
from vault_eval.limits import DEPTH_DEFAULT_PAGES
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.score import MetricValue

DEFAULT_METRIC = "recall@5"
Outcome: TypeAlias = Literal["passed", "failed", "undecided"]
_GATE = re.compile(r"(?:(?P<spec>.+):)?(?:(?P<metric>[A-Za-z_]+(?:@[0-9]+)?)=)?(?P<limit>[^=:]+)")


@dataclass(frozen=True, slots=True)
class Gate:
    """The least value of one metric; `spec` names one configuration, None means each."""

    text: str
    spec: str | None
    metric: str
    limit: float


@dataclass(frozen=True, slots=True)
class GateResult:
    """What became of a gate for one configuration, in a sentence."""

    outcome: Outcome
    sentence: str


class GatedRun(Protocol):
    """What a gate looks at of one run."""

    def metric(self, name: str) -> MetricValue | None:
        """A metric's value, or None where the run has no such metric."""

    @property
    def name(self) -> str:
        """The configuration's spec."""

    @property
    def errors(self) -> int:
        """How many queries the searcher failed on."""


def parse_gate(text: str, depth: int = DEPTH_DEFAULT_PAGES) -> Gate:
    """A gate from `[SPEC:][METRIC=]V`; V alone is for recall@5. Raises UsageError unless V lies within 0 and 1."""
    found = _GATE.fullmatch(text)
    try:
        limit = float(found["limit"]) if found else math.nan
    except ValueError:
        limit = math.nan
    if found is None or not 0 <= limit <= 1:
        raise UsageError(f"--fail-under {text!r}: write METRIC=V, such as recall@5=0.8, with V from 0 to 1")
    metric = (found["metric"] or DEFAULT_METRIC).lower()
    known = {one.name: one for one in metrics_for(depth)}
    if metric not in known:
        raise UsageError(f"--fail-under {text!r}: there is no metric {metric!r}; there are {', '.join(known)}")
    if known[metric].is_cost:
        raise UsageError(f"--fail-under {text!r}: of {metric} less is better, so a least value says nothing; gate another metric")
    return Gate(text, found["spec"], metric, limit)


def decide(gates: Sequence[Gate], runs: Sequence[GatedRun], min_n: int) -> list[GateResult]:
    """One result a gate and run. Raises UsageError where a gate names a metric or configuration that was not measured."""
    results: list[GateResult] = []
    for gate in gates:
        chosen = [run for run in runs if gate.spec in (None, run.name)]
        if not chosen:
            raise UsageError(f"--fail-under {gate.text!r}: no configuration {gate.spec!r} was measured")
        results += [_decide(gate, run, min_n) for run in chosen]
    return results


def exit_code(results: Sequence[GateResult]) -> int:
    """1 where a gate failed, else 3 where one is undecided, else 0."""
    outcomes = {result.outcome for result in results}
    return 1 if "failed" in outcomes else 3 if "undecided" in outcomes else 0


def _decide(gate: Gate, run: GatedRun, min_n: int) -> GateResult:
    value = run.metric(gate.metric)
    if value is None:
        raise UsageError(f"--fail-under {gate.text!r}: there is no metric {gate.metric!r} in this report")
    about = f"gate {gate.metric} >= {gate.limit:g} ({run.name})"
    if value.value is None:
        return GateResult("undecided", f"{about}: undecided, no data (n = 0, {value.status})")
    if run.errors:
        return GateResult("undecided", f"{about}: undecided, the searcher failed on {run.errors} queries")
    if value.n < min_n:
        return GateResult("undecided", f"{about}: undecided, n = {value.n} where at least {min_n} are asked for")
    # Full precision: a mean of 0.7999 is not 0.8.
    outcome: Outcome = "passed" if value.value >= gate.limit else "failed"
    return GateResult(outcome, f"{about}: {outcome}, {value.value:.6g} with n = {value.n}")
