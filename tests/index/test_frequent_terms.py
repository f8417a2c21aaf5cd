"""What an index keeps of frequent terms: what its postings say, whichever build wrote them, and used by a search."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.index import columns, frequent_terms, search
from vault_eval.index.columns import Columns
from vault_eval.index.frequent_terms import frequent_sections, length_classes
from vault_eval.index.search import Searcher

COUNTS = st.one_of(st.integers(1, 3), st.integers(13, 17), st.just(65_535))


@pytest.fixture
def every_list_is_long(monkeypatch):
    """What is worth its place only in larger vaults happens in small ones."""
    for module in (frequent_terms, columns):
        monkeypatch.setattr(module, "LIST_MIN_POSTINGS", 0)
    monkeypatch.setattr(search, "_SHORT_LIST_POSTINGS", 0)


def three_words(number):
    return " ".join(word for word, every in (("tide", 1), ("ebb", 2), ("neap", 40)) if number % every == 0)


@given(st.lists(st.integers(0, 40), max_size=80))
def test_classes_rise_with_the_length_and_begin_with_the_length_they_name(lengths):
    classes = length_classes(lengths)
    assert len(classes.shortest) <= 16
    assert list(classes.shortest) == sorted(set(classes.shortest))
    for length, own in zip(lengths, classes.of_chunks, strict=True):
        assert own == max(place for place, shortest in enumerate(classes.shortest) if shortest <= length)


def test_as_many_chunks_are_in_each_class_where_their_lengths_allow():
    assert length_classes(range(100, 132)) == (bytes(number // 2 for number in range(32)), tuple(range(100, 132, 2)))
    assert length_classes([7] * 30 + [9, 9]) == (bytes(30) + b"\1\1", (7, 9))
    assert length_classes([]) == (b"", ())


@given(st.lists(st.dictionaries(st.integers(0, 19), COUNTS, min_size=1), max_size=6))
def test_each_kept_byte_has_the_count_of_a_posting_to_15_and_the_class_of_the_length(terms):
    postings = [sorted(term.items()) for term in terms]
    offsets = [sum(map(len, postings[:term])) for term in range(len(postings) + 1)]
    lengths = list(range(20))  # sixteen classes of twenty lengths: the first, and every fifth, holds two
    own = length_classes(lengths).of_chunks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent_terms, "LIST_MIN_POSTINGS", 0)
        kept = frequent_sections(
            {
                "posting_offsets": array("Q", offsets),
                "posting_chunks": array("I", [chunk for term in postings for chunk, _ in term]),
                "posting_counts": array("H", [count for term in postings for _, count in term]),
            },
            lengths,
        )
    frequent = [term for term, chunks in enumerate(terms) if len(chunks) > 1]  # more than one chunk in 16 of 20
    assert list(kept["frequent_terms"]) == frequent
    expected = [16 * min(terms[term].get(chunk, 0), 15) + own[chunk] for term in frequent for chunk in range(20)]
    assert list(kept["frequent_classes"]) == expected


def test_a_short_list_is_not_kept_however_few_chunks_there_are():
    postings = {"posting_offsets": array("Q", [0, 300, 601]), "posting_chunks": range(601), "posting_counts": [1] * 601}
    assert list(frequent_sections(postings, [5] * 601)["frequent_terms"]) == [1]


@pytest.mark.usefixtures("every_list_is_long")
def test_an_index_keeps_the_terms_that_one_chunk_in_sixteen_holds(make_vault):
    vault = make_vault(**{f"n{number}.md": three_words(number) for number in range(80)})
    vault.build()
    with vault.index() as index:
        kept = [index.term(term) for term in index["frequent_terms"]]
        assert [term for term in kept if not term.startswith("n")] == ["ebb", "tide"]  # "neap" is in 2 of 80 chunks
        place = kept.index("ebb")
        assert [byte // 16 for byte in index["frequent_classes"][80 * place : 80 * (place + 1)]] == [
            three_words(int(index.page(index.page_of(chunk))[1:-3])).split().count("ebb") for chunk in range(80)
        ]


@pytest.mark.usefixtures("every_list_is_long")
def test_a_build_that_reuses_an_index_keeps_the_same_bytes(make_vault):
    vault = make_vault(**{f"n{number}.md": three_words(number) for number in range(60)})
    vault.build()
    for number in random.Random(1).sample(range(60), 20):
        vault.write(f"n{number}.md", three_words(number + 1) + " spring")
    (vault.root / "n7.md").unlink()
    again, anew = vault.build(), vault.build(folder=vault.folder.parent / "anew")
    assert 30 < again.reused < 50
    assert again.sha256 == anew.sha256


@pytest.mark.usefixtures("every_list_is_long")
@pytest.mark.parametrize("without", [(Columns, "_places", {}), (columns, "chunk_classes", None)])
def test_a_search_finds_the_same_with_what_is_kept_and_without(make_vault, monkeypatch, without):
    vault = make_vault(**{f"n{number}.md": f"{three_words(number)} {'tide ' * (number % 20)}" for number in range(80)})
    vault.build()
    with vault.index() as index:
        searcher = Searcher(index)
        expected = searcher.best(["tide", "ebb"], 10)  # a first query makes no columns
        monkeypatch.setattr(*without)
        monkeypatch.setattr(Searcher, "_add", None)
        assert searcher.best(["tide", "ebb"], 10) == expected
        assert len(expected) == 10
