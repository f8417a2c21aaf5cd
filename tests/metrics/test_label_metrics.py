"""Judged@10, the two separations, and the threshold chosen on dev: by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vault_eval.comparison.gates import parse_gate
from vault_eval.errors import UsageError
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.definitions.judged import judged
from vault_eval.metrics.definitions.threshold import chosen_threshold
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.score import MetricValue, ScoreTable, aggregate
from vault_eval.significance.intervals import mean_interval, wilson

METRICS = metrics_for()


def query(
    gold: str, ranked: str, score: float | None = None, split: str | None = None, coverage: float | None = None
) -> JudgedQuery:
    return JudgedQuery(tuple(gold), tuple(ranked), top_score=score, split=split, coverage=coverage)


def test_judged_is_the_share_of_what_came_back_that_is_named_or_graded():
    # Of a, b, c, d: a is gold, c is graded 0, which is a judgment too: 2/4.
    assert judged(JudgedQuery(("a",), tuple("abcd"), {"c": 0}), 10) == 0.5
    assert judged(query("a", "bcdefghijka"), 10) == 0.0  # a stands at rank 11
    assert judged(query("a", ""), 10) is None
    assert judged(query("", "abc"), 10) is None


def test_an_empty_answer_is_outside_the_mean_of_judged_and_does_not_spoil_it():
    found = aggregate(METRICS, [query("a", "ab"), query("a", ""), query("", "ab")])["judged@10"]
    assert found == MetricValue(0.5, 1, "ok")


def test_no_result_auroc_counts_pairs_won_and_half_the_ties_and_an_empty_answer_as_lowest():
    queries = [query("a", "a", 3.0), query("a", "b", 1.0), query("a", ""), query("", "a", 1.0), query("", "")]
    # Against 1.0: 3 wins, 1 ties, empty loses: 1.5. Against empty: 3 and 1 win, empty ties: 2.5. (1.5 + 2.5) / 6 = 2/3.
    found = aggregate(METRICS, queries, interval=mean_interval)["no_result_auroc"]
    assert (found.value, found.n, found.status) == (pytest.approx(2 / 3, abs=1e-15), 5, "ok")
    # The interval is that of a mean over the fewer kind, two negatives: Wilson with 4/3 successes among 2.
    bounds = wilson(4 / 3, 2)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (pytest.approx(bounds.low), pytest.approx(bounds.high))


def test_coverage_auroc_has_its_own_sign():
    queries = [query("a", "a", 1.0, coverage=0.5), query("", "a", 9.0, coverage=0.25)]
    found = aggregate(METRICS, queries)
    assert (found["no_result_auroc"].value, found["coverage_auroc"].value) == (0.0, 1.0)


def test_a_searcher_without_scores_or_coverage_makes_them_unavailable_and_one_kind_alone_is_no_data():
    queries = [query("a", "a"), query("", "b", 1.0)]
    found = aggregate(METRICS, queries)
    assert (found["no_result_auroc"], found["coverage_auroc"]) == (MetricValue(None, 0, "unavailable"),) * 2
    assert aggregate(METRICS, queries[:1])["no_result_auroc"] == MetricValue(None, 0, "no data")


def test_errors_make_the_separations_unreliable():
    queries = [query("a", "a", 2.0), query("", "b", 1.0)]
    assert aggregate(METRICS, queries, errors=1)["no_result_auroc"] == MetricValue(1.0, 2, "unreliable")


# dev: answerable 5, 4, 1; unanswerable 3, 0.5. Youden J by threshold: .5: 1 - 1 = 0; 1: 1 - 1/2 = .5; 3: 2/3 - 1/2 = 1/6;
# 4: 2/3 - 0 = .667; 5: 1/3. Best at 4.
DEV = [query("a", "a", s, "dev") for s in (5.0, 4.0, 1.0)] + [query("", "b", s, "dev") for s in (3.0, 0.5)]
# holdout: answerable 6 (found), 3.5 (found), 2 (not found); unanswerable 4.5, 4, 1, none.
HOLDOUT = [
    *(query("a", "a", 6.0, "holdout"), query("a", "a", 3.5, "holdout"), query("a", "b", 2.0, "holdout")),
    *(
        query("", "b", 4.5, "holdout"),
        query("", "b", 4.0, "holdout"),
        query("", "b", 1.0, "holdout"),
        query("", "", None, "holdout"),
    ),
]


def test_the_threshold_is_the_best_on_dev_and_is_measured_on_holdout():
    queries = [*DEV, *HOLDOUT, query("a", "a", 100.0), query("", "a", 100.0)]  # those of no split change nothing
    assert chosen_threshold(queries) == 4.0
    found = aggregate(METRICS, queries)
    assert found["false_answer_rate"] == MetricValue(0.5, 4, "ok")  # 4.5 and 4 of four
    assert found["answerable_recall_lost"] == MetricValue(1 / 3, 3, "ok")  # 3.5 is lost; 2 had nothing to lose


def test_of_equally_good_thresholds_the_lowest_is_taken():
    # answerable 2 and 3, unanswerable 1: 2 gives 1 - 0; 3 gives 1/2.
    dev = [query("a", "a", 3.0, "dev"), query("a", "a", 2.0, "dev"), query("", "b", 1.0, "dev")]
    assert chosen_threshold([*dev, *HOLDOUT]) == 2.0
    # answerable 1 and 3, unanswerable 2 and 0: 1 gives 1 - 1/2, 3 gives 1/2 - 0: both .5.
    dev = [query("a", "a", s, "dev") for s in (1.0, 3.0)] + [query("", "b", s, "dev") for s in (2.0, 0.0)]
    assert chosen_threshold([*dev, *HOLDOUT]) == 1.0


@pytest.mark.parametrize("kept", [DEV, HOLDOUT, [*DEV[:3], *HOLDOUT], [*DEV, *HOLDOUT[:3]], [*DEV, *HOLDOUT[3:]], []])
def test_without_both_kinds_in_both_splits_there_is_no_data(kept):
    found = aggregate(METRICS, kept)
    assert chosen_threshold(kept) is None
    assert (found["false_answer_rate"], found["answerable_recall_lost"]) == (MetricValue(None, 0, "no data"),) * 2


def test_hidden_scores_make_the_threshold_unavailable():
    hidden = [*DEV, *(replace(one, top_score=None) for one in HOLDOUT)]
    assert aggregate(METRICS, hidden)["false_answer_rate"] == MetricValue(None, 0, "unavailable")


def test_figures_over_all_queries_stand_in_no_group():
    table = ScoreTable.of(METRICS, [*DEV, *HOLDOUT])
    assert set(table.aggregate()) - set(table.aggregate([0, 1])) == {
        "no_result_auroc",
        "coverage_auroc",
        "false_answer_rate",
        "answerable_recall_lost",
    }


def test_a_metric_of_which_less_is_better_cannot_be_gated_from_below():
    assert {metric.name for metric in METRICS if metric.is_cost} == {"false_answer_rate", "answerable_recall_lost"}
    with pytest.raises(UsageError, match="of false_answer_rate less is better"):
        parse_gate("keyword:false_answer_rate=0.1")
    assert parse_gate("title:no_result_auroc=0.6").metric == "no_result_auroc"
