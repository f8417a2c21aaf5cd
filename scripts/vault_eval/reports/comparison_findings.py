"""What is shown of a comparison: plain records that each rendering only lays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from vault_eval.comparison.records import Comparison, MetricChange, Outcome, QueryChange, Side
from vault_eval.metrics.catalogue import mean_metrics
from vault_eval.reports import wording
from vault_eval.reports.comparison_sentences import interval_text, judged_change, signed

OUTCOME_TITLES: dict[Outcome, str] = {"better": "Better", "worse": "Worse"}


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One configuration as it is named: `role` is baseline or candidate."""

    role: str
    name: str
    measured: str


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One metric on both sides as it is shown; a dash where there is no value."""

    label: str
    baseline: str
    candidate: str
    delta: str
    interval: str
    n: str
    wins: str
    losses: str
    ties: str

    @property
    def cells(self) -> tuple[str, ...]:
        """All of it in the order of a table's columns."""
        return astuple(self)


@dataclass(frozen=True, slots=True)
class ChangedQuery:
    """A query that got better or worse: `ranks` of the first expected page before and after, `delta` of the primary metric."""

    id: str
    query: str
    category: str | None
    ranks: str
    delta: str
    first: tuple[str, str]  # the page at rank 1 before and after, "nothing" for an empty answer


@dataclass(frozen=True, slots=True)
class ChangedCategory:
    """The primary metric within one category."""

    name: str
    delta: str
    n: str
    wins: str
    losses: str
    is_against: bool


def compared_sides(comparison: Comparison) -> tuple[ComparedSide, ComparedSide]:
    """The baseline and the candidate."""
    return _side("baseline", comparison.baseline), _side("candidate", comparison.candidate)


def candidate_names(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """Each candidate's spec; where two have the same one, with what tells them apart: when it was measured."""
    names = [comparison.candidate.name for comparison in comparisons]
    if len(set(names)) == len(names):
        return tuple(names)
    return tuple(f"{one.name} · {one.measured}" for _, one in map(compared_sides, comparisons))


def setting_changes(comparison: Comparison) -> tuple[str, ...]:
    """`k1 1.5 → 1.2`: every setting that both have and that differs."""
    before, after = comparison.baseline.settings, comparison.candidate.settings
    told = ((name, wording.setting_text(before[name]), wording.setting_text(after[name])) for name in before if name in after)
    return tuple(f"{name} {one} → {other}" for name, one, other in told if one != other)


def primary_cells(comparison: Comparison) -> tuple[str, str, str]:
    """Difference, interval and n of the primary metric; dashes where there is no figure."""
    change = judged_change(comparison)
    if change is None:
        return wording.NOTHING, wording.NOTHING, wording.NOTHING
    return signed(change.delta), interval_text(change), f"{change.n:,}"


def compared_figures(comparison: Comparison) -> tuple[ComparedFigure, ...]:
    """Every metric, the primary one first; those that no paired query has are left out, but for the primary."""
    if judged_change(comparison) is None:
        return ()
    qualities = {metric.name for metric in mean_metrics(comparison.baseline.depth) if metric.is_quality}
    return tuple(
        _figure(change, is_quality=change.name in qualities) for change in comparison.metrics if change.n or change.is_primary
    )


def changed_queries(comparison: Comparison, outcome: Outcome) -> tuple[ChangedQuery, ...]:
    """The queries with this outcome as they are shown, in the order of `by_size`."""
    if judged_change(comparison) is None:
        return ()
    return tuple(_changed(change) for change in by_size(comparison, outcome))


def by_size(comparison: Comparison, outcome: Outcome) -> tuple[QueryChange, ...]:
    """The queries with this outcome, largest difference first, equal ones in the order of the labels."""
    return tuple(sorted(comparison.of(outcome), key=lambda change: -abs(change.delta or 0.0)))


def ranks_text(change: QueryChange) -> str:
    """`8 → 1`: the rank of the first expected page before and after, `none` where none was returned."""
    before, after = ("none" if rank is None else f"{rank:,}" for rank in change.ranks)
    return f"{before} → {after}"


def changed_categories(comparison: Comparison) -> tuple[ChangedCategory, ...]:
    """The primary metric by category; nothing where there are fewer than two to be told apart."""
    if judged_change(comparison) is None or len(comparison.categories) < 2:
        return ()
    return tuple(
        ChangedCategory(one.category, signed(one.delta), f"{one.n:,}", f"{one.wins:,}", f"{one.losses:,}", one.against)
        for one in comparison.categories
    )


def _side(role: str, side: Side) -> ComparedSide:
    return ComparedSide(role, side.name, wording.started_text(side.started))


def _figure(change: MetricChange, *, is_quality: bool) -> ComparedFigure:
    """What more of makes no search better has a difference, and no queries that got better or worse."""
    outcomes = (f"{count:,}" if is_quality else wording.NOTHING for count in (change.wins, change.losses, change.ties))
    return ComparedFigure(
        wording.metric_label(change.name),
        wording.score_text(change.baseline),
        wording.score_text(change.candidate),
        signed(change.delta),
        interval_text(change),
        f"{change.n:,}",
        *outcomes,
    )


def _changed(change: QueryChange) -> ChangedQuery:
    first = tuple(ranking[0] if ranking else "nothing" for ranking in change.rankings)
    return ChangedQuery(
        change.id,
        change.query,
        change.category,
        ranks_text(change),
        signed(change.delta),
        (first[0], first[1]),
    )
