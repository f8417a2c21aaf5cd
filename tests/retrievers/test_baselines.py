"""`title`, `grep` and `random`: what they return, in which order, and that they need no index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.errors import UsageError
from vault_eval.retrievers import grep as grep_module
from vault_eval.retrievers.protocol import Explains, Retriever, RetrieverContext, WarmOnly
from vault_eval.retrievers.select import needs_index, open_retriever
from vault_eval.retrievers.spec import FREE_BASELINES, parse_specs
from vault_eval.vault.snapshot import open_snapshot

NOTES = {
    "Sea/Tides.md": "---\ntitle: Spring and neap\naliases: [high water, low water]\n---\nThe moon pulls.\n",
    "Sea/Tide tables.md": "Water heights by hour.\n",
    "Boat.md": "A boat needs WATER and paint; boats rot.\n",
    "潮汐.md": "月の引力で潮が満ちる。\n",
    "Labels.md": "water water boat\n",
}


@contextmanager
def searcher(vault: Path, spec: str, label_notes: frozenset[str] = frozenset()) -> Iterator[Retriever]:
    with open_snapshot(str(vault)) as snapshot:
        made = open_retriever(parse_specs([spec])[0], RetrieverContext(snapshot, str(vault / "none"), label_notes))
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def vault(tmp_path) -> Path:
    for page, text in NOTES.items():
        path = tmp_path / "vault" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "vault"


def found(vault: Path, spec: str, query: str, depth: int = 10) -> list[tuple[str, float | None]]:
    with searcher(vault, spec) as made:
        return [(one.page, one.score) for one in made.search(query, depth).pages]


def test_title_takes_the_best_of_name_title_and_aliases(vault):
    # Q = {low, water, when}. Alias "low water": 2*2/(3+2) = .8; "high water" would be 2*1/(3+2) = .4.
    assert found(vault, "title", "low water when") == [("Sea/Tides.md", 0.8)]
    # Q = {neap, tide, tables}. "Tide tables": 2*2/(3+2) = .8; "Spring and neap": 2*1/(3+3) = 1/3.
    assert found(vault, "title", "neap tide tables") == [("Sea/Tide tables.md", 0.8), ("Sea/Tides.md", 1 / 3)]


def test_title_knows_scripts_without_blanks(vault):
    assert [page for page, _ in found(vault, "title", "潮汐とは")] == ["潮汐.md"]


def test_grep_counts_distinct_query_words_also_inside_words_and_orders_ties_by_path(vault):
    # "water" in Boat, Labels, Tide tables and, in its aliases, Tides; "boat" in Boat and Labels, also inside "boats".
    expected = [("Boat.md", 2.0), ("Labels.md", 2.0), ("Sea/Tide tables.md", 1.0), ("Sea/Tides.md", 1.0)]
    assert found(vault, "grep", "Boat water BOAT") == expected
    assert found(vault, "grep", "oat") == [("Boat.md", 1.0), ("Labels.md", 1.0)]
    assert found(vault, "grep", "引力") == [("潮汐.md", 1.0)]
    assert found(vault, "grep", "boat water", 3) == expected[:3]
    assert found(vault, "grep", "xyzzy") == found(vault, "grep", "") == found(vault, "grep", "?!") == []


def test_grep_looks_for_pairs_of_characters_where_a_script_has_no_blanks(vault):
    # 潮が満ちる時: of 潮が が満 満ち ちる る時 the note holds the first four, and of `moon` nothing.
    assert found(vault, "grep", "潮が満ちる時 moon") == [("潮汐.md", 4.0), ("Sea/Tides.md", 1.0)]
    assert found(vault, "grep", "月") == [("潮汐.md", 1.0)]
    (vault / "混ぜ.md").write_text("gitを使う\n", encoding="utf-8")
    assert found(vault, "grep", "GITの使う") == [("混ぜ.md", 2.0)]  # git, 使う; not の使


def test_grep_equals_a_plain_count_of_words_over_all_notes(vault):
    words = ["the", "moon", "water", "a", "of", "by", "paint"]
    texts = {page: text.casefold() for page, text in NOTES.items()}
    counts = {page: sum(word in text for word in words) for page, text in texts.items()}
    expected = sorted(((page, float(n)) for page, n in counts.items() if n), key=lambda one: (-one[1], one[0]))
    assert found(vault, "grep", " ".join(words)) == expected


def test_grep_does_not_read_the_questions_that_a_note_answers(vault):
    (vault / "Asked.md").write_text('---\nanswers:\n  - "where is xyzzy"\ntags: [plugh]\n---\nbody\n', encoding="utf-8")
    assert found(vault, "grep", "xyzzy") == []
    assert found(vault, "grep", "plugh") == [("Asked.md", 1.0)]


def test_a_note_that_is_no_text_is_found_by_its_name_alone(vault):
    (vault / "Binary boat.md").write_bytes(b"water \xff\xfe")
    assert "Binary boat.md" not in dict(found(vault, "grep", "water"))
    assert "Binary boat.md" in dict(found(vault, "title", "binary"))


def test_a_vault_too_large_for_grep_is_refused(vault, monkeypatch):
    monkeypatch.setattr(grep_module, "TEXT_MAX_BYTES", 10)
    with pytest.raises(UsageError, match="--retriever grep: the notes have"), searcher(vault, "grep"):
        pass


def test_random_is_the_same_for_the_same_query_and_seed(vault):
    first = found(vault, "random", "tides")
    assert first == found(vault, "random", "tides") == found(vault, "random:seed=0", "tides")
    assert sorted(page for page, _ in first) == sorted(NOTES)  # no page twice, all where the depth allows
    assert {score for _, score in first} == {None}
    draws = {tuple(found(vault, f"random:seed={seed}", "tides", 2)) for seed in range(40)}
    assert len(draws) > 5


def test_random_draws_every_page_about_as_often(vault):
    with searcher(vault, "random") as made:
        first = Counter(made.search(f"query {number}", 2).pages[0].page for number in range(1_000))
    # 1,000 draws among 5: 200 each, standard deviation sqrt(1000 * .2 * .8) = 12.6; five of them are 63.
    assert all(abs(first[page] - 200) < 63 for page in NOTES)


@pytest.mark.parametrize("spec", ["title:x=1", "grep:x=1", "random:x=1", "random:seed=-1", "random:seed=1.5", "random:seed=a"])
def test_settings_that_do_not_exist_or_are_out_of_bounds_are_refused(vault, spec):
    with pytest.raises(UsageError), searcher(vault, spec):
        pass


@pytest.mark.parametrize("spec", ["title", "grep", "random"])
def test_label_notes_are_no_result_and_nothing_is_indexed_or_explained(vault, spec):
    with searcher(vault, spec, frozenset({"Labels.md"})) as made:
        pages = {one.page for query in ("labels", "water boat") for one in made.search(query, 10).pages}
        assert pages
        assert "Labels.md" not in pages
        assert made.index() is None
        assert made.bound_digest() is None
        assert made.describe().name == spec
        assert made.describe().settings
        assert isinstance(made, WarmOnly)
        assert not isinstance(made, Explains)


def test_free_baselines_need_no_index_and_keyword_does():
    assert not any(map(needs_index, parse_specs(FREE_BASELINES)))
    assert all(map(needs_index, parse_specs(["keyword", "keyword:k1=2"])))


@given(st.lists(st.text("ab c", max_size=12), max_size=6), st.text("ab c", max_size=8), st.integers(1, 7))
def test_grep_is_what_a_plain_search_of_every_text_gives(texts: list[str], query: str, depth: int) -> None:
    pages = [f"{number}.md" for number in range(len(texts))]
    words = set(query.split())
    counts = {page: sum(word in text for word in words) for page, text in zip(pages, texts, strict=True)}
    expected = sorted((-count, page) for page, count in counts.items() if count)[:depth]
    made = grep_module.GrepSearch("grep", list(zip(pages, texts, strict=True)))
    assert [(-one.score, one.page) for one in made.search(query, depth).pages if one.score is not None] == expected
