"""Candidates against a baseline, top to bottom: pair the queries, see what else differs, subtract, judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vault_eval.comparison.changes import category_changes, metric_change, query_changes
from vault_eval.comparison.comparability import findings
from vault_eval.comparison.pairing import Pairing, paired
from vault_eval.comparison.records import Comparison, Finding, MetricChange, Side
from vault_eval.comparison.verdict import verdict
from vault_eval.errors import UsageError
from vault_eval.metrics.catalogue import mean_metrics
from vault_eval.metrics.metric import Metric
from vault_eval.nearest import did_you_mean
from vault_eval.significance.multiplicity import holm
from vault_eval.vault.paths import quoted

PRIMARY = "mrr@10"


def compare(
    baseline: Side, candidates: Sequence[Side], *, primary: str = PRIMARY, allow_different: bool = False
) -> tuple[Comparison, ...]:
    """One comparison a candidate, in the order given; all of them are one family, and Holm adjusts the primary metric's p.

    Other labels, depth or pool refuse: there are findings and no figures. With `allow_different` the queries of equal id,
    text and gold are compared all the same, and the rest is listed. Raises UsageError for a metric that cannot be paired,
    and for an id that stands twice in a side.
    """
    metrics = _metrics(baseline.depth, primary)
    examined = [_examined(baseline, one, metrics, len(candidates), allow_different=allow_different) for one in candidates]
    # A candidate without a test stays in the family that was declared: leaving it out would favour the others.
    adjusted = holm([one.p for one in examined])
    return tuple(_comparison(baseline, one, p, len(candidates)) for one, p in zip(examined, adjusted, strict=True))


@dataclass(frozen=True, slots=True)
class _Examined:
    """One candidate before its p is adjusted; `metrics` is empty where it is refused, else the primary one comes first."""

    side: Side
    pairing: Pairing
    findings: tuple[Finding, ...]
    primary: Metric
    metrics: tuple[MetricChange, ...]

    @property
    def p(self) -> float:
        """The p of the primary metric; 1 where nothing was tested."""
        chance = self.metrics[0].chance if self.metrics else None
        return 1.0 if chance is None else chance.p


def _metrics(depth: int, primary: str) -> tuple[Metric, ...]:
    """The metrics that can be paired, the primary one first."""
    known = {metric.name: metric for metric in mean_metrics(depth)}
    primaries = [name for name, metric in known.items() if metric.is_quality]
    if primary not in primaries:
        problem = f"there is no metric {quoted(primary)} that queries can be paired by{did_you_mean(primary, primaries)}"
        raise UsageError(f"{problem}; there are {', '.join(primaries)}")
    return (known.pop(primary), *known.values())


def _examined(baseline: Side, candidate: Side, metrics: tuple[Metric, ...], family: int, *, allow_different: bool) -> _Examined:
    pairing = paired(baseline, candidate)
    found = findings(baseline, candidate, pairing, allow_different=allow_different)
    if any(one.effect == "refuses" for one in found):
        return _Examined(candidate, pairing, found, metrics[0], ())
    named = {name for side in (baseline, candidate) for query in side.queries for name in query.values}
    changes = (
        metric_change(metric, pairing.pairs, is_primary=metric is metrics[0], family=family)
        for metric in metrics
        if metric is metrics[0] or metric.name in named
    )
    return _Examined(candidate, pairing, found, metrics[0], tuple(changes))


def _comparison(baseline: Side, one: _Examined, p_adjusted: float, family: int) -> Comparison:
    metrics = one.metrics
    if metrics and metrics[0].chance is not None:
        metrics = (replace(metrics[0], chance=replace(metrics[0].chance, p_adjusted=p_adjusted)), *metrics[1:])
    judged = verdict(baseline, one.side, one.pairing, one.findings, metrics[0] if metrics else None)
    changes = query_changes(one.primary, one.pairing.pairs if metrics else ())
    return Comparison(
        baseline=baseline,
        candidate=one.side,
        primary=one.primary.name,
        family=family,
        verdict=judged,
        findings=one.findings,
        metrics=metrics,
        changes=changes,
        unpaired=one.pairing.unpaired,
        categories=category_changes(changes),
    )
