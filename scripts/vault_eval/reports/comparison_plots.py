"""Where the marks of the plots of a comparison and of a trend stand: numbers only, drawn by the templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vault_eval.comparison.records import Outcome, QueryChange
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports.history import Series
from vault_eval.reports.svg_plots import Axis

BARS_MAX = 120  # more would be thinner than a line of the screen
BARS_LEFT, BARS_RIGHT, BARS_TOP, BARS_MIDDLE = 46, 630, 12, 116
BAR_MAX_WIDTH = 26
SLOPE_LEFT, SLOPE_RIGHT, SLOPE_TOP, SLOPE_STEP = 150, 490, 34, 24
LINE_MIN_WIDTH, LINE_MAX_WIDTH = 1.5, 12.0
TREND_LEFT, TREND_RIGHT, TREND_TOP, TREND_BOTTOM = 40, 620, 12, 170


@dataclass(frozen=True, slots=True)
class DifferenceBar:
    """One query whose primary metric changed: up for better, down for worse."""

    x: float
    y: float
    width: float
    height: float
    outcome: Outcome
    id: str


@dataclass(frozen=True, slots=True)
class SlopeLine:
    """All queries whose first expected page went from one rank to another; ranks beyond ten are one place, with none."""

    y1: float
    y2: float
    width: float
    outcome: Outcome
    queries: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TrendDot:
    """One report in the drawing of a trend; `low` and `high` are the ends of the interval where there is one."""

    x: float
    y: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Trend:
    """One series: stretches of points of the same labels with no value missing, all dots, and where something changed."""

    lines: tuple[str, ...]  # for `polyline`
    dots: tuple[TrendDot, ...]
    breaks: tuple[Axis, ...]


def difference_bars(changes: Sequence[QueryChange]) -> tuple[DifferenceBar, ...]:
    """The changed queries from the most gained to the most lost; of more than fit, those that changed most."""
    changed = [(change, change.delta) for change in changes if change.outcome != "same" and change.delta is not None]
    changed = sorted(changed, key=lambda one: -abs(one[1]))[:BARS_MAX]
    changed.sort(key=lambda one: -one[1])
    step = min(BAR_MAX_WIDTH, (BARS_RIGHT - BARS_LEFT) / max(1, len(changed)))
    return tuple(_bar(change, delta, BARS_LEFT + place * step, step) for place, (change, delta) in enumerate(changed))


def difference_axis() -> tuple[Axis, ...]:
    """The lines of the grid at a half each."""
    return tuple(Axis(_bar_y(value), f"{value:+g}" if value else "0") for value in (1, 0.5, 0, -0.5, -1))


def slope_lines(changes: Sequence[QueryChange]) -> tuple[SlopeLine, ...]:
    """The scored queries by rank before and after; those that stayed first, so that what changed is drawn over them."""
    scored = [change for change in changes if change.delta is not None]
    counts = Counter((_place(change.ranks[0]), _place(change.ranks[1]), change.outcome) for change in scored)
    order: dict[Outcome, int] = {"same": 0, "worse": 1, "better": 2}
    most = max(counts.values(), default=1)
    return tuple(
        SlopeLine(
            _slope_y(before),
            _slope_y(after),
            round(LINE_MIN_WIDTH + (LINE_MAX_WIDTH - LINE_MIN_WIDTH) * (queries - 1) / max(1, most - 1), 1),
            outcome,
            queries,
            _place_text(before),
            _place_text(after),
        )
        for (before, after, outcome), queries in sorted(counts.items(), key=lambda one: (order[one[0][2]], one[0]))
    )


def slope_axis() -> tuple[Axis, ...]:
    """Where each rank stands, the last place for pages beyond ten."""
    return tuple(Axis(_slope_y(place), _place_text(place)) for place in range(1, METRIC_CUTOFF_PAGES + 2))


def trend(series: Series) -> Trend:
    """The points of a series from left to right, a value from 0 at the bottom to 1 at the top."""
    dots: list[TrendDot] = []
    lines: list[list[str]] = [[]]
    breaks: list[Axis] = []
    step = (TREND_RIGHT - TREND_LEFT - 30) / max(1, len(series.points) - 1)
    for place, point in enumerate(series.points):
        x = round(TREND_LEFT + 15 + place * step, 1)
        if point.changed:
            breaks.append(Axis(round(x - min(step / 2, 15), 1), ", ".join(point.changed)))
        if "labels" in point.changed:
            lines.append([])  # the points on both sides answer other questions
        value, interval = point.metric.value, point.metric.interval
        if point.metric.status != "ok" or value is None:
            lines.append([])
            continue
        ends = (_trend_y(interval.low), _trend_y(interval.high)) if interval is not None else (None, None)
        dots.append(TrendDot(x, _trend_y(value), *ends))
        lines[-1].append(f"{x:g},{dots[-1].y:g}")
    return Trend(tuple(" ".join(line) for line in lines if len(line) > 1), tuple(dots), tuple(breaks))


def trend_axis() -> tuple[Axis, ...]:
    """The lines of the grid at a quarter each."""
    return tuple(Axis(_trend_y(quarter / 4), f"{quarter / 4:g}") for quarter in range(5))


def _bar(change: QueryChange, delta: float, x: float, step: float) -> DifferenceBar:
    top, bottom = sorted((_bar_y(0), _bar_y(delta)))
    return DifferenceBar(
        round(x, 1), top, round(max(1.0, step - 2), 1), round(max(1.0, bottom - top), 1), change.outcome, change.id
    )


def _bar_y(value: float) -> float:
    return round(BARS_MIDDLE - value * (BARS_MIDDLE - BARS_TOP), 1)


def _place(rank: int | None) -> int:
    return METRIC_CUTOFF_PAGES + 1 if rank is None else min(rank, METRIC_CUTOFF_PAGES + 1)


def _place_text(place: int) -> str:
    return str(place) if place <= METRIC_CUTOFF_PAGES else "not in 10"


def _slope_y(place: int) -> float:
    return SLOPE_TOP + (place - 1) * SLOPE_STEP


def _trend_y(value: float) -> float:
    return round(TREND_BOTTOM - value * (TREND_BOTTOM - TREND_TOP), 1)
