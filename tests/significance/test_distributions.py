"""The beta and t distributions against scipy and against values that can be worked out by hand."""

from __future__ import annotations

from math import atan, pi, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.significance.distributions import beta_cdf, beta_quantile, t_critical, t_p_value, t_power

SHAPES = st.floats(0.5, 1000)


def test_beta_by_hand() -> None:
    # I_x(1, b) = 1 - (1 - x)^b; I_x(a, 1) = x^a.
    assert beta_cdf(0.3, 1, 4) == pytest.approx(1 - 0.7**4, abs=1e-14)
    assert beta_cdf(0.3, 5, 1) == pytest.approx(0.3**5, abs=1e-14)
    assert (beta_cdf(0, 2, 3), beta_cdf(1, 2, 3)) == (0.0, 1.0)


@pytest.mark.parametrize("t", [0.1, 1.0, 5.0])
def test_t_by_hand(t: float) -> None:
    # One degree of freedom is Cauchy's: P(|T| >= t) = 1 - 2 atan(t) / pi. Two: 1 - t / sqrt(2 + t^2).
    assert t_p_value(t, 1) == pytest.approx(1 - 2 * atan(t) / pi, abs=1e-13)
    assert t_p_value(t, 2) == pytest.approx(1 - t / sqrt(2 + t * t), abs=1e-13)


@given(st.floats(0, 1), SHAPES, SHAPES)
def test_beta_is_mirrored(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) + beta_cdf(1 - x, b, a) == pytest.approx(1, abs=1e-9)


@given(st.floats(0.001, 0.999), SHAPES, SHAPES)
def test_the_quantile_undoes_the_distribution(share: float, a: float, b: float) -> None:
    assert beta_cdf(beta_quantile(share, a, b), a, b) == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 9, 13, 49, 999])
def test_scipy_finds_the_same_t(stats, freedom: int) -> None:
    assert stats.t.ppf(0.975, freedom) == pytest.approx(t_critical(0.05, freedom), rel=1e-12)
    for t in (0.0, 0.5, 2.1, 7.0):
        assert 2 * stats.t.sf(t, freedom) == pytest.approx(t_p_value(-t, freedom), rel=1e-9)


@pytest.mark.parametrize("n", [3, 10, 14, 50, 300])
@pytest.mark.parametrize("effect", [0.0, 0.2, 0.8])
def test_scipy_finds_the_same_power(stats, n: int, effect: float) -> None:
    critical, centre = stats.t.ppf(0.975, n - 1), effect * sqrt(n)
    expected = stats.nct.sf(critical, n - 1, centre) + stats.nct.cdf(-critical, n - 1, centre)
    assert expected == pytest.approx(t_power(effect, n, t_critical(0.05, n - 1)), abs=1e-6)


def test_without_an_effect_the_power_is_the_level() -> None:
    assert t_power(0.0, 20, t_critical(0.05, 19)) == pytest.approx(0.05, abs=1e-9)
