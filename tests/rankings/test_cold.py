from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.errors import VaultEvalError
from vault_eval.model import Label
from vault_eval.rankings import cold
from vault_eval.rankings.cold import EVERY_LABEL, beside_interpreters, cold_sample, time_cold


def label(name, query="spring tides"):
    return Label(name, query, (), "labels.json", "")


def ticks(step=1_000_000):
    """A clock that goes on by `step` nanoseconds a look: 1,000,000 are one millisecond."""
    return itertools.count(0, step).__next__


def python(code):
    return [sys.executable, "-I", "-c", code]


LABELS = tuple(label(f"q{number}") for number in range(100))


def test_sample_is_the_same_every_time_and_in_file_order():
    chosen = cold_sample(LABELS, 5)
    # The five smallest of `printf q0 | sha256sum`, …, `printf q99 | sha256sum`, back in file order.
    assert [one.id for one in chosen] == ["q18", "q38", "q60", "q86", "q88"]
    assert cold_sample(tuple(reversed(LABELS)), 5) == tuple(reversed(chosen))


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True, max_size=30), st.integers(0, 40))
def test_sample_has_the_size_asked_for_and_grows_by_adding(names, size):
    labels = tuple(map(label, names))
    chosen = cold_sample(labels, size)
    assert len(chosen) == min(size, len(labels))
    assert [one for one in labels if one in chosen] == list(chosen)
    assert all(one in chosen for one in cold_sample(labels, max(0, size - 1)))
    if size >= len(labels):
        assert chosen == labels


def test_sample_of_every_label_has_no_bound():
    # Two label files of 1,000 queries are allowed: more than one file may hold.
    labels = tuple(label(f"q{number}") for number in range(1_500))
    assert cold_sample(labels, EVERY_LABEL) == labels
    assert len(beside_interpreters({"q0": 1.0, "q1": 1.0}, EVERY_LABEL, ticks()).interpreter) == 2


def test_sample_of_others_does_not_depend_on_a_label_that_was_not_chosen():
    chosen = cold_sample(LABELS, 5)
    fewer = tuple(one for one in LABELS if one in chosen or one.id < "q5")
    assert cold_sample(fewer, 5) == chosen


def test_each_query_is_timed_beside_a_bare_interpreter():
    times = time_cold([label("a"), label("b")], python("pass"), ticks())
    # The clock is looked at before and after each process: every time is one millisecond.
    assert times.queries == {"a": 1.0, "b": 1.0}
    assert times.interpreter == (1.0, 1.0)


def test_nothing_asked_starts_nothing(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("started"))
    times = time_cold([], ["nowhere"], ticks())
    assert (times.queries, times.interpreter) == ({}, ())


@pytest.mark.parametrize("query", ["--help", "$(touch x); 'a' \"b\" | é 潮", "-", "a\nb"])
def test_query_is_one_argument_and_never_an_option_or_a_shell_line(query):
    code = f"import sys; sys.exit(sys.argv[1:] != ['--', {query!r}])"
    assert time_cold([label("a", query)], python(code), ticks()).queries == {"a": 1.0}


def test_nothing_is_read_from_the_terminal():
    assert time_cold([label("a")], python("import sys; sys.exit(sys.stdin.read() != '')"), ticks()).queries


def test_failure_is_an_error_and_no_latency():
    code = "import sys; sys.stderr.write('x' * 1000 + '\\x1b[31mno index\\n'); sys.exit(10)"
    with pytest.raises(VaultEvalError) as error:
        time_cold([label("a")], python(code), ticks())
    message = str(error.value)
    assert "ended with exit code 10" in message
    assert "no index" in message
    assert "--cold-samples 0" in message
    assert "\x1b" not in message
    assert len(message) < 600


def test_slow_query_is_an_error_that_does_not_repeat_the_query(monkeypatch):
    monkeypatch.setattr(cold, "COLD_QUERY_MAX_SECONDS", 0.2)
    sleeps = python("import sys, time; time.sleep(60 * (len(sys.argv) > 1))")
    with pytest.raises(VaultEvalError, match=r"a query took longer than 0\.2 seconds; use --cold-samples 0") as error:
        time_cold([label("a", "x" * 8_000)], sleeps, ticks())
    assert "xxx" not in str(error.value)


@pytest.mark.parametrize("command", [["/nowhere/vault-eval"], ["a\0b"]])
def test_command_that_cannot_be_started_is_an_error(command):
    with pytest.raises(VaultEvalError, match="cold latency could not be measured"):
        time_cold([label("a")], command, ticks())


def test_times_of_processes_stand_beside_at_most_so_many_bare_interpreters():
    times = beside_interpreters({"a": 40.0, "b": 50.0}, 1, ticks())
    assert (times.queries, times.interpreter) == ({"a": 40.0, "b": 50.0}, (1.0,))
    assert beside_interpreters({"a": 40.0}, 20, ticks()).interpreter == (1.0,)
    assert beside_interpreters({"a": 40.0}, 0, ticks()).interpreter == ()
