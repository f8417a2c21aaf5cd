"""`keyword` on a claude-obsidian index: what it returns, what it leaves out, and what it tells of a miss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import fsum

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.retrievers.keyword_vault_meta import KeywordVaultMeta
from vault_eval.retrievers.protocol import DropsLabelOnly, Explains, Imagines, RetrieverContext, WarmOnly
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import parse_specs
from vault_eval.vault.snapshot import open_snapshot


@contextmanager
def opened(vault_meta, spec: str = "keyword", folder: str | None = None) -> Iterator[KeywordVaultMeta]:
    with open_snapshot(str(vault_meta.root)) as vault:
        context = RetrieverContext(vault, folder or str(vault_meta.folder))
        retriever = open_retriever(parse_specs([spec])[0], context)
        assert isinstance(retriever, KeywordVaultMeta)
        try:
            yield retriever
        finally:
            retriever.close()


def fill(vault_meta, notes: dict[str, str], **index: object) -> None:
    for page, text in notes.items():
        vault_meta.write(page, text)
    vault_meta.index(**index)


def by_paragraph(body: str) -> list[str]:
    return [part.strip() for part in body.split("\n\n") if part.strip()]


def test_it_says_what_it_is_and_what_it_searches(vault_meta):
    fill(vault_meta, {"wiki/Tides.md": "spring tides\n"})
    with opened(vault_meta) as keyword:
        settings_told = {"k1": 1.5, "b": 0.75, "built": "2026-01-02T03:04:05Z", "prefix_synthetic": 1}
        assert settings_told.items() <= keyword.describe().settings.items()
        index = keyword.index()
        assert (index.format, index.pages, index.chunks) == ("claude-obsidian.bm25.schema-2", 1, 1)
        assert keyword.bound_digest() == index.sha256
        assert isinstance(keyword, Explains)
        assert isinstance(keyword, DropsLabelOnly)
        assert isinstance(keyword, WarmOnly)
        assert not isinstance(keyword, Imagines)


def test_a_page_stands_where_its_best_chunk_does_and_once(vault_meta):
    notes = {"wiki/A.md": "harbour boat\n\nboat boat\n", "wiki/B.md": "boat of the sea\n"}
    fill(vault_meta, notes, cut=by_paragraph)
    with opened(vault_meta) as keyword:
        ranking = keyword.search("boat", 10)
    assert [(one.rank, one.page) for one in ranking.pages] == [(1, "wiki/A.md"), (2, "wiki/B.md")]
    assert ranking.candidates is not None
    assert ranking.candidates.chunks == 3
    assert ranking.candidates.scores == tuple(one.score for one in ranking.pages)


def test_equal_scores_are_ordered_by_path_whatever_the_order_of_the_file(vault_meta):
    fill(vault_meta, {f"wiki/{name}.md": "boat\n" for name in "cab"})
    document = vault_meta.document()
    document["docs"] = dict(reversed(document["docs"].items()))
    document["vocab"]["boat"]["postings"].reverse()
    vault_meta.save(document)
    with opened(vault_meta) as keyword:
        assert [one.page for one in keyword.search("boat", 10).pages] == ["wiki/a.md", "wiki/b.md", "wiki/c.md"]


def test_the_pool_grows_until_enough_pages_are_found(vault_meta):
    many = "\n\n".join(["boat"] * 50)
    fill(
        vault_meta,
        {"wiki/Many.md": many, **{f"wiki/{n:02}.md": "boat of the sea and the sky\n" for n in range(12)}},
        cut=by_paragraph,
    )
    with opened(vault_meta) as keyword:
        candidates = keyword.search("boat", 10).candidates
        assert candidates is not None
        assert (len(candidates.usable), candidates.chunks) == (13, 62)
        first = keyword.search("boat", 1).candidates
        assert first is not None
        assert first.chunks == 20


def test_stale_pages_are_dropped_counted_and_named(vault_meta):
    fill(vault_meta, {"wiki/Old.md": "boat boat\n", "wiki/New.md": "boat\n", "wiki/Marked.md": "---\na: b\n---\nboat\n"})
    vault_meta.write("wiki/Old.md", "ship\n")
    vault_meta.write("wiki/Marked.md", "---\na: b\nanswers: [what floats]\n---\nboat\n")
    with opened(vault_meta) as keyword:
        ranking = keyword.search("boat", 10)
        assert [one.page for one in ranking.pages] == ["wiki/New.md"]
        assert ranking.candidates is not None
        assert (ranking.candidates.stale_chunks, set(ranking.candidates.stale_pages)) == (2, {"wiki/Old.md", "wiki/Marked.md"})
        assert len(ranking.candidates.raw) == 3
        told = [
            (keyword.is_stale(page), keyword.drops_label_only(page)) for page in ("wiki/Old.md", "wiki/Marked.md", "wiki/New.md")
        ]
        assert told == [(True, False), (False, True), (False, False)]


def test_a_skipped_record_still_counts_for_the_scores_of_others(vault_meta):
    fill(vault_meta, {"wiki/A.md": "boat\n", "wiki/B.md": "boat sea\n"})
    with opened(vault_meta) as keyword:
        before = {one.page: one.score for one in keyword.search("boat", 10).pages}
    vault_meta.record_file("wiki/A.md").write_text("{")
    with opened(vault_meta) as keyword:
        after = {one.page: one.score for one in keyword.search("boat", 10).pages}
        assert keyword.index().skipped_malformed == 1
    assert after == {"wiki/B.md": before["wiki/B.md"]}


def test_parameters_are_those_of_the_index_unless_the_spec_has_others(vault_meta):
    fill(vault_meta, {"wiki/A.md": "boat\n", "wiki/B.md": "boat sea\n"})
    vault_meta.save(vault_meta.document() | {"params": {"k1": 0.9, "b": 0.4}})
    scores = []
    for spec in ("keyword", "keyword:k1=0.9,b=0.4", "keyword:k1=0.9", "keyword:b=0"):
        with opened(vault_meta, spec) as keyword:
            scores.append([one.score for one in keyword.search("boat", 10).pages])
    assert scores[0] == scores[1] == scores[2] != scores[3]
    assert scores[3][0] == scores[3][1], "with b = 0 lengths do not count"


@pytest.mark.parametrize("spec", ["keyword:k1=101", "keyword:b=2", "keyword:k1=x", "keyword:chunk-chars=1000", "keyword:c=1"])
def test_other_settings_are_refused(vault_meta, spec):
    fill(vault_meta, {"wiki/A.md": "boat\n"})
    with pytest.raises(UsageError), opened(vault_meta, spec):
        pass


def test_too_long_a_query_is_an_error_and_no_empty_answer(vault_meta):
    fill(vault_meta, {"wiki/A.md": "boat\n"})
    with opened(vault_meta) as keyword:
        assert keyword.search("boat " * 1_600, 10).error is None
        ranking = keyword.search("港" * 6_668, 10)
    assert (ranking.pages, ranking.error) == (
        (),
        "the query cannot be answered: it has 20,001 terms, of which this kind of index takes 20,000",
    )


def test_evidence_has_exact_rank_pool_lines_and_terms(vault_meta):
    notes = {f"wiki/Win {n:02}.md": "boat boat boat\n" for n in range(13)}
    gold = "# Ships\n\nA boat at sea\nwith sails.\n"
    fill(vault_meta, {**notes, "wiki/Zed.md": gold}, cut=by_paragraph)
    with opened(vault_meta) as keyword:
        found = keyword.evidence("boat mooring boat", "wiki/Zed.md", exact_rank=True)
        assert found is not None
        assert (found.rank, found.pool, found.lines) == (14, 14, (3, 4))
        assert [(term.term, term.df, term.tf) for term in found.terms] == [("boat", 14, 1), ("mooring", 0, 0), ("boat", 14, 1)]
        assert keyword.evidence("boat", "wiki/Absent.md", exact_rank=True) is None
        none = keyword.evidence("mooring", "wiki/Zed.md", exact_rank=True)
        assert none is not None
        assert (none.score, none.rank, none.shares_a_term) == (0.0, None, False)


WORDS = ("boat", "harbour", "sea", "港", "码头", "the")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=8),
    query=st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
)
def test_contributions_sum_to_scores_and_ranks_are_the_places(vault_meta, texts, query):
    fill(vault_meta, {f"wiki/{number}.md": text for number, text in enumerate(texts)})
    with opened(vault_meta) as keyword:
        ranking = keyword.search(query, 10)
        for ranked in ranking.pages:
            found = keyword.evidence(query, ranked.page, exact_rank=True)
            assert found is not None
            assert (found.score, found.rank) == (ranked.score, ranked.rank)
            assert fsum(term.contribution for term in found.terms) == pytest.approx(ranked.score, abs=1e-9)
            parts = [(term.idf or 0) * (term.tf_part or 0) * (term.length_part or 0) for term in found.terms]
            assert [term.contribution for term in found.terms] == pytest.approx(parts, abs=1e-9)


def test_the_vault_itself_names_its_index_and_a_corrupt_one_is_refused(vault_meta):
    fill(vault_meta, {"wiki/A.md": "boat\n"})
    with opened(vault_meta, folder=str(vault_meta.root)) as keyword:
        assert keyword.index().pages == 1
    vault_meta.index_file.write_text("{")
    with pytest.raises(IndexUnusableError), opened(vault_meta):
        pass
