"""The catalogue finds every definition, names it as reports do, and says what each means."""

from __future__ import annotations

from pathlib import Path

import pytest

import vault_eval.metrics.definitions
from vault_eval.metrics import aggregate, metrics_for
from vault_eval.metrics.catalogue import mean_metrics
from vault_eval.metrics.judged_query import JudgedPlace, JudgedQuery
from vault_eval.metrics.metric import Across, Metric

AT_TEN = [
    "recall@1",
    "recall@5",
    "recall@10",
    "mrr@10",
    "ndcg@10",
    "ap@10",
    "hit@1",
    "hit@5",
    "hit@10",
    "section_hit",
    "page_hit",
    "doc_hit",
    "usable_candidate_recall",
    "raw_candidate_recall",
    "judged@10",
    "no_result_accuracy",
    "no_result_auroc",
    "coverage_auroc",
    "false_answer_rate",
    "answerable_recall_lost",
]


def test_the_names_at_the_default_depth_are_exactly_these_in_this_order() -> None:
    assert [metric.name for metric in metrics_for()] == AT_TEN


def test_of_every_paired_metric_that_is_a_quality_more_is_better() -> None:
    """So a comparison may say better where it rose."""
    assert not [metric.name for metric in mean_metrics() if metric.is_quality and metric.is_cost]
    assert AT_TEN[:16] == [metric.name for metric in mean_metrics()]


def test_a_metric_is_a_mean_of_queries_or_a_figure_over_all_and_never_both() -> None:
    def across(_queries: object) -> Across:
        return Across((), 0)

    for of_query in (None, lambda _query: 1.0):
        with pytest.raises(ValueError, match="of each query, or of all"):
            Metric("m", "a metric", of_query, 1, across=None if of_query is None else across)
    assert Metric("m", "a metric", None, 1, across=across).per_query(JudgedQuery((), ())) is None


def test_every_metric_that_a_searcher_can_make_unavailable_says_what_it_needs() -> None:
    """Scored and negative in both splits, with a section each, and a searcher that tells nothing but pages."""
    place = JudgedPlace("a#b", "a", "section", is_hit=None), JudgedPlace("c#page=1", "c", "page", is_hit=None)
    queries = [
        JudgedQuery(gold, ("z",), split=split, places=place if gold else ())
        for split in ("dev", "holdout")
        for gold in (("a", "c"), ())
    ]
    hidden = {name for name, found in aggregate(metrics_for(), queries).items() if found.status == "unavailable"}
    assert hidden == {metric.name for metric in metrics_for() if metric.needs is not None}
    assert hidden == {
        "section_hit",
        "page_hit",
        "usable_candidate_recall",
        "raw_candidate_recall",
        "no_result_auroc",
        "coverage_auroc",
        "false_answer_rate",
        "answerable_recall_lost",
    }


@pytest.mark.parametrize("depth", [11, 20, 1000])
def test_a_larger_depth_adds_the_rank_weighted_metrics_at_the_depth(depth: int) -> None:
    added = [metric.name for metric in metrics_for(depth) if metric.name not in AT_TEN]
    assert added == [f"mrr@{depth}", f"ndcg@{depth}", f"ap@{depth}"]
    assert len(metrics_for(depth)) == len(AT_TEN) + 3


def test_every_file_of_definitions_is_asked_without_being_named_anywhere() -> None:
    (folder,) = vault_eval.metrics.definitions.__path__
    files = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
    asked = {(metric.of_query or metric.across).__module__.rpartition(".")[2] for metric in metrics_for()}
    assert files == asked


def test_a_meaning_is_one_line_and_no_two_are_alike() -> None:
    meanings = [metric.meaning for metric in metrics_for(20)]
    assert len(set(meanings)) == len(meanings)
    assert all(meaning and "\n" not in meaning for meaning in meanings)


def test_binary_metrics_and_denominators_are_declared() -> None:
    by_name = {metric.name: metric for metric in metrics_for()}
    places = {"section_hit", "page_hit", "doc_hit"}
    binary = {"hit@1", "hit@5", "hit@10", "no_result_accuracy", "false_answer_rate"} | places
    assert binary == {name for name, m in by_name.items() if m.binary}
    assert {"no_result_accuracy", "false_answer_rate"} == {name for name, m in by_name.items() if m.over == "negative"}
    assert {"judged@10"} == {name for name, m in by_name.items() if m.over == "returned"}
    both = {"no_result_auroc", "coverage_auroc"}
    assert both == {name for name, m in by_name.items() if m.over == "scored and negative"}
    across = both | {"false_answer_rate", "answerable_recall_lost"}
    assert across == {name for name, m in by_name.items() if m.across is not None}
    assert {"section": "section_hit", "page": "page_hit", "place": "doc_hit"} == {by_name[one].over: one for one in places}
