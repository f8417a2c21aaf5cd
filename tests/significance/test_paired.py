"""Paired tests: by hand, against scipy, and their laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.significance.differences import Differences
from vault_eval.significance.paired import SAMPLES, PValue, mcnemar, paired_t, sign_flip

# Differences of reciprocal ranks: many sums of them are equal, and some are so only but for rounding.
DELTAS = [0.0, 0.5, -0.5, 1 / 3 - 1 / 2, 1 / 4 - 1, 2 / 3, -2 / 3, 1.0, -1.0]
SAMPLE = st.lists(st.sampled_from(DELTAS), min_size=1, max_size=24)


def drawn(seed: int, n: int) -> list[float]:
    return Random(seed).choices(DELTAS, [4, 1, 1, 1, 1, 1, 1, 1, 1], k=n)


def test_sign_flip_by_hand() -> None:
    # 1, .5, -.5: sum 1. Of the 8 patterns of (1, .5, .5) the sums are +-2, +-1, +-1, 0, 0: six lie at 1 or beyond.
    assert sign_flip(Differences.of([1.0, 0.5, -0.5, 0.0])) == PValue("sign-flip, exact", 6 / 8, 2 / 8)
    # 1, .5, .25 all one way: only the pattern itself and its mirror lie at 1.75.
    assert sign_flip(Differences.of([1.0, 0.5, 0.25])).p == 2 / 8


def test_sums_that_differ_by_rounding_alone_are_equal() -> None:
    # 1/2 - 1/3 and 1/6 are not the same float; all of +-1/6 +-1/6 sum to 0 or +-1/3, two of four at 1/3.
    assert 1 / 2 - 1 / 3 != 1 / 6
    assert sign_flip(Differences.of([1 / 2 - 1 / 3, 1 / 6])).p == 0.5
    assert sign_flip(Differences.of([1 / 6, -(1 / 2 - 1 / 3)])).p == 1.0


def test_drawn_sums_that_differ_by_rounding_alone_are_equal_too() -> None:
    # 22 tenths, half of them a hair less: 14 against 8, as if they were counted. About .15 of the patterns tie with it.
    tenths = [0.3 - 0.2] * 11 + [0.1] * 11
    found = sign_flip(Differences.of([-one if place % 11 < 4 else one for place, one in enumerate(tenths)]))
    assert found.test == "sign-flip, 10,000 samples"
    assert mcnemar(14, 8).p == pytest.approx(found.p, abs=0.02)


@given(st.lists(st.sampled_from([0, 1, -1, 2, -3, 5]), min_size=1, max_size=9))
def test_exact_counting_is_the_enumeration_of_all_patterns(tenths: list[int]) -> None:
    patterns = [sum(pattern) for pattern in product(*((-one, one) for one in tenths if one))]
    share = Fraction(sum(abs(one) >= abs(sum(tenths)) for one in patterns), len(patterns))
    assert float(share) == sign_flip(Differences.of([one / 10 for one in tenths])).p


@pytest.mark.parametrize(("seed", "n"), [(0, 8), (1, 12), (2, 14), (3, 16)])
def test_scipy_finds_the_same_exact_p(stats, seed: int, n: int) -> None:
    values = drawn(seed, n)
    theirs = stats.permutation_test(
        (values,), lambda x, axis: x.sum(axis), permutation_type="samples", n_resamples=2**n, vectorized=True
    )
    assert theirs.pvalue == pytest.approx(sign_flip(Differences.of(values)).p, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_scipy_finds_nearly_the_same_sampled_p(stats, seed: int) -> None:
    values = drawn(seed, 60)
    found = sign_flip(Differences.of(values))
    theirs = stats.permutation_test(
        (values,), lambda x, axis: x.sum(axis), permutation_type="samples", n_resamples=20_000, vectorized=True, random_state=seed
    )
    assert found.test == "sign-flip, 10,000 samples"
    # Two Monte Carlo shares of 10,000 and 20,000: the difference deviates by at most sqrt(.25 / 10,000 + .25 / 20,000) = .006.
    assert theirs.pvalue == pytest.approx(found.p, abs=0.02)


def test_sampled_p_is_never_zero() -> None:
    # 40 of 40 the same way: the exact p is 2 * .5^40, which 10,000 draws cannot tell from 0.
    found = sign_flip(Differences.of([0.5] * 40))
    assert found.p == found.smallest_p == 1 / (SAMPLES + 1)


def test_sampling_starts_with_the_twenty_first_difference() -> None:
    values = drawn(5, 60)
    changed = [value for value in values if value]
    assert sign_flip(Differences.of(changed[:20] + [0.0] * 30)).test == "sign-flip, exact"
    assert sign_flip(Differences.of(changed[:21])).test == "sign-flip, 10,000 samples"


def test_sampled_and_exact_agree() -> None:
    values = [value for value in drawn(6, 60) if value][:20]
    exact = sign_flip(Differences.of(values)).p
    # One difference too small to matter, but no tie, brings the twenty-first.
    assert sign_flip(Differences.of([*values, 1e-6])).p == pytest.approx(exact, abs=0.02)


def test_the_same_seed_gives_the_same_p_only() -> None:
    values = Differences.of(drawn(7, 60))
    assert sign_flip(values, seed=1) == sign_flip(values, seed=1)
    assert len({sign_flip(values, seed=seed).p for seed in range(5)}) > 1


@given(SAMPLE)
def test_swapping_the_sides_keeps_every_p(values: list[float]) -> None:
    there, back = Differences.of(values), Differences.of([-value for value in values])
    assert sign_flip(there) == sign_flip(back)
    assert there.mean == -back.mean
    assert paired_t(there) == (None if paired_t(back) is None else pytest.approx(paired_t(back)))


@given(SAMPLE, st.randoms(use_true_random=False))
def test_the_order_of_the_queries_cannot_show(values: list[float], random: Random) -> None:
    shuffled = random.sample(values, len(values))
    assert sign_flip(Differences.of(values)) == sign_flip(Differences.of(shuffled))


@given(SAMPLE)
def test_a_tie_more_changes_no_p_of_the_sign_flip(values: list[float]) -> None:
    assert sign_flip(Differences.of(values)) == sign_flip(Differences.of([*values, 0.0, 1e-12]))


@given(SAMPLE)
def test_p_lies_between_its_floor_and_one(values: list[float]) -> None:
    found = sign_flip(Differences.of(values))
    assert 0 < found.smallest_p <= found.p <= 1


def test_nothing_that_differs_is_no_evidence() -> None:
    assert sign_flip(Differences.of([0.0] * 14)) == PValue("sign-flip, exact", 1.0, 1.0)
    assert mcnemar(0, 0) == PValue("McNemar, exact", 1.0, 1.0)


def test_mcnemar_by_hand() -> None:
    # 5 against 0: 2 * .5^5 = .0625; 6 against 0: .03125; 7 against 1: 2 * (1 + 8) / 256 = .0703; equal counts: at most 1.
    assert [mcnemar(*counts).p for counts in ((5, 0), (6, 0), (7, 1), (3, 3))] == [0.0625, 0.03125, 18 / 256, 1.0]


@pytest.mark.parametrize(("wins", "losses"), [(6, 0), (3, 9), (12, 12), (61, 40), (600, 401)])
def test_scipy_finds_the_same_mcnemar(stats, wins: int, losses: int) -> None:
    assert stats.binomtest(wins, wins + losses).pvalue == pytest.approx(mcnemar(wins, losses).p, rel=1e-9)


@given(st.integers(0, 10), st.integers(0, 10), st.integers(0, 30))
def test_mcnemar_is_the_sign_flip_of_counts(wins: int, losses: int, ties: int) -> None:
    flipped = sign_flip(Differences.of([1.0] * wins + [-1.0] * losses + [0.0] * ties))
    assert (flipped.p, flipped.smallest_p) == pytest.approx((mcnemar(wins, losses).p, mcnemar(wins, losses).smallest_p))


@pytest.mark.parametrize(("seed", "n"), [(0, 5), (1, 14), (2, 50)])
def test_scipy_finds_the_same_paired_t(stats, seed: int, n: int) -> None:
    before = drawn(seed, n)
    after = drawn(seed + 100, n)
    found = paired_t(Differences.of([b - a for a, b in zip(before, after, strict=True)]))
    assert stats.ttest_rel(after, before).pvalue == pytest.approx(found, abs=1e-10)


def test_paired_t_by_hand() -> None:
    # 1, 0: mean .5, sd sqrt(.5), t = .5 / (sqrt(.5) / sqrt(2)) = 1; one degree of freedom: P = 1 - 2 atan(1) / pi = .5.
    assert paired_t(Differences.of([1.0, 0.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("values", [[0.5], [0.5, 0.5, 0.5], [0.0, 0.0], [0.1, 0.1, 0.1]])
def test_equal_differences_have_no_t(values: list[float]) -> None:
    assert paired_t(Differences.of(values)) is None


def test_queries_of_one_page_flip_together() -> None:
    # Six queries of two pages: totals 1.5 and .5, both one way: p = 2 / 4, not 2 * .5^6.
    groups = [(0, 1, 2), (3, 4, 5)]
    values = [0.5, 0.5, 0.5, 0.5, 0.0, 0.0]
    assert sign_flip(Differences.of(values, groups)) == PValue("sign-flip, exact, by gold page", 0.5, 0.5)
    assert sign_flip(Differences.of(values)).p == 2 / 16


def test_t_of_equal_groups_is_that_of_their_means(stats) -> None:
    values = [0.5, 0.3, 0.1, 0.0, 0.1, 0.2, -0.4, 0.0, 0.1, 1.0, 0.2, 0.0]
    groups = [tuple(range(start, start + 3)) for start in range(0, 12, 3)]
    means = [sum(values[place] for place in group) / 3 for group in groups]
    assert stats.ttest_1samp(means, 0).pvalue == pytest.approx(paired_t(Differences.of(values, groups)), abs=1e-10)
