"""Ranks foretold for a note with one word more, held against an index that is built of the edited note."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vault_eval.index.build import build_index, no_progress
from vault_eval.index.options import ChunkSizes, IndexOptions
from vault_eval.retrievers.keyword import KeywordRetriever
from vault_eval.retrievers.protocol import Counterfactual, RetrieverContext
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import parse_specs
from vault_eval.vault.note_text import decode
from vault_eval.vault.snapshot import open_snapshot

WORDS = ["sea", "fog", "tide", "boat", "foo-bar", "fooBar", "港町", "échelle", "x_y", "harbour", "rope", "buoy", "日和"]
SMALL = IndexOptions(sizes=ChunkSizes(80, 160, 20))
ODD = [
    "# One\nTitle\n===\n",
    "- item\n  - deeper\n",
    "> quoted\n",
    "```\ncode fence\n```\n",
    "<div>\nhtml\n\n",
    "    indented code\n\n",
    "| a | b |\n|---|---|\n",
    "text ^block\n",
    "---\n",
    "\n\n",
]


@contextmanager
def searching(vault: Path, options: IndexOptions, spec: str = "keyword") -> Iterator[KeywordRetriever]:
    folder = vault.parent / "index"
    with open_snapshot(str(vault)) as snapshot:
        build_index(snapshot.reader, snapshot.listing, options, str(folder), snapshot.id, time.time_ns(), no_progress)
        searcher = open_retriever(parse_specs([spec])[0], RetrieverContext(snapshot, str(folder)))
        assert isinstance(searcher, KeywordRetriever)
        try:
            yield searcher
        finally:
            searcher.close()


def edited(text: str, would: Counterfactual) -> str:
    lines = text.split("\n")
    return "\n".join([*lines[: would.after_line], "", would.term, "", *lines[would.after_line :]])


def foretold(searcher: KeywordRetriever, vault: Path, query: str, page: str) -> tuple[Counterfactual, ...]:
    terms = list(dict.fromkeys(searcher.analyzer.terms(query)))
    return searcher.with_terms(query, page, terms, decode((vault / page).read_bytes()))


def standing(searcher: KeywordRetriever, query: str, page: str) -> tuple[int, float | None] | None:
    return next(((one.rank, one.score) for one in searcher.search(query, 100).pages if one.page == page), None)


def note(rng: random.Random) -> str:
    parts = ["---\ntags: [sea, fog]\naliases: [boat]\n---\n"] if rng.random() < 0.3 else []
    for _ in range(rng.randrange(6)):
        if rng.random() < 0.3:
            parts.append(rng.choice(ODD))
        elif rng.random() < 0.4:
            parts.append(f"{'#' * rng.randrange(1, 4)} {rng.choice(WORDS)}\n")
        parts.append(" ".join(rng.choices(WORDS, k=rng.choice((0, 2, 5, 40)))) + rng.choice(("\n", "\n\n", "")))
    return "".join(parts)


@pytest.mark.parametrize("seed", range(30))
def test_ranks_and_scores_are_those_of_an_index_built_of_the_edited_note(seed, tmp_path):
    rng = random.Random(seed)
    vault = tmp_path / "vault"
    vault.mkdir()
    options, spec = rng.choice(((SMALL, "keyword"), (IndexOptions(), "keyword:k1=0.9,b=0.3"), (IndexOptions(), "keyword:b=1")))
    for number in range(12):
        (vault / f"N{number:02}.md").write_text(note(rng), encoding="utf-8", newline="")
    for _ in range(4):
        query = " ".join(rng.choices([*WORDS, "unheard"], k=rng.randrange(1, 5)))
        page = f"N{rng.randrange(12):02}.md"
        before = (vault / page).read_bytes()
        with searching(vault, options, spec) as searcher:
            every = foretold(searcher, vault, query, page)
        for would in rng.sample(every, min(2, len(every))):
            (vault / page).write_bytes(edited(decode(before), would).encode())
            with searching(vault, options, spec) as searcher:
                assert standing(searcher, query, page) == (would.rank, would.score), (query, page, would)
            (vault / page).write_bytes(before)


@pytest.mark.parametrize("text", ["", "\n\n", "---\ntags: [a]\n---\n", "---\ntags: [a]\n---", "# Only a heading", "words"])
def test_a_note_of_almost_nothing_can_be_mended_too(text, tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "A.md").write_text("rope rope\n", encoding="utf-8")
    (vault / "B.md").write_text(text, encoding="utf-8")
    with searching(vault, IndexOptions()) as searcher:
        (would,) = foretold(searcher, vault, "rope", "B.md")
    (vault / "B.md").write_text(edited(text, would), encoding="utf-8")
    with searching(vault, IndexOptions()) as searcher:
        assert standing(searcher, "rope", "B.md") == (would.rank, would.score)


def test_nothing_is_foretold_where_the_line_might_move_a_border(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    sizes = ChunkSizes(100, 200, 20)
    # 95 characters and a line end of the section; the edit adds "rope" and three line ends: 96 + 7 > 100.
    (vault / "Full.md").write_text("a" * 95 + "\n", encoding="utf-8")
    (vault / "Fits.md").write_text("a" * 92 + "\n", encoding="utf-8")
    with searching(vault, IndexOptions(sizes=sizes)) as searcher:
        assert foretold(searcher, vault, "rope", "Full.md") == ()
        assert len(foretold(searcher, vault, "rope", "Fits.md")) == 1


def test_nothing_is_foretold_of_a_note_that_changed_since(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "A.md").write_text("---\nanswers: [why]\n---\nwords\n", encoding="utf-8")
    with searching(vault, IndexOptions()):
        pass
    (vault / "A.md").write_text("---\nanswers: [why, when]\n---\nwords\n", encoding="utf-8")
    with open_snapshot(str(vault)) as snapshot:
        searcher = open_retriever(parse_specs(["keyword"])[0], RetrieverContext(snapshot, str(tmp_path / "index")))
        assert isinstance(searcher, KeywordRetriever)
        assert foretold(searcher, vault, "rope", "A.md") == ()
        assert foretold(searcher, vault, "rope", "A.md") == ()
        searcher.close()
