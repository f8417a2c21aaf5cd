"""What a sample can see: the published table, and the wins that exact counting asks for."""

from __future__ import annotations

import pytest

from vault_eval.significance.paired import mcnemar
from vault_eval.significance.power import detectable_difference, detectable_effect, queries_needed, wins_needed


@pytest.mark.parametrize(
    ("n", "effect", "difference"),
    [
        (10, 1.00, 0.35),
        (14, 0.81, 0.28),
        (20, 0.66, 0.23),
        (30, 0.53, 0.185),
        (50, 0.40, 0.14),
        (75, 0.33, 0.115),
        (100, 0.28, 0.10),
        (200, 0.20, 0.07),
    ],
)
def test_the_table_of_minimum_detectable_effects(n: int, effect: float, difference: float) -> None:
    """Paired t at .05, two-sided, power .8; the last column where differences deviate by .35."""
    assert effect == pytest.approx(detectable_effect(n), abs=0.005)
    assert difference == pytest.approx(detectable_difference(0.35, n), abs=0.005)


def test_statistics_of_two_queries_see_nothing() -> None:
    assert detectable_effect(1) is None
    assert detectable_effect(0) is None
    # 11.5 standard deviations of .35: more than 1, the largest difference there is.
    assert detectable_difference(0.35, 2) is None


def test_counting_whole_queries_takes_one_more_of_them() -> None:
    plain, counted = detectable_difference(0.35, 20), detectable_difference(0.35, 20, is_count=True)
    assert plain is not None
    assert counted == pytest.approx(plain + 1 / 20)


@pytest.mark.parametrize(("losses", "wins"), [(0, 6), (1, 8), (2, 10), (3, 12), (4, 13)])
def test_wins_needed_against_so_many_losses(losses: int, wins: int) -> None:
    assert wins_needed(losses) == wins
    assert mcnemar(wins, losses).p <= 0.05 < mcnemar(wins - 1, losses).p


def test_more_wins_are_needed_where_more_is_tried() -> None:
    # 2 * .5^7 = .0156 is at most .05 / 2 = .025, 2 * .5^6 = .031 is not.
    assert wins_needed(0, 0.05 / 2) == 7


@pytest.mark.parametrize(("deviation", "is_count"), [(0.05, False), (0.05, True), (0.35, False), (0.35, True), (0.6, False)])
def test_queries_needed_are_the_fewest_that_detect_it(deviation: float, is_count: bool) -> None:
    enough = queries_needed(deviation, 0.1, is_count=is_count)
    found = detectable_difference(deviation, enough, is_count=is_count)
    assert found is not None
    assert found <= 0.1 + 1e-6
    fewer = detectable_difference(deviation, enough - 1, is_count=is_count)
    assert fewer is None or fewer > 0.1 - 1e-6


def test_a_tenth_takes_about_a_hundred_queries() -> None:
    assert queries_needed(0.35, 0.1) == 99
