"""Means: which queries are behind each, what an empty denominator says, and that order cannot show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from vault_eval.metrics import JudgedQuery, MetricValue, ScoreTable, aggregate, metrics_for

METRICS = metrics_for()


@dataclass(frozen=True)
class Bounds:
    low: float
    high: float
    method: str


def query(gold: str, ranked: str, usable: str | None = None, raw: str | None = None) -> JudgedQuery:
    pools = [None if pool is None else tuple(pool) for pool in (usable, raw)]
    return JudgedQuery(tuple(gold), tuple(ranked), usable=pools[0], raw=pools[1])


def test_a_query_without_any_result_counts_zero_instead_of_leaving_the_mean() -> None:
    found = aggregate(METRICS, [query("a", "a"), query("b", ""), query("c", "")])
    # (1 + 0 + 0) / 3, never 1.0 with n 1.
    assert MetricValue(1 / 3, 3, "ok") == found["recall@1"] == found["mrr@10"]


def test_negatives_have_a_denominator_of_their_own() -> None:
    found = aggregate(METRICS, [query("a", "a"), query("", ""), query("", "x"), query("", "")])
    assert MetricValue(1.0, 1, "ok") == found["recall@10"] == found["mrr@10"]
    # two of three came back empty
    assert MetricValue(2 / 3, 3, "ok") == found["no_result_accuracy"]


def test_recall_is_averaged_over_queries_and_not_pooled_over_pages() -> None:
    twelve = tuple("abcdefghijkl")
    found = aggregate(METRICS, [JudgedQuery(twelve, twelve[:10]), query("xy", "x")])
    # (1/12 + 1/2) / 2 = 7/24; (10/12 + 1/2) / 2 = 2/3, and not the pooled 11/14.
    assert abs(7 / 24 - (found["recall@1"].value or 0)) < 1e-15
    assert abs(2 / 3 - (found["recall@10"].value or 0)) < 1e-15


def test_mrr_is_cut_at_ten_and_another_name_is_cut_at_the_depth() -> None:
    eleventh = query("b", "acdefghijkb")
    found = aggregate(metrics_for(20), [eleventh, query("b", "acdefghijb"), query("b", "ab")])
    # (0 + 1/10 + 1/2) / 3 = .2; with 1/11 in place of 0: .2303030...
    assert abs(0.2 - (found["mrr@10"].value or 0)) < 1e-15
    assert abs((1 / 11 + 1 / 10 + 1 / 2) / 3 - (found["mrr@20"].value or 0)) < 1e-15


def test_no_queries_is_no_data_and_never_zero() -> None:
    assert set(aggregate(METRICS, []).values()) == {MetricValue(None, 0, "no data")}


def test_only_negatives_leave_recall_without_data() -> None:
    found = aggregate(METRICS, [query("", "")])
    assert MetricValue(None, 0, "no data") == found["recall@5"] == found["usable_candidate_recall"]


def test_a_hidden_pool_is_unavailable_and_never_zero() -> None:
    found = aggregate(METRICS, [query("a", "a"), query("b", "")])
    assert MetricValue(None, 0, "unavailable") == found["usable_candidate_recall"] == found["raw_candidate_recall"]


def test_an_empty_pool_is_a_zero_and_not_hidden() -> None:
    found = aggregate(METRICS, [query("a", "", usable="", raw="a")])
    assert MetricValue(0.0, 1, "ok") == found["usable_candidate_recall"]
    assert MetricValue(1.0, 1, "ok") == found["raw_candidate_recall"]


def test_a_pool_hidden_for_some_queries_is_unreliable() -> None:
    found = aggregate(METRICS, [query("a", "a", usable="a"), query("b", "")])
    assert MetricValue(1.0, 1, "unreliable") == found["usable_candidate_recall"]


def test_errors_beside_the_answers_make_every_mean_unreliable_but_are_no_zeros() -> None:
    found = aggregate(METRICS, [query("a", "a")], errors=1)
    assert MetricValue(1.0, 1, "unreliable") == found["recall@1"]
    assert MetricValue(None, 0, "no data") == found["no_result_accuracy"]


def test_a_group_reads_the_same_scores_and_ignores_repeated_places() -> None:
    table = ScoreTable.of(METRICS, [query("a", "a"), query("b", ""), query("", "")])
    assert MetricValue(0.0, 1, "ok") == table.aggregate([1, 1, 2])["recall@1"]
    assert MetricValue(1.0, 1, "ok") == table.aggregate([1, 2])["no_result_accuracy"]
    assert table.aggregate([])["recall@1"].status == "no data"
    assert table.columns["recall@1"] == (1.0, 0.0, None)


def test_the_interval_rule_is_given_the_values_and_whether_they_are_binary() -> None:
    asked: list[tuple[tuple[float, ...], bool]] = []

    def rule(values: Sequence[float], binary: bool) -> Bounds:
        asked.append((tuple(values), binary))
        return Bounds(0.25, 0.75, "made up")

    found = aggregate(METRICS, [query("ab", "a"), query("b", "")], interval=rule)
    assert found["recall@10"].interval == Bounds(0.25, 0.75, "made up")
    assert ((0.5, 0.0), False) in asked
    assert ((1.0, 0.0), True) in asked
    # Three recalls, three hits, mrr, ndcg, ap and judged: nothing was asked about metrics without values.
    assert len(asked) == 10


GOLDS = st.text("abcdef", max_size=4)
QUERIES = st.lists(st.tuples(GOLDS, st.text("abcdefgh", max_size=8)), max_size=12)


@given(QUERIES, st.randoms(use_true_random=False))
def test_the_order_of_the_queries_cannot_show(pairs: list[tuple[str, str]], random: Random) -> None:
    queries = [query(gold, ranked, usable=ranked, raw=ranked) for gold, ranked in pairs]
    shuffled = random.sample(queries, len(queries))
    assert aggregate(METRICS, queries) == aggregate(METRICS, shuffled)


@given(QUERIES)
def test_scored_and_negative_denominators_add_up_to_all_queries(pairs: list[tuple[str, str]]) -> None:
    found = aggregate(METRICS, [query(gold, ranked) for gold, ranked in pairs])
    assert len(pairs) == found["recall@1"].n + found["no_result_accuracy"].n


def test_a_thousand_queries_in_fifty_groups_take_a_fraction_of_a_second() -> None:
    random = Random(5)
    pages = [f"Folder/Page {number}.md" for number in range(40)]
    queries = [JudgedQuery(tuple(random.sample(pages, 2)), tuple(random.sample(pages, 10))) for _ in range(1000)]
    started = process_time()
    table = ScoreTable.of(METRICS, queries)
    for group in range(50):
        table.aggregate(range(group, 1000, 50))
    # About .02 s; the bound only catches work that grows with groups times queries.
    assert process_time() - started < 0.5
