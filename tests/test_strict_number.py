"""A number that a person wrote: what is taken, and what `float` would take besides."""

from __future__ import annotations

import pytest

from vault_eval.strict_number import number_of


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0.0), ("1", 1.0), ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), ("007", 7.0), ("5e-1", 0.5), ("1E+2", 100.0)],
)
def test_digits_with_a_point_and_an_exponent_are_a_number(text, number):
    assert number_of(text) == number


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1e", "-1", "+1", "1_0", " 1", "1\n", "nan", "inf", "0x1", "1,5", "\u0661", "\uff11", "1.2.3"]
)
def test_no_other_text_is(text):
    assert number_of(text) is None
