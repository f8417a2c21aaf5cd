"""Whether a report passes a limit that somebody set before it was measured; no data never passes.

Three outcomes: undecided, where there is no data, too few queries or an error, whatever the figure, or where the figure keeps
the limit and a bound that was asked for does not; failed, where the figure itself breaks the limit; else passed. The first two
end a build, with different exit codes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from vault_eval.errors import UsageError
from vault_eval.limits import DEPTH_DEFAULT_PAGES
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.score import MetricValue
from vault_eval.nearest import did_you_mean
from vault_eval.strict_number import number_of

if TYPE_CHECKING:
    from vault_eval.comparison.records import Comparison

DEFAULT_METRIC = "recall@5"
# A fall in the primary metric that is no regression yet.
DEFAULT_MARGIN = 0.05
Outcome: TypeAlias = Literal["passed", "failed", "undecided"]
GateOn: TypeAlias = Literal["point", "lower"]  # the mean itself, or the lower bound of its 95 % interval
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
    """What became of a gate for one configuration: which gate, and what was found."""

    outcome: Outcome
    gate: str
    detail: str

    @property
    def sentence(self) -> str:
        """All of it, for a person."""
        return f"{self.gate}: {self.outcome}, {self.detail}"


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
    limit = number_of(found["limit"]) if found else None
    known = {one.name: one for one in metrics_for(depth)}
    if found is None or limit is None or not 0 <= limit <= 1:
        meant = "" if text in known else did_you_mean(text, known)  # where it is a metric without a limit
        raise UsageError(f"--fail-under {text!r}{meant}: write METRIC=V, such as recall@5=0.8, with V from 0 to 1")
    metric = (found["metric"] or DEFAULT_METRIC).lower()
    if metric not in known:
        problem = f"--fail-under {text!r}: there is no metric {metric!r}{did_you_mean(metric, known)}"
        raise UsageError(f"{problem}; there are {', '.join(known)}")
    if known[metric].is_cost:
        raise UsageError(f"--fail-under {text!r}: of {metric} less is better, so a least value says nothing; gate another metric")
    return Gate(text, found["spec"], metric, limit)


def parse_margin(text: str) -> float:
    """The fall that a regression gate allows. Raises UsageError unless it lies within 0 and 1."""
    margin = number_of(text)
    if margin is None or not 0 <= margin <= 1:
        raise UsageError(f"--margin {text!r}: write how far the mean may fall, such as {DEFAULT_MARGIN:g}, from 0 to 1")
    return margin


def decide(gates: Sequence[Gate], runs: Sequence[GatedRun], min_n: int, on: GateOn = "point") -> list[GateResult]:
    """One result a gate and run. Raises UsageError where a gate names a metric or configuration that was not measured."""
    results: list[GateResult] = []
    for gate in gates:
        chosen = [run for run in runs if gate.spec in (None, run.name)]
        if not chosen:
            raise UsageError(f"--fail-under {gate.text!r}: no configuration {gate.spec!r} was measured")
        results += [_decide(gate, run, min_n, on) for run in chosen]
    return results


def regression(comparison: Comparison, margin: float = DEFAULT_MARGIN, min_n: int = 1) -> GateResult:
    """Whether the candidate is no worse than the baseline by `margin` or more in the primary metric (one-sided non-inferiority).

    It passes where the one-sided 95 % lower bound of the mean difference lies above -margin, and where the rankings are
    identical; it fails where the mean itself fell by more than the margin.
    """
    about = f"gate regression of {comparison.primary} within {margin:g} ({comparison.candidate.name})"
    return GateResult(*_regression(comparison, margin, min_n, about))


def exit_code(results: Sequence[GateResult]) -> int:
    """1 where a gate failed, else 3 where one is undecided, else 0."""
    outcomes = {result.outcome for result in results}
    return 1 if "failed" in outcomes else 3 if "undecided" in outcomes else 0


def _decide(gate: Gate, run: GatedRun, min_n: int, on: GateOn) -> GateResult:
    value = run.metric(gate.metric)
    if value is None:
        raise UsageError(f"--fail-under {gate.text!r}: there is no metric {gate.metric!r} in this report")
    about = f"gate {gate.metric} >= {gate.limit:g} ({run.name})"
    in_the_way = _in_the_way(value, run.errors, min_n)
    if in_the_way is not None or value.value is None:
        return GateResult("undecided", about, in_the_way or "no data")
    # Full precision: a mean of 0.7999 is not 0.8.
    outcome: Outcome = "passed" if value.value >= gate.limit else "failed"
    found = f"{value.value:.6g} with n = {value.n}"
    if on == "lower" and outcome == "passed":
        low = value.interval.low if value.interval is not None else -math.inf
        outcome = "passed" if low >= gate.limit else "undecided"
        found += f", lower bound {low:.6g}"
    return GateResult(outcome, about, found)


def _in_the_way(value: MetricValue, errors: int, min_n: int) -> str | None:
    """Why a value decides nothing, or None."""
    if value.value is None:
        return f"no data (n = 0, {value.status})"
    if errors:
        return f"the searcher failed on {errors} of its queries"
    if value.status != "ok":
        return f"{value.status}: the searcher hid what some queries need, n = {value.n}"
    return _too_few(value.n, min_n) if value.n < min_n else None


def _too_few(n: int, min_n: int) -> str:
    return f"n = {n} where at least {min_n} are asked for"


def _regression(comparison: Comparison, margin: float, min_n: int, about: str) -> tuple[Outcome, str, str]:
    change, verdict = comparison.change, comparison.verdict
    if change is None or verdict.word == "not comparable":
        return "undecided", about, f"not comparable: {'; '.join(verdict.reasons)}"
    if change.delta is None or change.bound is None:
        return "undecided", about, "no data (n = 0)"
    if change.n < min_n:
        return "undecided", about, _too_few(change.n, min_n)
    if verdict.word == "identical":
        return "passed", about, "the rankings are identical"
    found = f"{change.delta:+.6g} with n = {change.n}, lower bound {change.bound:+.6g}"
    if comparison.lost:
        found += f"; not paired: {len(comparison.lost)}"
    if change.delta < -margin:
        return "failed", about, found
    return "passed" if change.bound > -margin else "undecided", about, found
