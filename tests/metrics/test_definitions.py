"""Every metric on rankings small enough to compute by hand; and the pitfalls that other tools fell into."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.metrics.definitions.ap import average_precision
from vault_eval.metrics.definitions.candidate_recall import pool_recall
from vault_eval.metrics.definitions.hit import hit
from vault_eval.metrics.definitions.mrr import reciprocal_rank
from vault_eval.metrics.definitions.ndcg import ndcg
from vault_eval.metrics.definitions.no_result_accuracy import no_result
from vault_eval.metrics.definitions.recall import recall
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.recall_cap import queries_over_cutoff, recall_cap

TWELVE = tuple(f"Gold/{number:02}.md" for number in range(12))


def query(gold: str, ranked: str, **grades: int) -> JudgedQuery:
    """One letter a page: gold "bd" and ranking "abcd"."""
    return JudgedQuery(tuple(gold), tuple(ranked), grades)


# b at rank 2 and d at rank 4 of gold {b, d, x}.
TWO_OF_THREE = query("bdx", "abcdefghij")


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (10, 2 / 3)])
def test_recall_divides_what_was_found_by_all_that_is_relevant(k: int, expected: float) -> None:
    assert expected == recall(TWO_OF_THREE, k)


def test_recall_of_twelve_gold_pages_cannot_reach_one_at_ten() -> None:
    perfect = JudgedQuery(TWELVE, TWELVE)
    # 1/12, 5/12 and 10/12, although nothing could be better.
    assert (1 / 12, 5 / 12, 10 / 12) == (recall(perfect, 1), recall(perfect, 5), recall(perfect, 10))
    assert (1.0, 1.0, 1.0) == (recall_cap(perfect, 1), recall_cap(perfect, 5), recall_cap(perfect, 10))


def test_capped_recall_is_recall_where_there_are_places_enough() -> None:
    assert recall_cap(query("ab", "a"), 5) == recall(query("ab", "a"), 5) == 0.5
    assert recall_cap(query("", "a"), 5) is None


def test_queries_with_more_gold_than_places_are_counted() -> None:
    queries = [JudgedQuery(TWELVE, ()), query("ab", "a"), query("", "a")]
    # 12 and 2 are more than 1; only 12 is more than 5; the negative never counts.
    assert (2, 1, 0) == tuple(queries_over_cutoff(queries, k) for k in (1, 5, 12))


def test_a_short_ranking_does_not_shrink_the_divisor() -> None:
    assert recall(query("ab", "a"), 10) == 0.5


@pytest.mark.parametrize(
    ("ranked", "expected"), [("bac", 1.0), ("abc", 1 / 2), ("acdefghijb", 1 / 10), ("acdefghijkb", 0.0), ("", 0.0)]
)
def test_reciprocal_rank_is_one_over_the_first_relevant_rank_and_zero_beyond_ten(ranked: str, expected: float) -> None:
    assert expected == reciprocal_rank(query("b", ranked), 10)


def test_reciprocal_rank_at_a_larger_depth_sees_rank_eleven() -> None:
    assert 1 / 11 == reciprocal_rank(query("b", "acdefghijkb"), 20)


def test_only_the_first_relevant_page_counts_for_reciprocal_rank() -> None:
    assert reciprocal_rank(query("bc", "abc"), 10) == 0.5


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1.0), (10, 1.0)])
def test_hit_is_one_as_soon_as_any_gold_page_is_inside(k: int, expected: float) -> None:
    assert expected == hit(TWO_OF_THREE, k)


def test_average_precision_divides_by_all_relevant_pages() -> None:
    # b at 2: 1/2; d at 4: 2/4; x never: 0. (1/2 + 1/2) / 3.
    assert 1 / 3 == average_precision(TWO_OF_THREE, 10)


def test_average_precision_cut_at_ten_still_divides_by_twelve() -> None:
    # Ten pages with precision 1 each, of twelve.
    assert 10 / 12 == average_precision(JudgedQuery(TWELVE, TWELVE), 10)


def test_ndcg_has_linear_gain_and_the_ideal_of_all_judged_grades() -> None:
    graded = query("abc", "cxa", a=2, b=2, c=1)
    # DCG: c 1/log2(2) + x 0 + a 2/log2(4) = 1 + 1 = 2.
    # Ideal 2, 2, 1: 2/log2(2) + 2/log2(3) + 1/log2(4) = 2 + 1.2618595 + .5.
    assert 2 / (2 + 2 / log2(3) + 0.5) == pytest.approx(ndcg(graded, 10), abs=1e-15)


def test_ndcg_ideal_is_cut_at_k_too() -> None:
    # The first two of three equal pages are all there is room for: perfect at 2.
    assert ndcg(query("abc", "ab"), 2) == 1.0


def test_ndcg_ideal_counts_gold_that_was_not_retrieved() -> None:
    # DCG 1; ideal 1 + 1/log2(3). A tool that orders only the retrieved pages says 1.
    assert 1 / (1 + 1 / log2(3)) == pytest.approx(ndcg(query("ab", "a"), 10), abs=1e-15)


def test_a_page_judged_zero_gains_nothing_and_is_not_relevant() -> None:
    judged = query("ab", "ba", b=0)
    assert frozenset("a") == judged.relevant
    assert recall(judged, 1) == 0.0
    # a at rank 2, alone relevant: (1/log2(3)) / 1.
    assert 1 / log2(3) == pytest.approx(ndcg(judged, 10), abs=1e-15)


def test_gold_all_judged_zero_is_neither_scored_nor_negative() -> None:
    judged = query("a", "a", a=0)
    assert (False, False) == (judged.is_scored, judged.is_negative)
    assert (None, None) == (recall(judged, 10), no_result(judged))


def test_two_chunks_of_one_page_are_one_hit_and_one_rank() -> None:
    repeated = query("ac", "aabc")
    # As a, b, c: recall@1 1/2, both by rank 3; AP (1/1 + 2/3) / 2.
    assert (0.5, 1.0, 1.0) == (recall(repeated, 1), recall(repeated, 3), reciprocal_rank(repeated, 10))
    assert (1 + 2 / 3) / 2 == average_precision(repeated, 10)


def test_gold_named_twice_is_one_page() -> None:
    assert recall(query("aab", "a"), 1) == 0.5


def test_a_page_in_another_letter_case_is_another_page() -> None:
    assert recall(JudgedQuery(("Sea/Tides.md",), ("sea/tides.md",)), 10) == 0.0


def test_a_base_name_or_suffix_is_not_the_page() -> None:
    assert recall(JudgedQuery(("Sea/Tides.md",), ("Tides.md", "Old/Sea/Tides.md")), 10) == 0.0


@pytest.mark.parametrize("metric", [recall, reciprocal_rank, hit, average_precision, ndcg, recall_cap])
def test_an_empty_ranking_of_a_scored_query_is_zero_and_a_negative_is_undefined(
    metric: Callable[[JudgedQuery, int], float | None],
) -> None:
    assert metric(query("a", ""), 10) == 0.0
    assert metric(query("", "a"), 10) is None


def test_no_result_is_asked_of_negatives_only() -> None:
    assert (1.0, 0.0, None) == (no_result(query("", "")), no_result(query("", "a")), no_result(query("a", "")))


def test_candidate_recall_ignores_rank_and_is_undefined_when_the_pool_is_hidden() -> None:
    pooled = JudgedQuery(("a", "b"), (), usable=("c", "b"), raw=("c", "a", "b"))
    assert (0.5, 1.0) == (pool_recall(pooled, pooled.usable), pool_recall(pooled, pooled.raw))
    assert pool_recall(pooled, ()) == 0.0
    assert pool_recall(pooled, None) is None


PAGES = st.lists(st.sampled_from("abcdefghijklmnop"), max_size=16, unique=True).map("".join)
GOLD = st.lists(st.sampled_from("abcdefghijklmnopqrs"), min_size=1, max_size=12, unique=True).map("".join)
GRADES = st.dictionaries(st.sampled_from("abcdefghijklmnopqrs"), st.sampled_from([1, 2]))


@given(GOLD, PAGES)
def test_recall_and_hit_never_fall_as_k_grows(gold: str, ranked: str) -> None:
    asked = query(gold, ranked)
    for metric in (recall, hit):
        values = [metric(asked, k) or 0.0 for k in range(1, 17)]
        assert sorted(values) == values


@given(GOLD, PAGES, GRADES)
def test_every_metric_lies_within_zero_and_one(gold: str, ranked: str, grades: dict[str, int]) -> None:
    asked = query(gold, ranked, **grades)
    for metric in (recall, reciprocal_rank, hit, average_precision, ndcg, recall_cap):
        for k in (1, 5, 10, 20):
            value = metric(asked, k)
            assert value is not None
            assert 0 <= value <= 1


@given(GOLD, GRADES)
def test_the_best_order_has_ndcg_one(gold: str, grades: dict[str, int]) -> None:
    asked = query(gold, "", **grades)
    best = "".join(sorted(asked.relevant, key=asked.grade, reverse=True))
    assert ndcg(query(gold, best, **grades), 10) == 1.0


@given(st.integers(1, 20), st.integers(1, 20))
def test_one_gold_page_at_rank_r_has_reciprocal_rank_one_over_r(rank: int, k: int) -> None:
    ranked = tuple(f"{number}" for number in range(1, 21))
    assert (1 / rank if rank <= k else 0.0) == reciprocal_rank(JudgedQuery((str(rank),), ranked), k)


@given(GOLD, PAGES)
def test_with_one_gold_page_recall_equals_hit_and_ap_equals_rr(gold: str, ranked: str) -> None:
    asked = query(gold[0], ranked)
    assert recall(asked, 5) == hit(asked, 5)
    assert average_precision(asked, 10) == reciprocal_rank(asked, 10)


@given(GOLD, PAGES)
def test_hit_is_recall_above_zero(gold: str, ranked: str) -> None:
    asked = query(gold, ranked)
    for k in (1, 5, 10):
        assert float((recall(asked, k) or 0) > 0) == hit(asked, k)
