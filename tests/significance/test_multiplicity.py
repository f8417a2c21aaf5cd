"""Holm's adjustment: by hand, against the definition, and its laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.significance.multiplicity import holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand() -> None:
    # Sorted .01, .02, .03, .04 of four: 4 * .01 = .04; 3 * .02 = .06; max(.06, 2 * .03) = .06; max(.06, .04) = .06.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx((0.06, 0.04, 0.06, 0.06))
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    assert holm([]) == ()


@given(P_VALUES)
def test_adjusting_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= after <= 1 for p, after in zip(p_values, adjusted, strict=True))
    by_p = [after for _, after in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)


@given(P_VALUES, st.floats(0, 1))
def test_one_more_in_the_family_never_helps(p_values: list[float], another: float) -> None:
    before, after = holm(p_values), holm([*p_values, another])
    assert all(alone <= joined + 1e-12 for alone, joined in zip(before, after, strict=False))


@given(P_VALUES, st.randoms(use_true_random=False))
def test_the_order_in_which_they_were_declared_cannot_show(p_values: list[float], random) -> None:
    places = random.sample(range(len(p_values)), len(p_values))
    assert holm([p_values[place] for place in places]) == tuple(holm(p_values)[place] for place in places)


@pytest.mark.parametrize("wrong", [float("nan"), -0.1, 1.1])
def test_what_is_no_probability_is_refused_before_it_spreads(wrong: float) -> None:
    with pytest.raises(ValueError, match="within 0 and 1"):
        holm([0.01, wrong])
