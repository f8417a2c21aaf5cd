"""Ties: which one a cutoff cuts, and the expected figures against every order spelt out."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_eval.metrics.ties import TieExpectation, TieGroup, straddling, tie_expected, tie_groups


def test_a_ranking_is_a_sequence_of_equal_scores() -> None:
    assert tie_groups([3.0, 2.0, 2.0, 1.0]) == (TieGroup(1, 1), TieGroup(2, 3), TieGroup(4, 4))
    assert tie_groups([]) == ()


def test_missing_and_undefined_scores_tie_with_nothing() -> None:
    assert tie_groups([None, None, nan, nan]) == tuple(TieGroup(rank, rank) for rank in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("k", "expected"), [(1, None), (2, TieGroup(2, 4)), (3, TieGroup(2, 4)), (4, None), (5, None), (10, None)]
)
def test_a_tie_is_cut_when_it_has_pages_on_both_sides(k: int, expected: TieGroup | None) -> None:
    assert expected == straddling([9.0, 5.0, 5.0, 5.0, 1.0], k)


def test_two_equal_scores_at_the_top_give_half_a_hit_at_one() -> None:
    # a relevant, z not, both 1.0: a is first in half of the orders. RR: (1 + 1/2) / 2 = .75 at ten, 1/2 at one.
    assert tie_expected([1.0, 1.0], [True, False], 1, 1) == TieExpectation(0.5, 0.5, 0.5)
    assert tie_expected([1.0, 1.0], [True, False], 1, 10) == TieExpectation(1.0, 1.0, 0.75)


def test_a_tie_cut_in_the_middle() -> None:
    # Rank 1 untied and irrelevant; ranks 2-5 tied with 2 of 4 relevant; cutoff 3, so m = 2 places inside; |G| = 3.
    # hits r*m/t = 2*2/4 = 1, recall 1/3. P(hit) = 1 - C(2,2)/C(4,2) = 5/6.
    # RR: j=0: C(3,1)/6/2 = 1/4; j=1: C(2,1)/6/3 = 1/9; j=2 is rank 4, beyond the cutoff. 13/36.
    found = tie_expected([9.0, 5.0, 5.0, 5.0, 5.0], [False, True, True, False, False], 3, 3)
    assert found is not None
    assert (1 / 3, 5 / 6, 13 / 36) == pytest.approx((found.recall, found.hit, found.reciprocal_rank), abs=1e-15)


def test_an_earlier_relevant_page_decides_hit_and_rank_whatever_is_tied_below() -> None:
    # Rank 1 relevant: hit 1, RR 1; the tie at 2-3 gives 1/2 a page: recall (1 + .5) / 2.
    assert tie_expected([9.0, 5.0, 5.0], [True, True, False], 2, 2) == TieExpectation(1.0, 0.75, 1.0)


def test_nothing_relevant_returned_is_zero_and_nothing_relevant_at_all_is_undefined() -> None:
    assert tie_expected([1.0, 1.0], [False, False], 2, 10) == TieExpectation(0.0, 0.0, 0.0)
    assert tie_expected([], [], 1, 10) == TieExpectation(0.0, 0.0, 0.0)
    assert tie_expected([1.0], [False], 0, 10) is None


def test_scores_and_judgments_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 scores and 1 judgments"):
        tie_expected([1.0, 1.0], [True], 1, 10)


def spelt_out(groups: list[list[bool]], total: int, k: int) -> tuple[Fraction, Fraction, Fraction]:
    """Means of hit, recall and RR over every order, in exact fractions."""
    orders = [[page for part in parts for page in part] for parts in product(*(permutations(group) for group in groups))]
    first = [next((rank for rank, page in enumerate(order[:k], start=1) if page), None) for order in orders]
    hits = Fraction(sum(rank is not None for rank in first), len(orders))
    found = Fraction(sum(sum(order[:k]) for order in orders), len(orders) * total)
    reciprocal = sum((Fraction(1, rank) for rank in first if rank), Fraction(0)) / len(orders)
    return hits, found, reciprocal


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=3), st.integers(1, 8))
def test_the_formulas_equal_the_mean_over_every_order(groups: list[list[bool]], k: int) -> None:
    relevant = [page for group in groups for page in group]
    scores = [-float(place) for place, group in enumerate(groups) for _ in group]
    total = sum(relevant) + 1
    found = tie_expected(scores, relevant, total, k)
    assert found is not None
    expected = tuple(map(float, spelt_out(groups, total, k)))
    assert expected == pytest.approx((found.hit, found.recall, found.reciprocal_rank), abs=1e-12)


@given(st.lists(st.booleans(), max_size=12), st.integers(1, 12))
def test_without_ties_the_expectation_is_the_score(relevant: list[bool], k: int) -> None:
    total = max(1, sum(relevant))
    rank = next((place for place, page in enumerate(relevant[:k], start=1) if page), None)
    expected = TieExpectation(float(rank is not None), sum(relevant[:k]) / total, 1 / rank if rank else 0.0)
    assert expected == tie_expected([-float(place) for place in range(len(relevant))], relevant, total, k)
