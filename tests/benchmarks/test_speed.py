"""The speed table: its arithmetic, its verdicts, and the programs that it holds ours against, on a small vault."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from racing.places import Contenders, Place  # noqa: E402 - after its folder is on the path
from racing.rows import ROWS, Bound, Row, exponent, least, ratio, tenfold  # noqa: E402 - as above
from racing.taken import Taken, race  # noqa: E402 - as above
from racing.works import Work  # noqa: E402 - as above
from speed import measured  # noqa: E402 - as above

NUMPY = os.environ.get("REQUIRE_NUMPY") == "1" or find_spec("numpy") is not None


class ReadyPlace(Place):
    """A place in which there is nothing to make."""

    def make(self):
        pass


def place(notes):
    return ReadyPlace(notes, Path("nowhere"), Contenders())


def timed(name, *seconds: float, missing=None, times=1):
    """A work that takes these seconds, one turn after another."""
    return Work(name, lambda _place, turn: {"seconds": seconds[turn]}, missing=lambda _contenders: missing, times=times)


def speed(*arguments: object):
    line = [sys.executable, str(BENCHMARKS / "speed.py"), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=False)


def test_a_ratio_is_of_the_pairs_of_each_round():
    """4/2, 9/3, 5/5, times 10: not the ratio of the medians 5/3. Two turns of a round count as their median: (1 + 3) / 2."""
    slow, quick = timed("slow", 4.0, 9.0, 5.0), timed("quick", 1.0, 3.0, 2.0, 4.0, 5.0, 5.0, times=2)
    taken = race({place(1_000): [slow, quick]}, rounds=3)
    assert ratio(slow, quick, times=10)(taken, place(1_000)) == [20.0, 30.0, 10.0]


def test_tenfold_is_what_ten_times_the_notes_multiply():
    """From 1,000 to 100,000 notes, 2 s become 18 s: a factor 9 for a hundredfold, so 3 for ten."""
    work, taken = timed("build"), Taken()
    taken.keep(1_000, work, 0, {"seconds": 2.0})
    taken.keep(100_000, work, 0, {"seconds": 18.0})
    assert tenfold(work)(taken, place(100_000)) == [pytest.approx(3.0)]
    assert tenfold(work)(taken, place(1_000)) == []


def test_an_exponent_is_the_slope_between_logarithms():
    assert exponent([10, 100, 1_000], [7 * size**0.5 for size in (10, 100, 1_000)]) == pytest.approx(0.5)
    # (0, 0), (1, 2), (2, 2): slope = ((0-1)(0-4/3) + 0 + (2-1)(2-4/3)) / 2 = 1
    assert exponent([1, math.e, math.e**2], [1, math.e**2, math.e**2]) == pytest.approx(1.0)


def test_a_row_is_met_missed_or_not_measured():
    halves = timed("halves", 1.0, 1.0), timed("wholes", 2.0, 2.0)
    absent = timed("absent", missing="it is not there")
    rows = [
        Row("met", "", halves, ratio(*halves), {1_000: Bound(0.5)}),
        Row("missed", "", halves, ratio(*halves), {1_000: least(0.6)}),
        Row("elsewhere", "", halves, ratio(*halves), {10_000: Bound(0.5)}),
        Row("absent", "", (halves[0], absent), ratio(halves[0], absent), {1_000: Bound(1)}),
        Row("no goal", "", halves, ratio(*halves)),
    ]
    _, outcomes = measured(rows, [place(1_000)], rounds=2)
    verdicts = [(one.row.name, one.verdict, one.reason) for one in outcomes]
    assert verdicts == [
        ("met", "ok", None),
        ("missed", "MISS", None),
        ("absent", "not measured", "it is not there"),
        ("no goal", "", None),
    ]
    assert "0.5  (0.5 to 0.5; at least 0.6)" in outcomes[1].line()


def test_every_goal_is_a_row_that_can_be_asked_for():
    told = speed("--help")
    assert told.returncode == 0
    assert [row.name for row in ROWS if f"  {row.name} " not in told.stdout] == []
    assert speed("--only", "nothing").returncode == 2


def test_a_contender_that_is_absent_is_said(tmp_path):
    """The exit code tells it where that is asked for."""
    told = speed("--notes", 1_000, "--only", "qmd-evaluate", "--qmd-prefix", tmp_path, "--work", tmp_path, "--require-all")
    assert told.returncode == 3
    assert "not measured" in told.stdout
    assert f"{tmp_path} has no node_modules/.bin/qmd" in told.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="times processes as POSIX does")
def test_search_is_exact_on_a_generated_vault(tmp_path):
    told = speed("--notes", 30, "--rounds", 1, "--only", "exactness", "--work", tmp_path)
    assert told.returncode == 0, told.stderr
    assert "at most 0" in told.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="times processes as POSIX does")
@pytest.mark.skipif(not NUMPY, reason="numpy is not installed; REQUIRE_NUMPY=1 would fail here")
def test_a_numpy_program_gives_the_same_rankings_and_scores(tmp_path):
    told = speed("--notes", 30, "--rounds", 1, "--only", "same-as-numpy", "--work", tmp_path, "--require-all")
    assert told.returncode == 0, told.stdout + told.stderr
    assert (tmp_path / "30" / "numpy.json").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="times processes as POSIX does")
@pytest.mark.skipif(not NUMPY, reason="numpy is not installed; REQUIRE_NUMPY=1 would fail here")
def test_an_evaluation_that_searches_by_numpy_gives_the_same_report(tmp_path):
    told = speed("--notes", 30, "--rounds", 1, "--only", "same-report", "--work", tmp_path, "--require-all")
    assert told.returncode == 0, told.stdout + told.stderr
    assert (tmp_path / "30" / "report-by-numpy.json").is_file()
