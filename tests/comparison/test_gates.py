"""Gates: passed, failed, undecided; no data, errors and too few queries never pass."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from vault_eval.comparison.compare import compare
from vault_eval.comparison.gates import GateResult, decide, exit_code, parse_gate, parse_margin, regression
from vault_eval.errors import UsageError
from vault_eval.metrics.score import MetricValue
from vault_eval.significance.intervals import Interval

# What `float` takes and no person means: 0_1 would be 1, the others are .5 and 1.
NO_NUMBERS = ["0_1", "0_1.0", "\u0660.\u0665", "\uff11", " 0.5", "0.5 ", "+0.5", "1e", "."]


@dataclass(frozen=True)
class Run:
    """One measured configuration."""

    values: dict[str, MetricValue] = field(default_factory=dict)
    name: str = "keyword"
    errors: int = 0

    def metric(self, name: str) -> MetricValue | None:
        return self.values.get(name)


def value(mean: float | None, n: int, low: float = 0.0) -> MetricValue:
    if mean is None:
        return MetricValue(None, 0, "no data")
    return MetricValue(mean, n, "ok", Interval(low, 1.0, "abc"))


def outcome(text: str, *runs: Run, min_n: int = 1, on: str = "point") -> list[str]:
    return [result.outcome for result in decide([parse_gate(text)], runs, min_n, on)]


@pytest.mark.parametrize(
    ("mean", "low", "on", "expected"),
    [
        (0.8, 0.5, "point", "passed"),  # exactly at the limit
        (0.7999999, 0.5, "point", "failed"),
        (0.8, 0.8, "lower", "passed"),  # both exactly at it
        (0.9, 0.7999999, "lower", "undecided"),
        (0.79, 0.5, "lower", "failed"),  # below the limit is failed by either gate
    ],
)
def test_a_gate_on_the_point_or_on_the_lower_bound(mean, low, on, expected):
    assert outcome("recall@5=0.8", Run({"recall@5": value(mean, 20, low)}), on=on) == [expected]


@pytest.mark.parametrize("on", ["point", "lower"])
def test_no_data_errors_and_too_few_queries_are_undecided(on):
    good = value(1.0, 5, 0.9)
    assert outcome("0", Run({"recall@5": value(None, 0)}), on=on) == ["undecided"]
    assert outcome("0.5", Run({"recall@5": good}, errors=1), on=on) == ["undecided"]
    assert outcome("0.5", Run({"recall@5": good}), min_n=6, on=on) == ["undecided"]
    assert outcome("0.5", Run({"recall@5": good}), min_n=5, on=on) == ["passed"]


def test_a_mean_of_which_some_queries_are_hidden_is_undecided():
    assert outcome("0.5", Run({"recall@5": MetricValue(1.0, 9, "unreliable", Interval(0.9, 1.0, "abc"))})) == ["undecided"]


def test_a_mean_without_an_interval_cannot_pass_on_its_bound():
    assert outcome("0.5", Run({"recall@5": MetricValue(1.0, 9, "ok")}), on="lower") == ["undecided"]


def test_a_gate_without_a_configuration_is_for_each_and_with_one_for_that_alone():
    runs = Run({"recall@5": value(0.9, 9)}, "a"), Run({"recall@5": value(0.1, 9)}, "b")
    assert outcome("0.5", *runs) == ["passed", "failed"]
    assert outcome("a:0.5", *runs) == ["passed"]
    with pytest.raises(UsageError, match="no configuration 'c'"):
        outcome("c:0.5", *runs)


@pytest.mark.parametrize(
    ("outcomes", "code"), [([], 0), (["passed"], 0), (["passed", "undecided"], 3), (["undecided", "failed"], 1)]
)
def test_failed_comes_before_undecided_before_passed(outcomes, code):
    assert exit_code([GateResult(one, "gate", "why") for one in outcomes]) == code


@pytest.mark.parametrize(
    "text", ["nan", "inf", "80", "-0.1", "0,8", "80%", "recal@5=0.8", "false_answer_rate=0.5", "", *NO_NUMBERS]
)
def test_limits_that_cannot_be_are_refused(text):
    with pytest.raises(UsageError, match="--fail-under"):
        parse_gate(text)


@pytest.mark.parametrize("text", ["nan", "-0.1", "1.1", "5%", "", *NO_NUMBERS])
def test_margins_that_cannot_be_are_refused(text):
    with pytest.raises(UsageError, match="--margin"):
        parse_margin(text)
    assert parse_margin("0.02") == 0.02


def gated(baseline, candidate, margin=0.05, min_n=1):
    return regression(compare(baseline, [candidate])[0], margin, min_n)


def test_the_same_rankings_are_no_regression_however_few(side):
    result = gated(side([1.0, 0.5]), side([1.0, 0.5]))
    assert result.sentence == "gate regression of mrr@10 within 0.05 (keyword): passed, the rankings are identical"


def test_many_queries_that_stay_are_no_regression(side):
    # 400 queries, ten of them half won: mean .0125; with one win and one loss added the variance is
    # (10 * .25 + 2) / 402 - (5 / 402)^2 = .0110393; standard error .0052403; .0124378 - 1.644854 * .0052403 = .0038182.
    result = gated(side([0.5] * 400), side([1.0] * 10 + [0.5] * 390))
    assert (result.outcome, result.detail) == ("passed", "+0.0125 with n = 400, lower bound +0.00381824")


def test_a_mean_that_fell_further_than_the_margin_fails(side):
    # One of four from 1 to .5: -.125.
    assert gated(side([1.0] * 4), side([1.0] * 3 + [0.5])).outcome == "failed"
    assert gated(side([1.0] * 4), side([1.0] * 3 + [0.5]), margin=0.125).outcome == "undecided"


def test_few_queries_that_hardly_moved_are_undecided_not_passed(side):
    result = gated(side([0.5] * 14), side([0.5] * 13 + [1.0]))
    assert result.outcome == "undecided"
    assert "n = 14" in result.detail


def test_a_regression_gate_names_the_queries_that_could_not_be_paired(side, query):
    candidate = side([0.5] * 399 + [query("q399", 0.5, status="missing-gold", reason="gone")])
    result = gated(side([0.5] * 400), candidate)
    assert (result.outcome, result.detail.rpartition("; ")[2]) == ("passed", "not paired: 1")


def test_a_regression_gate_without_data_or_with_errors_never_passes(side, query):
    failed = side([1.0, query("q1", 0.0, status="error", values={}, ranking=())])
    assert gated(side([1.0, 1.0]), failed).outcome == "undecided"
    for min_n in (0, 1):
        assert gated(side([None]), side([None]), min_n=min_n).detail == "no data (n = 0)"
    assert gated(side([1.0] * 3), side([1.0] * 3), min_n=4).outcome == "undecided"
    refused = gated(side([1.0]), side([1.0], depth=20))
    assert (refused.outcome, refused.detail) == ("undecided", "not comparable: the depth differs (--top): 10 and 20 pages")
