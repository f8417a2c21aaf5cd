"""Where the marks of a plot stand: numbers only. The template draws them, so that every text goes through its escaping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log

from vault_eval.metrics.score import MetricValue
from vault_eval.reports import wording

CURVES_MAX = 6  # as many line styles as can be told apart without colour
BINS = 32
CURVE_LEFT, CURVE_RIGHT, CURVE_TOP, CURVE_BOTTOM = 40, 620, 12, 230
TIMES_LEFT, TIMES_RIGHT, TIMES_TOP, TIMES_BOTTOM = 10, 630, 36, 102


@dataclass(frozen=True, slots=True)
class Dot:
    """A mark at one cutoff, in the units of the drawing; `low` and `high` are the ends of the interval where there is one."""

    x: float
    y: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Recall at each cutoff of one run."""

    name: str
    style: int  # from 1: a colour with its dashes
    points: str  # for `polyline`
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One line of the grid: where it stands, and what is written at it."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Bin:
    """One column of a histogram, in the units of the drawing."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A line through a histogram and its text, each mark's at a height of its own, so that they never overlap."""

    x: float
    label: str
    label_y: float
    is_left: bool


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often which time was measured; the axis is logarithmic."""

    bins: tuple[Bin, ...]
    marks: tuple[Mark, ...]
    low: str
    high: str


def curve(name: str, place: int, means: Mapping[int, float], metrics: Mapping[str, MetricValue]) -> Curve:
    """The curve of the run at `place` (from 0), with the interval at the cutoffs that have one."""
    dots = tuple(_dot(cutoff, mean, metrics.get(f"recall@{cutoff}")) for cutoff, mean in means.items())
    return Curve(name, place % CURVES_MAX + 1, " ".join(f"{dot.x:g},{dot.y:g}" for dot in dots), dots)


def recall_axis() -> tuple[Axis, ...]:
    """The lines of the grid at a quarter each."""
    return tuple(Axis(_y(quarter / 4), f"{quarter / 4:g}") for quarter in range(5))


def cutoff_axis(cutoffs: Sequence[int]) -> tuple[Axis, ...]:
    """Where each cutoff stands."""
    return tuple(Axis(_x(cutoff), str(cutoff)) for cutoff in cutoffs)


def histogram(times_ms: Sequence[float], p50: float, p95: float) -> Histogram | None:
    """The distribution of the times in milliseconds; None without any."""
    if not times_ms:
        return None
    low, high = max(min(times_ms), 1e-3), max(*times_ms, 1e-3)
    counts = [0] * BINS
    for time in times_ms:
        counts[min(BINS - 1, floor(_share(time, low, high) * BINS))] += 1
    marks = (_mark("p50", p50, low, high, 11), _mark("p95", p95, low, high, 28))
    return Histogram(_bins(counts), marks, f"{wording.milliseconds(low)} ms", f"{wording.milliseconds(high)} ms")


def percent(value: float | None, whole: float = 1.0) -> int:
    """The length of a bar, 0 to 100; what is there at all is never shorter than 1."""
    if value is None or whole <= 0 or value <= 0:
        return 0
    return max(1, min(100, round(100 * value / whole)))


def _dot(cutoff: int, mean: float, metric: MetricValue | None) -> Dot:
    interval = metric.interval if metric is not None else None
    low, high = (_y(interval.low), _y(interval.high)) if interval is not None else (None, None)
    return Dot(_x(cutoff), _y(mean), low, high)


def _x(cutoff: int) -> float:
    return round(CURVE_LEFT + 20 + (cutoff - 1) * (CURVE_RIGHT - CURVE_LEFT - 40) / 9, 1)


def _y(value: float) -> float:
    return round(CURVE_BOTTOM - value * (CURVE_BOTTOM - CURVE_TOP), 1)


def _share(time: float, low: float, high: float) -> float:
    return log(max(time, low) / low) / log(high / low) if high > low else 0.5


def _bins(counts: Sequence[int]) -> tuple[Bin, ...]:
    width, most = (TIMES_RIGHT - TIMES_LEFT) / BINS, max(counts)
    heights = [round(count / most * (TIMES_BOTTOM - TIMES_TOP), 1) for count in counts]
    return tuple(
        Bin(round(TIMES_LEFT + place * width, 1), TIMES_BOTTOM - height, round(width - 1, 1), height)
        for place, height in enumerate(heights)
        if height
    )


def _mark(name: str, time: float, low: float, high: float, label_y: float) -> Mark:
    share = _share(time, low, high)
    x = round(TIMES_LEFT + share * (TIMES_RIGHT - TIMES_LEFT), 1)
    return Mark(x, f"{name} {wording.milliseconds(time)} ms", label_y, is_left=share > 0.5)
