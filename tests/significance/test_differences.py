"""The mean difference: its interval, and queries that are not independent."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.significance.differences import Differences, grouped
from vault_eval.significance.intervals import Z_95

SAMPLE = st.lists(st.floats(-1, 1) | st.sampled_from([0.0, 1.0, -1.0, 0.5]), min_size=1, max_size=40)


def test_the_interval_by_hand() -> None:
    # 6 wins, 1 loss, 3 ties: with one of each added 7, 2, 3 of 12: mean 5/12, variance 9/12 - 25/144 = 83/144,
    # standard error sqrt(83/144/12) = sqrt(83/1728) = .2191630; 5/12 -+ 1.959964 * .2191630 = -.0128849, .8462182.
    found = Differences.of([1.0] * 6 + [-1.0] + [0.0] * 3)
    assert found.standard_error == pytest.approx(sqrt(83 / 1728))
    bounds = found.bounds()
    assert (-0.0128849, 0.8462182, "adjusted Wald") == (
        pytest.approx(bounds.low, abs=1e-6),
        pytest.approx(bounds.high, abs=1e-6),
        bounds.method,
    )


def test_nothing_changed_still_has_a_width() -> None:
    # One win and one loss of 16: variance 2/16, standard error sqrt(2/16/16) = .0883883, deviation sqrt(1/8) = .3535534.
    found = Differences.of([0.0] * 14)
    assert (found.standard_error, found.deviation) == pytest.approx((sqrt(2) / 16, sqrt(1 / 8)))
    assert (found.bounds().low, found.bounds().high) == pytest.approx((-Z_95 * sqrt(2) / 16, Z_95 * sqrt(2) / 16))


@given(SAMPLE)
def test_the_interval_holds_the_mean_lies_within_one_and_has_a_width(values: list[float]) -> None:
    found = Differences.of(values)
    for confidence in (0.9, 0.95):
        bounds = found.bounds(confidence)
        assert -1 <= bounds.low <= found.mean + 1e-12
        assert found.mean - 1e-12 <= bounds.high <= 1
        assert bounds.low < bounds.high


@given(SAMPLE)
def test_swapping_the_sides_mirrors_the_interval(values: list[float]) -> None:
    there, back = Differences.of(values).bounds(), Differences.of([-value for value in values]).bounds()
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-12)


@given(SAMPLE)
def test_the_one_sided_bound_lies_within_the_interval(values: list[float]) -> None:
    found = Differences.of(values)
    assert found.bounds().low <= found.bounds(0.9).low


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.integers(2, 4))
def test_equal_groups_have_the_interval_of_their_means(means: list[float], size: int) -> None:
    """Every query of a page moved alike: three times the queries, no more evidence."""
    values = [mean for mean in means for _ in range(size)]
    groups = [tuple(range(start, start + size)) for start in range(0, len(values), size)]
    together, alone = Differences.of(values, groups), Differences.of(means)
    assert (together.mean, together.standard_error, together.deviation, together.effective_n) == pytest.approx(
        (alone.mean, alone.standard_error, alone.deviation, len(means)), abs=1e-12
    )


def test_differences_below_a_billionth_are_ties() -> None:
    found = Differences.of([0.30000000000000004 - 0.3, 1e-10, -1e-10, 1e-8])
    assert found.values == (0.0, 0.0, 0.0, 1e-8)


def test_without_a_pair_there_is_no_mean_and_no_interval() -> None:
    with pytest.raises(ValueError, match="no paired query"):
        _ = Differences.of([]).mean
    with pytest.raises(ValueError, match="no paired query"):
        Differences.of([]).bounds()


def test_a_page_behind_three_queries_joins_them() -> None:
    assert grouped([("a",), ("b",), ("a",), ("a",)]) == ((0, 2, 3), (1,))
    # Two queries of one page stay apart.
    assert grouped([("a",), ("b",), ("a",)]) == ((0,), (1,), (2,))
    assert grouped([]) == ()


def test_only_queries_that_expect_the_same_pages_are_joined() -> None:
    assert grouped([("a", "b"), ("b", "a"), ("a", "b", "a"), ("a",), ("b", "c")]) == ((0, 1, 2), (3,), (4,))


def test_queries_that_expect_nothing_have_nothing_in_common() -> None:
    assert grouped([(), (), ()]) == ((0,), (1,), (2,))


def test_effective_n_by_hand() -> None:
    # A group of three and two alone: 5^2 / (9 + 1 + 1) = 25 / 11.
    assert Differences.of([0.0] * 5, [(0, 1, 2), (3,), (4,)]).effective_n == pytest.approx(25 / 11)
    assert Differences.of([0.0] * 5).effective_n == 5


@given(st.lists(st.sets(st.sampled_from("abcdef"), max_size=3), max_size=25))
def test_every_query_stands_in_one_group(keys: list[set[str]]) -> None:
    places = [place for group in grouped(keys) for place in group]
    assert sorted(places) == list(range(len(keys)))
