"""`hybrid+rerank`: the pool of `hybrid` in the order of cosines; without reranking it is `hybrid`, and needs no more than that."""

from __future__ import annotations

import pytest

from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.fusion import reranked
from vault_eval.index.pool import FRESH, STALE, Pool
from vault_eval.index.search import Hit

NOTES = {
    "Boat.md": "# Hull\n\npaint\n\n# Mast\n\nship\n",
    "Deck.md": "boat and moon\n",
    "Gear.md": "boat boat paint\n",
    "Tide.md": "moon boat moon\n",
}


@pytest.fixture
def notes(indexed, ollama):
    for page, text in NOTES.items():
        indexed.write(page, text)
    indexed.index(vectors=ollama.model)
    return indexed


class Pages:
    """As much of an index as reranking looks at: two chunks a page."""

    def __getitem__(self, _name: str) -> range:
        return range(0, 100, 2)


def test_a_page_stands_by_its_nearest_chunk_then_by_path():
    pool = Pool(
        [Hit(0, 9.0)],
        {2: Hit(4, 9.0), 0: Hit(0, 8.0), 1: Hit(2, 7.0), 3: Hit(6, 6.0)},
        dict.fromkeys(range(3), FRESH) | {3: STALE},
    )
    cosines = {0: 0.1, 1: 0.5, 2: 0.5, 3: 0.2, 4: -0.3, 5: -0.1, 6: 1.0, 7: 1.0}
    found = reranked(pool, Pages(), cosines.__getitem__, 20)
    assert list(found.first.items()) == [(0, Hit(1, 0.5)), (1, Hit(2, 0.5)), (2, Hit(5, -0.1)), (3, Hit(6, 6.0))]
    assert (found.usable, found.hits, found.freshness) == ([0, 1, 2], pool.hits, pool.freshness)
    few = reranked(pool, Pages(), cosines.__getitem__, 2)
    assert list(few.first.items())[:3] == [(0, Hit(1, 0.5)), (2, Hit(5, -0.1)), (1, Hit(2, 7.0))], "the third stays behind"


def test_the_pool_of_hybrid_is_ordered_by_the_model_it_names(notes, ollama):
    query = "boat"
    ranking = notes.search(f"hybrid+rerank:{ollama.model}", query)
    # Cosines to (0,1,0,0): Mast "Boat ship" 1; Gear 2/sqrt 5; Deck (0,1,0,1) 1/sqrt 2; Tide (0,1,0,2) 1/sqrt 5.
    assert [(one.page, one.heading, round(one.score, 5)) for one in ranking.pages] == [
        ("Boat.md", ("Mast",), 1.0),
        ("Gear.md", (), 0.89443),
        ("Deck.md", (), 0.70711),
        ("Tide.md", (), 0.44721),
    ]
    before = notes.search(f"hybrid:{ollama.model}", query).candidates
    assert (ranking.candidates.before, set(ranking.candidates.usable)) == (before.usable, set(before.usable))
    assert (ranking.candidates.chunks, ranking.candidates.raw) == (before.chunks, ranking.candidates.usable)


@pytest.mark.parametrize(("depth", "reordered"), [(10, 20), (20, 20), (25, 25)])
def test_the_first_twenty_pages_are_reordered_or_as_many_as_are_asked_for(indexed, depth, reordered):
    for number in range(40):
        indexed.write(f"N{number:02}.md", f"{'tide ' * (1 + number % 7)}{'neap ' * (number % 3)}{'ebb ' * (number % 11)}\n")
    indexed.index()
    considered = indexed.search("hybrid+rerank", "tide neap", depth).candidates
    assert set(considered.usable[:reordered]) == set(considered.before[:reordered])
    assert list(considered.scores[:reordered]) == sorted(considered.scores[:reordered], reverse=True)
    assert set(considered.usable[:10]) != set(considered.before[:10]), "pages from behind came among the first ten"
    assert considered.usable[reordered:] == considered.before[reordered:]


def test_another_model_may_reorder_what_hash_vectors_found(notes, ollama):
    spec = f"hybrid+rerank:by={ollama.model}"
    ranking = notes.search(spec, "boat moon")
    assert ranking.candidates.before == notes.search("hybrid", "boat moon").candidates.usable
    # (0,1,0,1): Deck 1, Tide 3/sqrt 10, Boat's Mast 1/sqrt 2, Gear 2/sqrt 10.
    assert [one.page for one in ranking.pages] == ["Deck.md", "Tide.md", "Boat.md", "Gear.md"]
    with notes.searcher(spec) as made:
        told = made.describe().settings
        assert (told["model"], told["rerank"], told["rerank_model"], told["rerank_dims"]) == (
            "hash",
            "largest cosine",
            ollama.model,
            4,
        )


@pytest.mark.parametrize("settings", ["", ":pool=20,k1=1.2", ":by=ollama=meaning@1"])
@pytest.mark.parametrize("query", ["boat", "boat moon", "paint", "zither"])
def test_without_reranking_it_answers_as_hybrid_with_nothing_running(notes, ollama, settings, query):
    """Nothing listens at port 1, and the model of `by` is not even looked for."""
    ollama.asked.clear()
    plain = f"hybrid{settings}".removesuffix(":by=ollama=meaning@1")
    assert notes.search(f"hybrid+rerank{settings}", query, no_rerank=True) == notes.search(plain, query)
    assert ollama.asked == []


def test_without_reranking_it_says_so(notes):
    with notes.searcher("hybrid+rerank", no_rerank=True) as made, notes.searcher("hybrid") as hybrid:
        assert made.describe().settings == {**hybrid.describe().settings, "rerank": "off"}
        assert made.describe().name == "hybrid+rerank"


def test_with_reranking_a_model_that_is_not_there_is_a_sentence(notes):
    with pytest.raises(UsageError, match="cannot be reached"):
        notes.search("hybrid+rerank:by=ollama=meaning@1", "boat")


@pytest.mark.parametrize(("spec", "said"), [("by=potion", "by='potion' names no model"), ("rerank=on", "no setting 'rerank'")])
def test_settings_that_cannot_be_are_refused(notes, spec, said):
    with pytest.raises(UsageError, match=said):
        notes.search(f"hybrid+rerank:{spec}", "boat")


def test_the_reranker_needs_vectors_of_this_index_too(notes, ollama):
    notes.write("New.md", "ship\n")
    notes.index()
    with pytest.raises(IndexUnusableError, match="--vectors"):
        notes.search(f"hybrid+rerank:by={ollama.model}", "boat")


def test_vectors_that_change_while_they_are_used_are_told(notes, ollama):
    with notes.searcher(f"hybrid+rerank:by={ollama.model}") as made:
        assert made.bound_digest() == made.index().sha256
        ollama.digest = "sha256:two"
        notes.index(vectors=ollama.model)
        assert made.bound_digest() == made.index().sha256, "the same vectors, whoever made them"
        notes.write("New.md", "ship\n")
        notes.index(vectors=ollama.model)
        assert made.bound_digest() is None
