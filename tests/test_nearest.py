"""The name that was meant is found; a word that nobody took for it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

import vault_eval
from vault_eval.nearest import did_you_mean, nearest

OPTIONS = ("--queries", "--vault", "--chunk-chars", "--chunk-max", "--out")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("--querys", "--queries"), ("--vualt", "--vault"), ("--chunk-char", "--chunk-chars"), ("--VAULT", "--vault")],
)
def test_a_slip_is_told_from_what_was_meant(written, meant):
    assert did_you_mean(written, OPTIONS) == f" (did you mean {meant}?)"


@pytest.mark.parametrize("written", ["", "-", "--zzz", "notes"])
def test_another_word_is_no_slip(written):
    assert did_you_mean(written, OPTIONS) == ""


def test_the_nearest_comes_first_and_is_written_as_it_is_known():
    assert nearest("keywrod", ["word", "KeyWord", "keyboard"], most=2) == ["KeyWord", "keyboard"]


def test_how_near_a_name_must_be_is_a_bound_that_counts_itself():
    # 倒时差 and 调时差 share two letters of three: 2 * 2 / 6 = 0.67; four of five are 2 * 4 / 10 = 0.8.
    assert nearest("如何调时差", ["如何倒时差", "倒时差"], most=2, alike=0.8) == ["如何倒时差"]


def test_slips_are_found_in_one_place_so_that_letter_case_is_no_slip_anywhere():
    package = Path(vault_eval.__file__).parent
    found = [path for path in package.rglob("*.py") if "get_close_matches" in path.read_text(encoding="utf-8")]
    assert [path.relative_to(package).as_posix() for path in found] == ["nearest.py"]
