"""Per-query scores, and their means with the number of queries behind each and what may be said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal, Protocol

from vault_eval.metrics.judged_query import Grain, JudgedQuery
from vault_eval.metrics.metric import Across, Metric

Status = Literal["ok", "no data", "unavailable", "unreliable"]


class Bounds(Protocol):
    """The interval that a rule gives; `significance` has the records that fit."""

    @property
    def low(self) -> float:
        """The lower 95 % bound, 0 or more."""

    @property
    def high(self) -> float:
        """The upper 95 % bound, 1 or less."""

    @property
    def method(self) -> str:
        """How the bounds were found."""


IntervalRule = Callable[[Sequence[float], bool], Bounds | None]  # per-query values, whether the metric is binary


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A mean over `n` queries. `value` is None, and n 0, when there is nothing to average: never 0, never NaN.

    ok: every query of the denominator is in the mean. no data: the denominator is empty. unavailable: the searcher
    hides what the metric needs. unreliable: some queries ended in an error or hid what is needed, the rest are averaged.
    """

    value: float | None
    n: int
    status: Status
    interval: Bounds | None = None


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Every metric of every query, computed once, so that totals and groups read the same numbers."""

    metrics: tuple[Metric, ...]
    size: int  # queries, in the order given
    columns: Mapping[str, tuple[float | None, ...]]  # metric name -> one value a query
    members: Mapping[str, frozenset[int]]  # metric name -> places of the queries in its denominator
    queries: tuple[JudgedQuery, ...]

    @classmethod
    def of(cls, metrics: Sequence[Metric], queries: Sequence[JudgedQuery]) -> ScoreTable:
        """The scores of all queries; a scored query with an empty ranking has 0, not None."""
        means = [metric for metric in metrics if metric.across is None]
        columns = {metric.name: tuple(map(metric.of_query, queries)) for metric in metrics if metric.of_query is not None}
        inside = {
            "scored": frozenset(place for place, query in enumerate(queries) if query.is_scored),
            "returned": frozenset(place for place, query in enumerate(queries) if query.is_scored and query.ranked),
            "negative": frozenset(place for place, query in enumerate(queries) if query.is_negative),
            "section": _naming(queries, ("section",)),
            "page": _naming(queries, ("page",)),
            "place": _naming(queries, ("section", "page")),
        }
        members = {metric.name: inside[metric.over] for metric in means}
        return cls(tuple(metrics), len(queries), columns, members, tuple(queries))

    def aggregate(
        self, places: Iterable[int] | None = None, *, interval: IntervalRule | None = None, errors: int = 0
    ) -> dict[str, MetricValue]:
        """Each metric's mean over the queries at `places` (from 0; all when None), by metric name.

        Figures over all queries at once are there only when `places` is None.
        `errors` is how many queries of this group the searcher failed on: they are not in the table, and every
        mean beside them is unreliable.
        """
        chosen = range(self.size) if places is None else sorted(set(places))
        return {
            metric.name: self._mean(metric, chosen, interval, errors)
            if metric.across is None
            else _figure(metric.across(self.queries), metric.binary, interval, errors)
            for metric in self.metrics
            if metric.across is None or places is None
        }

    def _mean(self, metric: Metric, places: Iterable[int], rule: IntervalRule | None, errors: int) -> MetricValue:
        column, members = self.columns[metric.name], self.members[metric.name]
        inside = [column[place] for place in places if place in members]
        values = [value for value in inside if value is not None]
        if not values:
            return MetricValue(None, 0, "unavailable" if inside else "no data")
        complete = len(values) == len(inside) and not errors
        interval = rule(values, metric.binary) if rule is not None else None
        # fsum is exact before its one rounding, so the order of the queries cannot show.
        return MetricValue(fsum(values) / len(values), len(values), "ok" if complete else "unreliable", interval)


def _naming(queries: Sequence[JudgedQuery], grains: tuple[Grain, ...]) -> frozenset[int]:
    """The places of scored queries whose label names a place of such a grain."""
    return frozenset(
        place for place, query in enumerate(queries) if query.is_scored and any(one.grain in grains for one in query.places)
    )


def _figure(found: Across, binary: bool, rule: IntervalRule | None, errors: int) -> MetricValue:
    if not found.sample:
        return MetricValue(None, 0, "unavailable" if found.is_hidden else "no data")
    interval = rule(found.sample, binary) if rule is not None else None
    return MetricValue(fsum(found.sample) / len(found.sample), found.n, "unreliable" if errors else "ok", interval)


def aggregate(
    metrics: Sequence[Metric], queries: Sequence[JudgedQuery], *, interval: IntervalRule | None = None, errors: int = 0
) -> dict[str, MetricValue]:
    """Each metric's mean over all queries of its denominator, by metric name; for groups keep the `ScoreTable`."""
    return ScoreTable.of(metrics, queries).aggregate(interval=interval, errors=errors)
