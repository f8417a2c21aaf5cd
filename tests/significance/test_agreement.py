from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.significance.agreement import Agreement, cohen_kappa

WORDS = st.sampled_from(["yes", "partly", "no"])


def test_kappa_of_a_table_worked_out_by_hand():
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    # po = 35/50 = .7; pe = (25*30 + 25*20) / 2500 = .5; kappa = (.7 - .5) / (1 - .5) = .4
    assert cohen_kappa(pairs) == Agreement(50, 0.7, 0.4)
    assert cohen_kappa(pairs).is_noisy


def test_opposite_verdicts_are_worse_than_chance():
    # po = 0; pe = (1*1 + 1*1) / 4 = .5; kappa = -.5 / .5 = -1
    assert cohen_kappa([("yes", "no"), ("no", "yes")]) == Agreement(2, 0.0, -1.0)


def test_judges_who_only_ever_say_one_word_leave_kappa_undefined():
    assert cohen_kappa([("no", "no")] * 10) == Agreement(10, 1.0, None)
    assert not cohen_kappa([("no", "no")] * 10).is_noisy


def test_nothing_judged_twice_is_no_data():
    assert cohen_kappa([]) == Agreement(0, None, None)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=40))
def test_kappa_takes_no_side_and_is_one_only_for_full_agreement(pairs):
    found = cohen_kappa(pairs)
    assert found == cohen_kappa([(other, one) for one, other in pairs])
    if found.kappa is not None:
        assert found.kappa <= 1
        assert (found.kappa == 1) == (found.observed == 1)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=40))
def test_kappa_is_that_of_its_definition(pairs):
    n = len(pairs)
    shares = [{word: [pair[side] for pair in pairs].count(word) / n for word in ("yes", "partly", "no")} for side in (0, 1)]
    by_chance = sum(shares[0][word] * shares[1][word] for word in shares[0])
    observed = sum(one == other for one, other in pairs) / n
    kappa = cohen_kappa(pairs).kappa
    if kappa is None:
        assert by_chance == pytest.approx(1)
    else:
        assert kappa == pytest.approx((observed - by_chance) / (1 - by_chance))
