"""Intervals of means: published figures, by hand and by scipy, and the rule between them."""

from __future__ import annotations

import sys
from math import comb, exp, factorial, sqrt
from pathlib import Path
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.significance import Interval, mean_interval
from vault_eval.significance.intervals import RARE_MEANS, Z_95, abc, modified_wilson, wilson

sys.path.append(str(Path(__file__).resolve().parents[2]))

from benchmarks.bca import bca

RECIPROCAL_RANKS = [1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 0.0]
SHARES = [0.45, 0.15, 0.1, 0.05, 0.05, 0.02, 0.18]


def sample(seed: int, n: int) -> list[float]:
    return Random(seed).choices(RECIPROCAL_RANKS, SHARES, k=n)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (4, 4, 0.510, 1.0),
        (14, 14, 0.785, 1.0),
        (17, 20, 0.640, 0.948),
        (27, 30, 0.744, 0.965),
        (45, 50, 0.786, 0.957),
        (20, 20, 0.839, 1.0),
        (0, 20, 0.0, 0.161),
    ],
)
def test_wilson_gives_the_known_bounds(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert (low, high) == pytest.approx((found.low, found.high), abs=6e-4)


def test_wilson_by_hand_for_one_of_two() -> None:
    # p = .5, n = 2, z^2 = 3.841459: centre .5 exactly; half z sqrt(.125 + z^2/16) / (1 + z^2/2)
    # = 1.959964 * sqrt(.125 + .2400912) / 2.9207294 = 1.959964 * .6042278 / 2.9207294 = .4054688.
    found = wilson(1, 2)
    assert (0.5 - 0.4054688, 0.5 + 0.4054688) == pytest.approx((found.low, found.high), abs=1e-6)


def test_wilson_solves_the_equation_it_comes_from() -> None:
    # Each bound u satisfies |p - u| = z sqrt(u (1 - u) / n).
    found = wilson(7.3, 11)
    for bound in (found.low, found.high):
        assert abs(7.3 / 11 - bound) == pytest.approx(Z_95 * sqrt(bound * (1 - bound) / 11), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-0.1, 5), (5.1, 5), (float("nan"), 5)])
def test_wilson_refuses_what_cannot_be(successes: float, n: int) -> None:
    with pytest.raises(ValueError, match="allowed are 0 to n"):
        wilson(successes, n)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (17, 20), (3, 10), (45, 50), (412, 950)])
def test_scipy_finds_the_same_binomial_bounds(stats, successes: int, n: int) -> None:
    theirs = stats.binomtest(successes, n).proportion_ci(0.95, "wilson")
    found = wilson(successes, n)
    assert (theirs.low, theirs.high) == pytest.approx((found.low, found.high), abs=1e-10)


def test_poisson_means_solve_the_equation_they_come_from() -> None:
    for events, mean in enumerate(RARE_MEANS, 1):
        below = sum(exp(-mean) * mean**few / factorial(few) for few in range(events))
        assert below == pytest.approx(0.95, abs=1e-14)


def test_modified_wilson_moves_only_the_bound_that_few_queries_stand_off() -> None:
    # Three of 20 missed: 1 - .8176914 / 20 = .9591154 at the upper bound; the lower one is Wilson's .6395827.
    found = modified_wilson(17, 20)
    assert (found.low, found.high, found.method) == (wilson(17, 20).low, pytest.approx(0.9591154, abs=1e-7), "modified-wilson")
    # One of 10 found: .0512933 / 10 = .0051293 at the lower bound.
    assert modified_wilson(1, 10).low == pytest.approx(0.0051293, abs=1e-7)
    assert modified_wilson(1, 10).high == wilson(1, 10).high


@pytest.mark.parametrize(("successes", "n"), [(0, 14), (14, 14), (4, 4), (45, 50), (10, 20), (1, 2), (1, 1)])
def test_modified_wilson_is_wilson_where_no_query_or_more_than_three_stand_off(successes: int, n: int) -> None:
    assert modified_wilson(successes, n) == wilson(successes, n)


@pytest.mark.parametrize("n", range(10, 51))
def test_modified_wilson_covers_the_truth_near_a_bound_and_wilson_does_not_always(n: int) -> None:
    assert coverage(modified_wilson, 0.95, n) >= 0.93
    assert coverage(modified_wilson, 0.05, n) == pytest.approx(coverage(modified_wilson, 0.95, n))
    if n in (10, 11, 20):
        assert coverage(wilson, 0.95, n) < 0.93


def coverage(interval, truth: float, n: int) -> float:
    chances = [comb(n, hits) * truth**hits * (1 - truth) ** (n - hits) for hits in range(n + 1)]
    bounds = [interval(hits, n) for hits in range(n + 1)]
    return sum(chance for chance, found in zip(chances, bounds, strict=True) if found.low <= truth <= found.high)


def test_abc_by_hand() -> None:
    # x = 0, 0, 1, 1: m .5, t^2 sums to 1, t^3 to 0, so a = 0, sd = 1/4, bounds .5 -+ 1.959964/4.
    found = abc([0.0, 0.0, 1.0, 1.0])
    assert found is not None
    assert (0.5 - Z_95 / 4, 0.5 + Z_95 / 4) == pytest.approx((found.low, found.high), abs=1e-12)


def test_abc_leans_towards_the_long_tail() -> None:
    # x = 0, .5 four times: m .4, t^2: .16 + 4 * .01 = .2, t^3: -.064 + 4 * .001 = -.06,
    # sd = sqrt(.2)/5 = .0894427, a = -.06 / (6 * .2^1.5) = -.06 / .5366563 = -.1118034.
    # low: w = -2.0717674, 1 - a w = 1 - .2316306 = .7683694, squared .5903916; .4 - .0894427 * 3.5091412 = .0861330
    # high: w = 1.8481606, 1 - a w = 1.2066306, squared 1.4559575; .4 + .0894427 * 1.2693781 = .5135366
    found = abc([0.0, 0.5, 0.5, 0.5, 0.5])
    assert found is not None
    assert (0.0861330, 0.5135366) == pytest.approx((found.low, found.high), abs=1e-6)


def test_abc_of_equal_values_has_nothing_to_say() -> None:
    assert abc([0.5] * 20) is None
    assert abc([0.1 + 0.2, 0.3, 0.3]) is None  # equal but for rounding
    assert abc([]) is None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [14, 30, 100])
def test_abc_is_close_to_the_bootstrap_it_stands_for(seed: int, n: int) -> None:
    analytic, resampled = abc(sample(seed, n)), bca(sample(seed, n), resamples=4000)
    assert analytic is not None
    assert resampled is not None
    tolerance = 0.12 / sqrt(n)
    assert (resampled.low, resampled.high) == pytest.approx((analytic.low, analytic.high), abs=tolerance)


@pytest.mark.parametrize(("seed", "n"), [(0, 14), (1, 30), (2, 50), (3, 100)])
def test_scipy_finds_the_same_bca_and_nearly_the_same_abc(stats, seed: int, n: int) -> None:
    values = sample(seed, n)
    theirs = stats.bootstrap((values,), stats.tmean, n_resamples=2_000, method="BCa", random_state=seed)
    expected = (theirs.confidence_interval.low, theirs.confidence_interval.high)
    resampled, analytic = bca(values), abc(values)
    assert resampled is not None
    assert analytic is not None
    # Two Monte Carlo answers differ by chance: the .025 quantile of 10,000 means is known to about .04 sd.
    assert expected == pytest.approx((resampled.low, resampled.high), abs=0.05 / sqrt(n))
    assert expected == pytest.approx((analytic.low, analytic.high), abs=0.1 / sqrt(n))


def test_bca_has_the_same_bounds_for_the_same_seed_only() -> None:
    values = sample(4, 20)
    assert bca(values, 500, seed=1) == bca(values, 500, seed=1)
    assert bca(values, 500, seed=1) != bca(values, 500, seed=2)
    assert bca([0.5] * 20) is None


def test_nothing_measured_has_no_interval() -> None:
    assert mean_interval([], binary=True) is None
    assert mean_interval([], binary=False) is None


def test_zeros_and_ones_are_counts_whatever_the_metric_is_called() -> None:
    values = [1.0] * 17 + [0.0] * 3
    assert modified_wilson(17, 20) == mean_interval(values, binary=True) == mean_interval(values, binary=False)


def test_a_perfect_score_still_has_a_width() -> None:
    found = mean_interval([1.0] * 14, binary=False)
    assert found is not None
    # 14 / (14 + z^2) = 14 / 17.841459 = .7846892.
    assert (0.7846892, 1.0) == pytest.approx((found.low, found.high), abs=1e-7)


@pytest.mark.parametrize(
    ("values", "method"),
    [
        ([0.5] * 40, "wilson-mean"),  # no spread at all
        ([1.0] * 30 + [0.3] * 7, "wilson-mean"),  # seven off the ceiling, mean .868
        ([1.0] * 30 + [0.4] * 8, "abc"),  # eight off the ceiling, mean .874
        ([0.0] * 33 + [0.9] * 7, "wilson-mean"),  # seven off the floor, mean .158
        ([0.0] * 32 + [0.9] * 8, "abc"),
        ([0.95, 0.9] * 49, "wilson-mean"),  # n 98 with mean .925
        ([0.95, 0.9] * 50, "abc"),  # n 100
        ([0.95, 0.8] * 10, "abc"),  # mean .875
        ([0.2, 0.7] * 5, "abc"),
        ([0.2, 0.7] * 3, "wilson-mean"),  # six values
    ],
)
def test_the_spread_is_trusted_only_where_enough_of_it_was_seen(values: list[float], method: str) -> None:
    found = mean_interval(values, binary=False)
    assert found is not None
    assert method == found.method


UNIT = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])


@given(st.lists(UNIT, min_size=1, max_size=60))
def test_the_interval_holds_the_mean_lies_within_zero_and_one_and_has_a_width(values: list[float]) -> None:
    found = mean_interval(values, binary=False)
    assert found is not None
    mean = sum(values) / len(values)
    assert 0 <= found.low <= mean + 1e-9
    assert mean - 1e-9 <= found.high <= 1
    assert found.low < found.high


@given(st.lists(UNIT, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_the_values_cannot_show(values: list[float], random: Random) -> None:
    assert mean_interval(values, binary=False) == mean_interval(random.sample(values, len(values)), binary=False)


@given(st.lists(st.sampled_from(RECIPROCAL_RANKS), min_size=8, max_size=60))
def test_mirrored_values_have_mirrored_bounds(values: list[float]) -> None:
    found, mirrored = (mean_interval(side, binary=False) for side in (values, [1 - value for value in values]))
    assert isinstance(found, Interval)
    assert isinstance(mirrored, Interval)
    assert (1 - found.high, 1 - found.low) == pytest.approx((mirrored.low, mirrored.high), abs=1e-9)


@given(st.integers(1, 200), st.floats(0, 1))
def test_wilson_narrows_as_queries_are_added(n: int, share: float) -> None:
    few, many = wilson(share * n, n), wilson(share * 2 * n, 2 * n)
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize(("n", "expected"), [(10, 0.914), (11, 0.898), (14, 0.970), (20, 0.925), (30, 0.939), (50, 0.962)])
def test_wilson_falls_short_of_what_it_says_which_is_why_counts_have_another(n: int, expected: float) -> None:
    held = 0.0
    for successes in range(n + 1):
        found = wilson(successes, n)
        held += comb(n, successes) * 0.95**successes * 0.05 ** (n - successes) * (found.low <= 0.95 <= found.high)
    assert expected == pytest.approx(held, abs=6e-4)


def test_a_thousand_intervals_of_fifty_queries_take_a_fraction_of_a_second() -> None:
    values = sample(5, 50)
    started = process_time()
    for _ in range(1000):
        mean_interval(values, binary=False)
    # About .03 s; a bootstrap would take minutes.
    assert process_time() - started < 0.5
