"""What changed over the pairs: each metric with what chance could do, each query, each category."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum

from vault_eval.comparison.pairing import Pair
from vault_eval.comparison.records import CategoryChange, Chance, MetricChange, Outcome, QueryChange
from vault_eval.metrics.metric import Metric
from vault_eval.significance.differences import TIE_MAX, Differences, grouped
from vault_eval.significance.paired import mcnemar, paired_t, sign_flip
from vault_eval.significance.power import ALPHA, detectable_difference, queries_needed, wins_needed

# One question in ten answered at rank 1 instead of not at all is what a person notices: a sample that would miss it may
# not say that there is no evidence of a difference.
DIFFERENCE_WORTH_SEEING = 0.1
_OUTCOMES: tuple[Outcome, ...] = ("better", "worse", "same")


def metric_change(metric: Metric, pairs: Sequence[Pair], *, is_primary: bool, family: int) -> MetricChange:
    """One metric over the pairs that have a value of it on both sides; None throughout where there is no such pair."""
    chosen = [(pair, *values) for pair in pairs if (values := _values(metric.name, pair)) is not None]
    n = len(chosen)
    if not n:
        return MetricChange(metric.name, 0, None, None, None, None, None, 0, 0, 0, None, is_primary)
    # Queries that share a gold page stand or fall together with it.
    groups = grouped([pair[0].pages for pair, _, _ in chosen])
    differences = Differences.of([after - before for _, before, after in chosen], groups)
    outcomes = [_outcome(value) for value in differences.values]
    wins, losses, ties = (outcomes.count(outcome) for outcome in _OUTCOMES)
    return MetricChange(
        name=metric.name,
        n=n,
        baseline=fsum(before for _, before, _ in chosen) / n,
        candidate=fsum(after for _, _, after in chosen) / n,
        delta=differences.mean,
        interval=differences.bounds(),
        bound=differences.bounds(0.9).low,  # five percent in each tail: one end alone is a one-sided 95 % bound
        wins=wins,
        losses=losses,
        ties=ties,
        chance=_chance(differences, wins, losses, is_binary=metric.binary, family=family),
        is_primary=is_primary,
    )


def query_changes(metric: Metric, pairs: Sequence[Pair]) -> tuple[QueryChange, ...]:
    """Each pair under one metric: better, worse, or the same where it has no value or the values tie."""
    return tuple(_query_change(metric, pair) for pair in pairs)


def category_changes(changes: Sequence[QueryChange]) -> tuple[CategoryChange, ...]:
    """The changes within each category of the baseline's labels, by name; `against` where it moved otherwise than the mean
    over all, which may have stayed.
    """
    overall = _mean(changes)
    by_category: dict[str, list[QueryChange]] = {}
    for change in changes:
        if change.category is not None and change.delta is not None:
            by_category.setdefault(change.category, []).append(change)
    found = []
    for name, inside in sorted(by_category.items()):
        delta = _mean(inside)
        wins, losses = (sum(change.outcome == outcome for change in inside) for outcome in ("better", "worse"))
        against = abs(delta) >= TIE_MAX and delta * overall <= 0
        found.append(CategoryChange(name, len(inside), delta, wins, losses, against))
    return tuple(found)


def _chance(differences: Differences, wins: int, losses: int, *, is_binary: bool, family: int) -> Chance:
    """What chance does to these differences: McNemar for independent binary pairs, else sign-flip."""
    is_count = is_binary and not differences.is_grouped
    tested = mcnemar(wins, losses) if is_count else sign_flip(differences)
    deviation, effective_n = differences.deviation, differences.effective_n
    independent = queries_needed(deviation, DIFFERENCE_WORTH_SEEING, is_count=is_count)
    return Chance(
        test=tested.test,
        p=tested.p,
        smallest_p=tested.smallest_p,
        wins_needed=wins_needed(losses, ALPHA / family),
        wins_decide=is_count or not (losses or differences.is_grouped),
        t_p=paired_t(differences),
        detectable=detectable_difference(deviation, int(effective_n), is_count=is_count),
        queries_needed=ceil(independent * differences.n / effective_n),
        effective_n=effective_n,
    )


def _query_change(metric: Metric, pair: Pair) -> QueryChange:
    before, after = pair
    values = _values(metric.name, pair)
    outcome: Outcome = "same" if values is None else _outcome(values[1] - values[0])
    return QueryChange(
        before.id,
        before.query,
        before.category,
        outcome,
        values or (None, None),
        (before.gold_rank, after.gold_rank),
        (before.ranking, after.ranking),
    )


def _values(name: str, pair: Pair) -> tuple[float, float] | None:
    before, after = (query.values.get(name) for query in pair)
    return None if before is None or after is None else (before, after)


def _outcome(difference: float) -> Outcome:
    return "same" if abs(difference) < TIE_MAX else "better" if difference > 0 else "worse"


def _mean(changes: Sequence[QueryChange]) -> float:
    deltas = [change.delta for change in changes if change.delta is not None]
    mean = fsum(deltas) / len(deltas) if deltas else 0.0
    return 0.0 if abs(mean) < TIE_MAX else mean
