from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.cli.labels.screen_rows import rows
from vault_eval.reports.text_layout import display_width


def test_row_ends_at_a_blank_and_the_rest_stands_below_the_beginning():
    assert list(rows("Lay the boat up before the first frost", 28, first="   3  ")) == [
        "   3  Lay the boat up before",
        "      the first frost",
    ]


def test_script_without_blanks_may_be_broken_anywhere_and_takes_two_columns():
    # Twenty columns hold ten of them.
    assert list(rows("水深は最低でも四メートルです ok", 20)) == ["水深は最低でも四メー", "トルです ok"]


def test_word_longer_than_a_row_is_cut():
    assert list(rows("a " + "b" * 45, 20)) == ["a", "b" * 20, "b" * 20, "b" * 5]


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_line_keeps_its_number(text):
    assert list(rows(text, 80, first="   3  ")) == ["   3  "]


def test_indentation_of_code_stays_in_front():
    assert list(rows("        deep in the code is this", 24)) == ["        deep in the code", "is this"]


@given(st.text("ab -水é\u0301\x1b", max_size=200), st.integers(20, 60))
def test_no_row_is_wider_than_the_screen_and_nothing_is_lost(text, width):
    shown = list(rows(text, width))
    assert max(map(display_width, shown)) <= width
    visible = text.replace("\x1b", r"\x1b")
    assert re.sub(r"\s", "", "".join(shown)) == re.sub(r"\s", "", visible)
    # A word that fits into a row stands in one, unless it may be broken beside a wide character.
    words = [word for word in visible.split() if "水" not in word and len(word) <= 20]
    assert all(any(word in row for row in shown) for word in words)


def test_line_of_a_million_characters_is_quick_enough():
    assert sum(1 for _ in rows("word " * 200_000, 80)) == 12_500
