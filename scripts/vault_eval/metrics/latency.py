"""Latency figures in milliseconds; percentiles by nearest rank, so each is a time that was measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """What a person reads of a set of times, all in milliseconds."""

    n: int
    p50: float
    p95: float
    mean: float
    max: float

    @property
    def p95_is_slowest(self) -> bool:
        """Whether p95 can only be the maximum: below 20 times it says nothing more."""
        return nearest_rank(self.n, 95) == self.n


def nearest_rank(n: int, percent: int) -> int:
    """ceil(percent * n / 100), counted from 1, in whole numbers: `int(n * 0.95)` is one place off.

    ValueError unless n is positive and percent is 1 to 100.
    """
    if n < 1 or not 1 <= percent <= 100:
        raise ValueError(f"nearest rank of percent {percent} among {n} values: n must be positive, percent 1 to 100")
    return -(-percent * n // 100)


def summary(times_ms: Iterable[float]) -> LatencySummary | None:
    """n, p50, p95, mean and maximum of the times; None without any."""
    ordered = sorted(times_ms)
    n = len(ordered)
    if not n:
        return None
    p50, p95 = (ordered[nearest_rank(n, percent) - 1] for percent in (50, 95))
    return LatencySummary(n, p50, p95, fsum(ordered) / n, ordered[-1])
