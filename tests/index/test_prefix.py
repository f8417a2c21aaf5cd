"""What is indexed with each chunk beside its own text."""

from __future__ import annotations

from vault_eval.index.prefix import heading_prefix, page_prefix
from vault_eval.vault.note import Note


def test_name_title_aliases_and_tags_stand_in_lines_each_once():
    note = Note("", title="Almanac", aliases=("Ebb book", "Almanac"), tags=("sea",))
    assert page_prefix("Sea/Tide tables.md", note, "synthetic") == "Tide tables\nAlmanac\nEbb book\nsea"


def test_a_title_equal_to_the_name_but_for_case_or_unicode_form_is_left_out():
    assert page_prefix("Sub/Été.MD", Note("", title="e\u0301te\u0301"), "synthetic") == "Été"


def test_a_thousand_aliases_are_cut():
    note = Note("", aliases=tuple(f"alias {number}" for number in range(1000)))
    assert len(page_prefix("A.md", note, "synthetic")) == 2000


def test_headings_stand_outermost_first():
    assert heading_prefix(("One", "Two"), "synthetic") == "One\nTwo"


def test_without_a_prefix_only_the_text_counts(vault):
    from vault_eval.index.options import IndexOptions

    vault.write("Name.md", "---\ntags: [tag]\n---\n# Heading\n\nbody\n")
    vault.build(IndexOptions(prefix="none"))
    assert [vault.found(query) for query in ("name", "tag", "heading", "body")] == [[], [], ["Name.md"], ["Name.md"]]
    assert page_prefix("A.md", Note(""), "none") == heading_prefix(("H",), "none") == ""


def test_a_heading_counts_once_in_the_chunk_it_starts_and_in_each_that_follows(vault):
    vault.write("A.md", "# Outer\n\nx\n\n## Inner\n\n" + "word " * 1000)
    vault.build()
    with vault.index() as index:
        for term in ("outer", "inner"):
            ordinal = index.term_ordinal(term)
            span = slice(index["posting_offsets"][ordinal], index["posting_offsets"][ordinal + 1])
            assert set(index["posting_counts"][span]) == {1}, term
            assert list(index["posting_chunks"][span]) == list(range(0 if term == "outer" else 1, index.chunks))
