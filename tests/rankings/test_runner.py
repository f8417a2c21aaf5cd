from __future__ import annotations

import itertools

import pytest

from vault_eval.model import Label, RankedPage, Ranking, RetrieverDescription
from vault_eval.rankings.runner import run_queries, without_pages


class Fake:
    """Answers with the query as the one page; a query `bad` fails."""

    def __init__(self) -> None:
        self.asked = []

    def describe(self):
        return RetrieverDescription("fake", {"k": 1})

    def index(self):
        return None

    def search(self, query, depth):
        self.asked.append((query, depth))
        if query == "bad":
            return Ranking((), error="it failed")
        return Ranking((RankedPage(1, f"{query}.md", None),))

    def close(self):
        pass

    def bound_digest(self):
        return None


def label(name, query):
    return Label(name, query, (), "labels.json", "")


def test_every_query_is_asked_once_after_one_untimed_warm_up():
    fake = Fake()
    clock = iter([0, 2_500_000, 10_000_000, 10_000_500])
    run = run_queries(fake, [label("a", "tides"), label("b", "moon")], 10, clock.__next__)
    assert fake.asked == [("tides", 10), ("tides", 10), ("moon", 10)]
    # 2,500,000 ns are 2.5 ms; 500 ns are 0.0005 ms.
    assert run.elapsed_ms == {"a": 2.5, "b": 0.0005}
    assert list(run.rankings) == ["a", "b"]
    assert run.rankings["b"].pages[0].page == "moon.md"
    assert (run.retriever.name, run.index, run.depth) == ("fake", None, 10)


def test_no_labels_ask_nothing():
    fake = Fake()
    run = run_queries(fake, [], 10, itertools.count().__next__)
    assert (fake.asked, run.rankings, run.elapsed_ms) == ([], {}, {})


def test_failure_of_one_query_is_kept_as_an_error_and_the_rest_go_on():
    run = run_queries(Fake(), [label("a", "bad"), label("b", "moon")], 10, itertools.count().__next__)
    assert (run.rankings["a"].error, run.rankings["a"].pages) == ("it failed", ())
    assert run.rankings["b"].error is None


def test_two_labels_with_the_same_query_have_a_ranking_each():
    run = run_queries(Fake(), [label("a", "moon"), label("b", "moon")], 10, itertools.count().__next__)
    assert run.rankings["a"] == run.rankings["b"]


class Ordered(Fake):
    """Always finds the same pages, as many as are asked for."""

    def search(self, query, depth):
        self.asked.append((query, depth))
        return Ranking(tuple(RankedPage(rank, f"{rank}.md", None) for rank in range(1, depth + 1)))


def test_label_notes_are_taken_out_and_as_many_other_pages_take_their_places():
    fake = Ordered()
    run = run_queries(fake, [label("a", "moon")], 3, itertools.count().__next__, frozenset({"1.md", "3.md"}))
    found = run.rankings["a"]
    assert [(one.rank, one.page) for one in found.pages] == [(1, "2.md"), (2, "4.md"), (3, "5.md")]
    assert (found.label_hits_removed, fake.asked[-1]) == (2, ("moon", 5))


@pytest.mark.parametrize(
    ("found", "kept", "removed"),
    [
        # Depth 10, label notes at ranks 3 and 12 of 12: the tenth page that is kept stands at rank 11.
        ([*"abLcdefghij", "M"], [*"abcdefghij"], 1),
        ([*"LabcdefghijM"], [*"abcdefghij"], 1),
        ([*"abcdefghiLMj"], [*"abcdefghij"], 2),
        ([*"aLbM"], [*"ab"], 2),
        ([*"LM"], [], 2),
        ([], [], 0),
    ],
)
def test_label_notes_count_as_taken_out_where_they_stood_in_the_way(found, kept, removed):
    ranking = Ranking(tuple(RankedPage(rank, page, None) for rank, page in enumerate(found, 1)))
    left = without_pages(ranking, frozenset("LM"), 10)
    assert [(one.rank, one.page) for one in left.pages] == [*enumerate(kept, 1)]
    assert left.label_hits_removed == removed


class OneProcessEach(Fake):
    why_no_warm = "each query is a process of its own"


def test_searcher_that_starts_a_process_for_every_query_is_not_warmed_up():
    searcher = OneProcessEach()
    run = run_queries(searcher, [label("a", "tides"), label("b", "moon")], 10, itertools.count(0, 4_000_000).__next__)
    assert searcher.asked == [("tides", 10), ("moon", 10)]
    assert run.elapsed_ms == {"a": 4.0, "b": 4.0}
