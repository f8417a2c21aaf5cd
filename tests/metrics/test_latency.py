"""Percentiles by nearest rank: the value at ceil(percent * n / 100), in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.metrics.latency import LatencySummary, nearest_rank, summary


@pytest.mark.parametrize(
    ("values", "p50", "p95"),
    [
        ([7.0], 7.0, 7.0),
        ([3.0, 1.0], 1.0, 3.0),  # ceil(1) = 1, ceil(1.9) = 2
        ([10.0, 30.0, 20.0], 20.0, 30.0),  # ceil(1.5) = 2, ceil(2.85) = 3
        ([float(n) for n in range(20)], 9.0, 18.0),  # 10th and 19th; int(20 * .95) as an index takes the 20th
        ([float(n) for n in range(1, 101)], 50.0, 95.0),  # .95 * 100 in floats is 95.0 or a hair above
        ([float(n) for n in range(1, 41)], 20.0, 38.0),
        ([float(n) for n in range(1, 22)], 11.0, 20.0),  # ceil(10.5), ceil(19.95)
    ],
)
def test_nearest_rank_percentiles(values: list[float], p50: float, p95: float) -> None:
    found = summary(values)
    assert found is not None
    assert (p50, p95) == (found.p50, found.p95)


@pytest.mark.parametrize(("n", "percent"), [(0, 50), (5, 0), (5, 101), (-1, 50)])
def test_a_rank_that_cannot_be_is_refused(n: int, percent: int) -> None:
    with pytest.raises(ValueError, match="percent 1 to 100"):
        nearest_rank(n, percent)


def test_a_summary_names_its_n_and_nothing_is_none() -> None:
    # Sorted 1, 2, 3, 10: 2nd is p50, ceil(3.8) = 4th is p95, 16 / 4 = 4.
    assert summary([10.0, 2.0, 1.0, 3.0]) == LatencySummary(4, 2.0, 10.0, 4.0, 10.0)
    assert summary([]) is None


@pytest.mark.parametrize(("n", "slowest"), [(1, True), (19, True), (20, False), (60, False)])
def test_below_twenty_times_p95_is_only_the_slowest(n: int, slowest: bool) -> None:
    found = summary(float(number) for number in range(n))
    assert found is not None
    assert slowest == found.p95_is_slowest


@given(st.integers(1, 10_000), st.integers(1, 100))
def test_the_rank_is_the_exact_ceiling(n: int, percent: int) -> None:
    assert ceil(Fraction(percent, 100) * n) == nearest_rank(n, percent)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_a_percentile_is_a_measured_value_and_percentiles_are_in_order(values: list[float]) -> None:
    found = summary(values)
    assert found is not None
    assert {found.p50, found.p95, found.max} <= set(values)
    assert found.p50 <= found.p95 <= found.max
