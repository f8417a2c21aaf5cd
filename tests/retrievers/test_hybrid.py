"""`hybrid`: the rankings of words and of vectors made into one by reciprocal rank."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.errors import UsageError
from vault_eval.index.fusion import fused, reciprocal_rank_scores
from vault_eval.index.options import IndexOptions
from vault_eval.index.pool import FRESH, LABEL_ONLY, STALE, Pool
from vault_eval.index.search import Hit

PLAIN = IndexOptions(prefix="none")


def pool(pages: str, *, stale: str = "", first_chunk: int = 0) -> Pool:
    """Pages named by one letter each, the ordinal of `a` is 0, with one chunk each; best first."""
    ordinals = [ord(page) - ord("a") for page in pages]
    hits = [Hit(first_chunk + page, 1.0 / place) for place, page in enumerate(ordinals, 1)]
    states = {page: STALE if chr(page + ord("a")) in stale else FRESH for page in ordinals}
    return Pool(hits, dict(zip(ordinals, hits, strict=True)), states)


def letters(pages) -> str:
    return "".join(chr(page + ord("a")) for page in pages)


def test_scores_computed_by_hand():
    # a: 1/61; b: 1/62 + 1/61; c: 1/63; d: 1/62
    assert reciprocal_rank_scores([[0, 1, 2], [1, 3]]) == {0: 1 / 61, 1: 1 / 62 + 1 / 61, 2: 1 / 63, 3: 1 / 62}


def test_pages_stand_by_reciprocal_rank_then_by_path():
    found = fused([pool("abc"), pool("bd")])
    assert letters(found.first) == "badc"
    # First in one and nowhere in the other, twice: the same score, so path order.
    assert letters(fused([pool("z"), pool("y")]).first) == "yz"


def test_a_page_has_the_chunk_of_the_ranking_where_it_stands_highest():
    words, vectors = pool("abc"), pool("cb", first_chunk=100)
    found = fused([words, vectors])
    # c is third by words and first by vectors; b is second in both, so that of the words counts.
    assert {letters([page]): hit.chunk for page, hit in found.first.items()} == {"a": 0, "b": 1, "c": 102}


def test_stale_pages_take_no_rank_and_stand_behind():
    found = fused([pool("sab", stale="s"), pool("bs", stale="s")])
    assert (letters(found.usable), letters(found.first)) == ("ba", "bas")
    assert found.first[1].score == 1 / 62 + 1 / 61, "a is at rank 1 of the words, b at 2: stale ones are no results"


def test_chunks_that_both_found_are_counted_once():
    found = fused([pool("abc"), pool("bcd")])
    assert len(found.hits) == 4


def test_what_is_known_of_pages_is_kept():
    one = pool("ab")
    one.freshness[0] = LABEL_ONLY
    assert fused([one, pool("b")]).freshness == {0: LABEL_ONLY, 1: FRESH}


ORDERS = st.permutations("abcdefgh").flatmap(lambda order: st.integers(0, 8).map(lambda size: "".join(order[:size])))


@given(ORDERS, ORDERS)
def test_the_order_of_the_rankings_does_not_matter(one, other):
    forth, back = fused([pool(one), pool(other)]), fused([pool(other), pool(one)])
    assert [(page, hit.score) for page, hit in forth.first.items()] == [(page, hit.score) for page, hit in back.first.items()]
    assert set(letters(forth.first)) == set(one) | set(other)


@given(ORDERS)
def test_a_ranking_fused_with_itself_or_with_nothing_stays(order):
    assert letters(fused([pool(order), pool(order)]).first) == order
    assert letters(fused([pool(order), pool("")]).first) == order


@pytest.fixture
def notes(indexed):
    for number in range(40):
        indexed.write(f"N{number:02}.md", f"# One\n\n{'tide ' * (1 + number % 5)}\n\n# Two\n\n{'neap ' * (number % 7)}ebb\n")
    indexed.index(PLAIN)
    return indexed


def test_it_is_the_fusion_of_what_keyword_and_vector_answer(notes):
    query = "tide neap"
    words, vectors = (notes.search(spec, query, 50).candidates.usable for spec in ("keyword", "vector"))
    expected: dict[str, float] = {}
    for ranking in (words, vectors):
        for rank, page in enumerate(ranking, 1):
            expected[page] = expected.get(page, 0.0) + 1 / (60 + rank)
    order = sorted(expected, key=lambda page: (-expected[page], page))
    ranking = notes.search("hybrid", query, 40)
    assert [one.page for one in ranking.pages] == order
    assert [one.score for one in ranking.pages] == [expected[page] for page in order]
    assert (ranking.candidates.usable, ranking.candidates.before) == (tuple(order), ())


def test_a_larger_depth_within_the_pool_only_adds_pages(notes):
    deep = notes.pages("hybrid", "tide neap", 40)
    assert [notes.pages("hybrid", "tide neap", depth) for depth in (1, 10, 25)] == [deep[:depth] for depth in (1, 10, 25)]


def test_a_pool_smaller_than_the_depth_grows_to_it(notes):
    assert len(notes.pages("hybrid:pool=1", "tide neap", 30)) == 30
    assert notes.pages("hybrid:pool=1", "tide neap", 30) == notes.pages("hybrid:pool=30", "tide neap", 30)


def test_vectors_that_change_while_they_are_used_are_told(indexed, ollama):
    indexed.write("Boat.md", "ship\n")
    indexed.index(vectors=ollama.model)
    with indexed.searcher(f"hybrid:{ollama.model}") as made:
        assert made.bound_digest() == made.index().sha256
        path = next(indexed.folder.glob("*vectors*"))
        path.write_bytes(path.read_bytes() + b"x")
        assert made.bound_digest() is None


def test_stale_pages_are_dropped_and_counted(notes):
    first = notes.pages("hybrid", "tide neap")[0]
    notes.write(first, "changed\n")
    ranking = notes.search("hybrid", "tide neap")
    assert first not in [one.page for one in ranking.pages]
    assert (ranking.candidates.stale_pages, ranking.candidates.stale_chunks) == ((first,), 2)
    assert first in ranking.candidates.raw


def test_settings_of_both_halves_are_told(notes):
    with notes.searcher("hybrid:hash,k1=1.2,b=0.5,pool=20") as made:
        settings = made.describe().settings
        told = {key: settings[key] for key in ("k1", "b", "fusion", "rrf_k", "pool_pages", "model", "dims", "prefix")}
    assert told == {
        "k1": 1.2,
        "b": 0.5,
        "fusion": "reciprocal rank",
        "rrf_k": 60,
        "pool_pages": 20,
        "model": "hash",
        "dims": 4096,
        "prefix": "none",
    }


@pytest.mark.parametrize(
    "spec", ["hybrid:pool=0", "hybrid:pool=1.5", "hybrid:pool=1001", "hybrid:k1=-1", "hybrid:by=hash", "hybrid:x=1"]
)
def test_settings_that_cannot_be_are_refused(notes, spec):
    with pytest.raises(UsageError, match="--retriever"):
        notes.search(spec, "tide")


def test_words_and_meaning_complete_each_other(indexed, ollama):
    for page, text in {"Ocean.md": "ocean\n", "Number.md": "part 4711\n", "Other.md": "nothing\n"}.items():
        indexed.write(page, text)
    indexed.index(vectors=ollama.model)
    assert indexed.pages("keyword", "sea 4711") == ["Number.md"]
    assert indexed.pages(f"vector:{ollama.model}", "sea 4711") == ["Ocean.md"]
    assert sorted(indexed.pages(f"hybrid:{ollama.model}", "sea 4711")) == ["Number.md", "Ocean.md"]
