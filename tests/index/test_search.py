"""Search: pruned and exhaustive scoring agree to the last bit."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vault_eval.index import columns, search
from vault_eval.index.bm25 import Bm25
from vault_eval.index.columns import UNKNOWN, Columns, at_least, highest
from vault_eval.index.seal import open_index
from vault_eval.index.search import Searcher
from vault_eval.index.terms import Analyzer

K1 = st.one_of(st.just(0.0), st.floats(0.0, 3.0))
B = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))


def exhaustive(chunks, query, k1, b, n):
    """The plain sum: every chunk, every query term in its order. `chunks` are lists of terms."""
    counts = [Counter(chunk) for chunk in chunks]
    mean = sum(map(len, chunks)) / len(chunks) if chunks else 0.0
    df = {term: sum(term in count for count in counts) for term in query}
    hits = []
    for number, count in enumerate(counts):
        norm = k1 * (1.0 - b + b * (len(chunks[number]) / mean if mean else 1.0))
        score = 0.0
        for term in query:
            if count[term]:
                weight = math.log(1.0 + (len(chunks) - df[term] + 0.5) / (df[term] + 0.5)) * (k1 + 1.0)
                score += weight * count[term] / (count[term] + norm)
        if any(count[term] for term in query):
            hits.append((number, score))
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:n]


class Corpus:
    """A built index of notes of one chunk each, and the terms of each chunk."""

    def __init__(self, make_vault, texts) -> None:
        vault = make_vault(**{f"n{number:05}.md": text for number, text in enumerate(texts)})
        vault.build()
        self.index, _ = open_index(str(vault.folder), vault.id, verify=True)
        analyzer = Analyzer()
        self.chunks = [analyzer.terms(f"n{number:05}") + analyzer.terms(text) for number, text in enumerate(texts)]
        assert list(map(len, self.chunks)) == list(self.index["chunk_lengths"])


def zipf_texts(seed, notes, vocabulary, mean_length):
    rnd = random.Random(seed)
    words = [f"w{number}" for number in range(vocabulary)]
    weights = [1.0 / (rank + 1) for rank in range(vocabulary)]
    return [" ".join(rnd.choices(words, weights, k=rnd.randint(0, 2 * mean_length))) for _ in range(notes)]


@pytest.fixture(scope="module")
def corpora(make_vault):
    """From nothing to lists long enough to be pruned; the third has many ties."""
    made = [
        Corpus(make_vault, []),
        Corpus(make_vault, ["", "w0", "w0 w1 w1"]),
        Corpus(make_vault, [" ".join(f"w{letter}" for letter in f"{number % 7}{number % 3}") for number in range(500)]),
        Corpus(make_vault, zipf_texts(1, 40, 30, 10)),
        Corpus(make_vault, zipf_texts(2, 1500, 60, 30)),
    ]
    yield made
    for corpus in made:
        corpus.index.close()


@given(st.integers(0, 4), st.lists(st.integers(0, 65), max_size=12), K1, B, st.integers(1, 60))
@settings(max_examples=300, deadline=None)
def test_pruned_scores_are_those_of_the_plain_sum_to_the_last_bit(corpora, which, words, k1, b, n):
    corpus = corpora[which]
    query = [f"w{word}" for word in words]
    searcher = Searcher(corpus.index, k1, b)
    first, then = searcher.best(query, n), searcher.best(query, n)  # without columns, and with them
    assert exhaustive(corpus.chunks, query, k1, b, n) == list(map(tuple, first)) == list(map(tuple, then))


@given(st.lists(st.lists(st.integers(0, 12), max_size=8), min_size=1, max_size=12), st.integers(1, 60), K1, B)
@settings(max_examples=60, deadline=None)
def test_one_searcher_answers_many_queries_as_a_new_one_does(corpora, queries, n, k1, b):
    """What it remembers of lists already walked changes nothing."""
    searcher = Searcher(corpora[4].index, k1, b)
    for words in queries:
        query = [f"w{word}" for word in words]
        assert exhaustive(corpora[4].chunks, query, k1, b, n) == list(map(tuple, searcher.best(query, n)))


@given(st.integers(0, 10**6), K1, B, st.integers(1, 60))
@settings(max_examples=15, deadline=None)
def test_any_small_corpus_is_scored_exactly(make_vault, seed, k1, b, n):
    rnd = random.Random(seed)
    corpus = Corpus(make_vault, zipf_texts(seed, rnd.randint(1, 60), rnd.randint(1, 20), rnd.randint(0, 20)))
    with corpus.index:
        for _ in range(10):
            query = [f"w{rnd.randrange(22)}" for _ in range(rnd.randint(0, 10))]
            assert exhaustive(corpus.chunks, query, k1, b, n) == list(map(tuple, Searcher(corpus.index, k1, b).best(query, n)))


@given(
    st.lists(st.lists(st.integers(0, 65), max_size=14), min_size=2, max_size=6),
    K1,
    B,
    st.integers(1, 60),
    st.sampled_from([0, 20, 200]),
    st.sampled_from([20, 60, 150]),
)
@example([[0], [52, 57, 0, 52]], 1.5, 0.75, 5, 20, 150)  # pruned before a frequent term that matters
@settings(max_examples=60, deadline=None)
def test_where_a_list_counts_as_short_or_frequent_changes_nothing(corpora, queries, k1, b, n, short, frequent):
    searcher = Searcher(corpora[4].index, k1, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_SHORT_LIST_POSTINGS", short)
        patch.setattr(columns, "LIST_MIN_POSTINGS", frequent)
        for words in queries:
            query = [f"w{word}" for word in words]
            assert exhaustive(corpora[4].chunks, query, k1, b, n) == list(map(tuple, searcher.best(query, n)))


def test_what_does_not_fit_into_a_byte_is_walked(corpora):
    """16 idf: said forty times, "w3" takes 216 of 255 steps and "w2" 162."""
    query = ["w3"] * 40 + ["w2"] * 40
    searcher = Searcher(corpora[4].index)
    searcher.best(query, 10)
    made, lists = Columns(corpora[4].index, searcher.bm25), searcher._lists(query)
    made.fitting(lists)
    assert [len(lists), len(made.fitting(lists))] == [2, 1]
    assert list(map(tuple, searcher.best(query, 10))) == exhaustive(corpora[4].chunks, query, 1.5, 0.75, 10)


def test_lists_are_in_fact_pruned(corpora, monkeypatch):
    """Else the laws above would prove nothing: one common word beside rare ones is not walked."""
    walked = []
    add = Searcher._add
    monkeypatch.setattr(Searcher, "_add", lambda self, sums, postings: walked.append(postings) or add(self, sums, postings))
    query = ["w0", *[f"w{word}" for word in range(40, 60)]]
    hits = Searcher(corpora[4].index).best(query, 3)
    assert list(map(tuple, hits)) == exhaustive(corpora[4].chunks, query, 1.5, 0.75, 3)
    assert len(walked) < 21


def test_frequent_terms_are_in_fact_not_walked(corpora, monkeypatch):
    """Else the laws would say nothing of columns: "w0" to "w3" are each in more than 300 of the 1,500 chunks."""
    query = ["w0", "w1", "w2", "w3", "w0"]
    searcher = Searcher(corpora[4].index)
    first = searcher.best(query, 10)
    monkeypatch.setattr(Searcher, "_add", None)
    assert searcher.best(query, 10) == first


def test_without_room_for_columns_the_answers_are_the_same(corpora, monkeypatch):
    monkeypatch.setattr(columns, "_ALL_MAX_BYTES", 0)
    monkeypatch.setattr(Searcher, "_finish_by_columns", None)
    searcher = Searcher(corpora[4].index)
    for query in (["w0", "w1", "w30"], ["w0"], ["w2", "w40", "w41", "w0"]):
        hits = searcher.best(query, 10)
        assert list(map(tuple, hits)) == exhaustive(corpora[4].chunks, query, 1.5, 0.75, 10)


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_no_more_columns_are_made_than_there_is_room_for(corpora, monkeypatch, room):
    monkeypatch.setattr(columns, "_ALL_MAX_BYTES", room * 2 * corpora[4].index.chunks)  # two bytes of each chunk a column
    searcher = Searcher(corpora[4].index)
    made = Columns(corpora[4].index, searcher.bm25)
    made.fitting([])  # a first query makes none
    for words in (["w0", "w1", "w2", "w3"], ["w3", "w2", "w1"], ["w0"]):
        made.total(made.fitting(searcher._lists(words)))
        assert len(made._made) <= room
    assert len(made._made) == room


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), K1, B)
@settings(max_examples=60, deadline=None)
def test_a_column_is_never_below_what_terms_add(corpora, words, k1, b):
    corpus = corpora[4]
    searcher = Searcher(corpus.index, k1, b)
    made = Columns(corpus.index, searcher.bm25)
    query = [f"w{word}" for word in words]
    lists = searcher._lists(query)
    assert made.fitting(lists) == []  # a first query alone is not worth it
    fitting = made.fitting(lists)
    total = made.total(fitting)
    starts = {one.start for one in fitting}
    said = [word for word in query if (found := searcher.postings(word)) is not None and found.start in starts]
    exact = dict(exhaustive(corpus.chunks, said, k1, b, 10_000))
    assert {chunk for chunk, steps in enumerate(total) if steps} == exact.keys()
    assert all(total[chunk] * made.step >= score * (1 - 1e-12) for chunk, score in exact.items())


@given(st.binary(max_size=40), st.integers(1, 255), st.integers(1, 50))
def test_places_in_a_total(total, steps, n):
    assert [chunk for chunk, value in enumerate(total) if value >= steps] == list(at_least(total, steps))
    last = max([1, *sorted(total, reverse=True)[n - 1 : n]])
    assert [chunk for chunk, value in enumerate(total) if value >= last] == highest(total, n)


def test_ties_stand_in_path_order(corpora):
    hits = Searcher(corpora[2].index).best(["w3"], 60)
    assert len({hit.score for hit in hits}) < len(hits)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk))


def test_a_query_without_a_known_term_finds_nothing(corpora):
    for corpus in corpora:
        searcher = Searcher(corpus.index)
        assert searcher.best([], 10) == searcher.best(["nowhere", "else"], 10) == []
        assert searcher.matches(["nowhere"]) == {}


@given(st.lists(st.integers(0, 65), max_size=10), K1, B)
@settings(max_examples=50, deadline=None)
def test_contributions_sum_to_the_score(corpora, words, k1, b):
    corpus = corpora[3]
    searcher = Searcher(corpus.index, k1, b)
    query = [f"w{word}" for word in words]
    for chunk, score in exhaustive(corpus.chunks, query, k1, b, 1000):
        added = [one.contribution for one in searcher.term_scores(query, chunk)]
        total = 0.0
        for part in added:
            total += part
        assert (total, searcher.scores(query, [chunk])) == (score, [score])
        assert searcher.frequencies(query, chunk) == [corpus.chunks[chunk].count(term) for term in query]
        assert [part > 0 for part in added] == [tf > 0 for tf in searcher.frequencies(query, chunk)]


@given(st.lists(st.integers(0, 65), max_size=10), K1, B)
@settings(max_examples=50, deadline=None)
def test_matches_are_all_chunks_with_their_scores(corpora, words, k1, b):
    corpus = corpora[4]
    query = [f"w{word}" for word in words]
    assert dict(exhaustive(corpus.chunks, query, k1, b, 10_000)) == Searcher(corpus.index, k1, b).matches(query)


@given(
    st.integers(0, 4), st.lists(st.integers(0, 65), max_size=6), K1, B, st.floats(0.001, 30.0), st.sampled_from([0, 100, 10**6])
)
@settings(max_examples=80, deadline=None)
def test_chunks_that_reach_a_score_are_those_of_the_plain_sum(corpora, corpus, words, k1, b, least, frequent):
    corpus, query = corpora[corpus], [f"w{word}" for word in words]
    every = {chunk: score for chunk, score in exhaustive(corpus.chunks, query, k1, b, 10_000) if score > 0.0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "LIST_MIN_POSTINGS", frequent)
        searcher = Searcher(corpus.index, k1, b)
        for _ in range(2):  # the first query makes no columns
            for limit in (least, *list(every.values())[::50]):
                assert searcher.reaching(query, limit) == {chunk: score for chunk, score in every.items() if score >= limit}


def test_a_term_said_twice_counts_twice(corpora):
    searcher = Searcher(corpora[3].index)
    once, twice = searcher.best(["w5"], 5), searcher.best(["w5", "w5"], 5)
    assert [(hit.chunk, hit.score + hit.score) for hit in once] == [tuple(hit) for hit in twice]


@pytest.mark.parametrize("tf", [2, 14, 15, 16, 255, 256, 300])
def test_a_term_with_a_column_counts_as_often_as_it_stands_there(make_vault, monkeypatch, tf):
    monkeypatch.setattr(columns, "LIST_MIN_POSTINGS", 0)
    monkeypatch.setattr(search, "_SHORT_LIST_POSTINGS", 0)
    corpus = Corpus(make_vault, ["tide " * tf, "tide ebb", "ebb"])
    searcher = Searcher(corpus.index)
    searcher.best(["tide"], 3)  # a first query makes no columns
    assert searcher.best(["tide", "ebb"], 3) == exhaustive(corpus.chunks, ["tide", "ebb"], 1.5, 0.75, 3)
    (known,) = [searcher._columns.counts(one) for one in searcher._lists(["tide"])]
    assert known is not None
    assert list(known) == [tf if tf < 15 else UNKNOWN, 1, 0]
    corpus.index.close()


def test_scores_are_those_of_the_formula():
    """Two chunks of 2 and 4 terms, df 1: idf = ln(1 + 1.5 / 1.5) = ln 2; mean 3; k1 1.5, b 0.75, tf 2, length 4:
    norm = 1.5 (0.25 + 0.75 * 4 / 3) = 1.875; ln 2 * 2.5 * 2 / 3.875 = 0.8943835...
    """
    bm25 = Bm25(1.5, 0.75, 2, 3.0)
    assert bm25.idf(1) == pytest.approx(math.log(2))
    assert bm25.norm(4) == 1.875
    assert bm25.contribution(bm25.weight(1), 2, 4) == pytest.approx(math.log(2) * 5 / 3.875)


@given(st.integers(1, 10**8).flatmap(lambda chunks: st.tuples(st.just(chunks), st.integers(0, chunks))))
def test_no_term_ever_weighs_nothing(corpus):
    chunks, df = corpus
    assert Bm25(1.5, 0.75, chunks, 10.0).idf(df) > 0


@given(K1, B, st.integers(1, 100), st.integers(1, 500), st.integers(0, 99), st.integers(0, 400))
def test_largest_count_with_shortest_chunk_bounds_every_contribution(k1, b, most, shortest, fewer, longer):
    bm25 = Bm25(k1, b, 1000, 50.0)
    bound = bm25.contribution(1.0, most, shortest)
    assert bm25.contribution(1.0, max(most - fewer, 1), shortest + longer) <= bound * (1 + 1e-12)
