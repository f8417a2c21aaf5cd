"""`keyword`: what it returns, what it leaves out since it is stale, and what it says of its pool."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.build import build_index
from vault_eval.index.options import ChunkSizes, IndexOptions
from vault_eval.retrievers.keyword import KeywordRetriever
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import parse_specs
from vault_eval.vault.snapshot import open_snapshot


@dataclass(frozen=True)
class Bench:
    root: Path
    folder: Path

    def write(self, page: str, content: str | bytes) -> None:
        path = self.root / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def build(self, options: IndexOptions | None = None) -> None:
        with open_snapshot(str(self.root)) as snapshot:
            now = time.time_ns()
            build_index(
                snapshot.reader,
                snapshot.listing,
                options or IndexOptions(),
                str(self.folder),
                snapshot.id,
                now,
                lambda _done, _total: None,
            )

    @contextmanager
    def keyword(self, spec: str = "keyword") -> Iterator[KeywordRetriever]:
        with open_snapshot(str(self.root)) as snapshot:
            retriever = open_retriever(parse_specs([spec])[0], RetrieverContext(vault=snapshot, index_folder=str(self.folder)))
            assert isinstance(retriever, KeywordRetriever)
            try:
                yield retriever
            finally:
                retriever.close()

    def search(self, query: str, depth: int = 10, spec: str = "keyword"):
        with self.keyword(spec) as retriever:
            return retriever.search(query, depth)

    def pages(self, query: str, depth: int = 10) -> list[str]:
        return [one.page for one in self.search(query, depth).pages]


@pytest.fixture
def bench(tmp_path) -> Bench:
    (tmp_path / "vault").mkdir()
    return Bench(tmp_path / "vault", tmp_path / "index")


def test_ranks_count_from_one_and_name_heading_and_lines(bench):
    bench.write("Sea/Tides.md", "# Tides\n\nspring\n\n## Neap\n\nneap tides\n")
    bench.write("Other.md", "spring\n")
    bench.build()
    best = bench.search("neap").pages[0]
    assert (best.rank, best.page, best.heading, best.lines) == (1, "Sea/Tides.md", ("Tides", "Neap"), (5, 7))
    assert [one.rank for one in bench.search("spring").pages] == [1, 2]


def test_a_page_stands_where_its_best_chunk_does_and_once(bench):
    bench.write("A.md", "# One\n\ntide\n\n# Two\n\ntide tide tide\n\n# Three\n\ntide\n")
    bench.build()
    ranking = bench.search("tide")
    assert [(one.page, one.heading) for one in ranking.pages] == [("A.md", ("Two",))]
    assert (ranking.candidates.chunks, ranking.candidates.usable, ranking.candidates.raw) == (3, ("A.md",), ("A.md",))


def test_equal_scores_stand_in_path_order(bench):
    names = ["b.md", "a.md", "Z.md", "é.md", "Sub/a.md", "潮.md"]
    for name in names:
        bench.write(name, "same words\n")
    bench.build(IndexOptions(prefix="none"))
    ranking = bench.search("same words")
    assert len({one.score for one in ranking.pages}) == 1
    assert [one.page for one in ranking.pages] == sorted(names)


def test_a_changed_page_is_dropped_and_its_chunks_are_counted(bench):
    bench.write("Buoy.md", "# One\n\ntide\n\n# Two\n\ntide\n")
    bench.write("Tides.md", "tide and more words\n")
    bench.build()
    bench.write("Buoy.md", "# One\n\ntide\n\n# Two\n\ntide!\n")
    ranking = bench.search("tide")
    candidates = ranking.candidates
    assert [one.page for one in ranking.pages] == ["Tides.md"]
    assert ranking.pages[0].rank == 1
    assert (candidates.chunks, candidates.stale_chunks, candidates.stale_pages) == (3, 2, ("Buoy.md",))
    assert (candidates.raw, candidates.usable, candidates.label_only_pages) == (("Buoy.md", "Tides.md"), ("Tides.md",), ())


def test_a_deleted_page_is_stale(bench):
    bench.write("Gone.md", "tide\n")
    bench.write("Tides.md", "tide\n")
    bench.build()
    (bench.root / "Gone.md").unlink()
    with bench.keyword() as retriever:
        ranking = retriever.search("tide", 10)
        assert ([one.page for one in ranking.pages], ranking.candidates.stale_pages) == (["Tides.md"], ("Gone.md",))
        assert (retriever.is_stale("Gone.md"), retriever.is_stale("Tides.md"), retriever.is_stale("Never.md")) == (
            True,
            False,
            False,
        )


def test_a_page_that_is_no_text_any_more_is_stale(bench):
    bench.write("A.md", "tide caf\ufffd\n")
    bench.build()
    bench.write("A.md", b"tide caf\xe9\n")  # read with replacement characters, it would be the same text
    assert bench.search("tide").candidates.stale_pages == ("A.md",)


def test_a_page_that_became_a_link_is_stale(bench):
    bench.write("A.md", "tide\n")
    bench.write("B.md", "tide\n")
    bench.build()
    (bench.root / "A.md").unlink()
    (bench.root / "A.md").symlink_to("B.md")
    assert bench.search("tide").candidates.stale_pages == ("A.md",)


def test_a_page_with_other_questions_only_stays_and_is_counted(bench):
    bench.write("A.md", "---\ntitle: Tides\nanswers:\n  - when does it ebb\n---\ntide\n")
    bench.write("B.md", "tide\n")
    bench.write("C.md", "tide\n")
    bench.build()
    bench.write("A.md", "---\ntitle: Tides\nanswers:\n  - when does it ebb\n  - how high is it\n---\ntide\n")
    bench.write("B.md", "---\nanswers: [new question]\n---\ntide\n")
    bench.write("C.md", "---\nanswers: [new question]\ntags: [a]\n---\ntide\n")
    ranking = bench.search("tide")
    assert {one.page for one in ranking.pages} == {"A.md", "B.md"}  # the fences of B came with its first question
    assert (set(ranking.candidates.label_only_pages), ranking.candidates.stale_pages) == ({"A.md", "B.md"}, ("C.md",))


def test_a_page_whose_title_changed_with_its_questions_is_stale(bench):
    bench.write("A.md", "---\ntitle: Tides\nanswers: [one]\n---\ntide\n")
    bench.build()
    bench.write("A.md", "---\ntitle: Ebb\nanswers: [two]\n---\ntide\n")
    assert bench.search("tide").candidates.stale_pages == ("A.md",)


def test_crlf_notes_and_marked_notes_are_not_stale(bench):
    bench.write("A.md", b"tide\r\nends\r\n")
    bench.write("B.md", b"\xef\xbb\xbftide\n")
    bench.build()
    assert bench.search("tide").candidates.stale_chunks == 0


def test_the_pool_grows_until_depth_distinct_pages_are_found(bench):
    """One page holds hundreds of the best chunks; ten others are still found behind it."""
    bench.write("Long.md", "".join(f"# H{number}\n\ntide tide tide\n\n" for number in range(400)))
    for number in range(12):
        bench.write(f"N{number:02}.md", "tide " + "other words " * 30)
    bench.build()
    ranking = bench.search("tide", 10)
    assert [one.page for one in ranking.pages] == ["Long.md"] + [f"N{number:02}.md" for number in range(9)]
    assert ranking.candidates.chunks > 400
    assert not ranking.candidates.exhausted


def test_the_pool_grows_past_stale_pages(bench):
    for number in range(100):
        bench.write(f"A{number:03}.md", "tide tide tide\n")
    bench.write("Z.md", "tide and other words\n")
    bench.build()
    for number in range(100):
        bench.write(f"A{number:03}.md", "changed\n")
    ranking = bench.search("tide", 10)
    assert [one.page for one in ranking.pages] == ["Z.md"]
    assert (ranking.candidates.stale_chunks, len(ranking.candidates.stale_pages)) == (100, 100)


def test_fewer_matches_than_the_depth_end_the_search(bench):
    bench.write("A.md", "tide\n")
    bench.build()
    ranking = bench.search("tide", 1000)
    assert (len(ranking.pages), ranking.candidates.chunks) == (1, 1)


def test_the_pool_holds_twenty_chunks_at_least(bench):
    for number in range(30):
        bench.write(f"N{number:02}.md", "tide\n")
    bench.build()
    ranking = bench.search("tide", 1)
    assert [one.page for one in ranking.pages] == ["N00.md"]
    assert ranking.candidates.chunks >= 20
    assert len(ranking.candidates.usable) == ranking.candidates.chunks


@pytest.mark.parametrize("query", ["xylophone zither", "?! ... ()", "🚀", "…", ""])
def test_words_that_no_note_has_find_nothing(bench, query):
    bench.write("A.md", "tide\n")
    bench.build()
    ranking = bench.search(query)
    assert (ranking.pages, ranking.error, ranking.candidates.chunks) == ((), None, 0)
    assert (ranking.candidates.usable, ranking.candidates.raw) == ((), ())


def test_a_larger_depth_only_adds_pages(bench):
    for number in range(40):
        bench.write(f"N{number:02}.md", "tide " * (1 + number % 5) + "other " * (number % 7))
    bench.build()
    deep = bench.pages("tide other", 40)
    assert [bench.pages("tide other", depth) for depth in (1, 5, 10, 20)] == [deep[:depth] for depth in (1, 5, 10, 20)]


def test_the_same_query_gives_the_same_answer(bench):
    for number in range(15):
        bench.write(f"N{number:02}.md", f"# H\n\ntide {number}\n")
    bench.build(IndexOptions(ChunkSizes(50, 80, 10)))
    with bench.keyword() as retriever:
        assert retriever.search("tide 7", 10) == retriever.search("tide 7", 10) == bench.search("tide 7", 10)


def test_parameters_are_set_at_query_time_and_described(bench):
    bench.write("A.md", "tide tide " + "other " * 50)
    bench.write("B.md", "tide\n")
    bench.build(IndexOptions(prefix="none"))
    assert bench.search("tide", spec="keyword:b=1").pages[0].page == "B.md"
    assert bench.search("tide", spec="keyword:b=0").pages[0].page == "A.md"
    with bench.keyword("keyword:k1=1.2,b=0.5") as retriever:
        described = retriever.describe()
        assert described.name == "keyword:k1=1.2,b=0.5"
        assert (described.settings["k1"], described.settings["b"], described.settings["prefix"]) == (1.2, 0.5, "none")


@pytest.mark.parametrize(
    "spec", ["keyword:k1=-1", "keyword:b=1.1", "keyword:b=nan", "keyword:k1=x", "keyword:k2=1", "keyword:k1"]
)
def test_parameters_out_of_bounds_are_refused(bench, spec):
    bench.write("A.md", "tide\n")
    bench.build()
    with pytest.raises(UsageError, match="--retriever"):
        bench.search("tide", spec=spec)


def test_without_an_index_nothing_is_answered_and_nothing_made(bench):
    with pytest.raises(IndexUnusableError), bench.keyword():
        pass
    assert not bench.folder.exists()


def test_the_index_is_described_and_its_digest_now_is_told(bench):
    bench.write("A.md", "# One\n\ntide\n\n# Two\n\nebb\n")
    bench.build()
    with bench.keyword() as retriever:
        described = retriever.index()
        assert (described.format, described.pages, described.chunks) == ("vault-eval.index.v1", 1, 2)
        assert retriever.bound_digest() == described.sha256
        bench.write("A.md", "other\n")
        bench.build()
        assert retriever.bound_digest() not in {None, described.sha256}


def test_evidence_is_that_of_the_best_chunk(bench):
    bench.write("A.md", "# One\n\ntide\n\n# Two\n\ntide tide ebb\n")
    bench.write("B.md", "tide " * 9)
    bench.write("C.md", "nothing\n")
    bench.build()
    with bench.keyword() as retriever:
        ranking = retriever.search("tide ebb tide", 10)
        found = retriever.evidence("tide ebb tide", "A.md", exact_rank=True)
        assert (found.heading, found.lines) == (("Two",), (5, 7))
        assert [(term.term, term.df, term.tf) for term in found.terms] == [("tide", 3, 2), ("ebb", 1, 1), ("tide", 3, 2)]
        assert found.score == {one.page: one.score for one in ranking.pages}["A.md"]
        assert found.terms[0].contribution + found.terms[1].contribution + found.terms[2].contribution == found.score
        assert found.rank == [one.page for one in ranking.pages].index("A.md") + 1
        nothing = retriever.evidence("tide", "C.md", exact_rank=True)
        assert (nothing.score, nothing.shares_a_term, nothing.rank) == (0.0, False, None)
        assert retriever.evidence("tide", "No.md", exact_rank=False) is None


def test_an_exact_rank_reaches_far_below_the_pool(bench):
    for number in range(150):
        bench.write(f"N{number:03}.md", "tide tide tide\n")
    bench.write("Z.md", "tide and many other words\n")
    bench.build()
    bench.write("N000.md", "changed\n")
    with bench.keyword() as retriever:
        found = retriever.evidence("tide", "Z.md", exact_rank=True)
        # 149 fresh pages stand before it, and 150 chunks
        assert (found.rank, found.pool) == (150, 151)


def test_a_stemmed_index_is_searched_with_stems(bench):
    pytest.importorskip("snowballstemmer")
    bench.write("A.md", "sailing boats\n")
    bench.build(IndexOptions(stem="english"))
    assert bench.pages("boat sail") == ["A.md"]


def test_two_vaults_are_searched_side_by_side(bench, tmp_path):
    (tmp_path / "other").mkdir()
    other = Bench(tmp_path / "other", tmp_path / "other-index")
    bench.write("A.md", "tide\n")
    other.write("B.md", "tide\n")
    bench.build()
    other.build()
    with bench.keyword() as one, other.keyword() as two:
        assert [[page.page for page in retriever.search("tide", 10).pages] for retriever in (one, two, one)] == [
            ["A.md"],
            ["B.md"],
            ["A.md"],
        ]
