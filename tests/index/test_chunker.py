"""Chunks: nothing is lost, nothing is too long, nothing crosses a heading."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.index.chunker import chunk_note
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.options import ChunkSizes

SIZES = st.builds(
    lambda target, more, overlap: ChunkSizes(target, target + more, min(overlap, target // 2)),
    st.integers(50, 120),
    st.integers(0, 120),
    st.integers(0, 60),
)
LINES = st.one_of(
    st.sampled_from(
        ["", "", "# One", "## Two ##", "### Deep", "---", "===", "```", "> quote", "- item", "    code", "| a | b |"]
    ),
    st.text(alphabet="ab .!?\t\u0301\u093f潮。", max_size=30),
    st.integers(1, 60).map(lambda count: "word " * count),
    st.integers(1, 300).map(lambda count: "x" * count),
    st.integers(1, 300).map(lambda count: "潮" * count),
    st.integers(1, 400).map(lambda count: " " * count),
)
NOTES = st.lists(LINES, max_size=25).map("\n".join)


def chunks_of(text, sizes=None, body_line=0):
    return chunk_note(text, body_line, BlockReader(), sizes or ChunkSizes())


def paths(text):
    return [chunk.heading for chunk in chunks_of(text)]


@given(NOTES, SIZES)
def test_every_character_that_is_no_blank_lies_in_a_chunk(text, sizes):
    covered = bytearray(len(text))
    for chunk in chunks_of(text, sizes):
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    assert "".join(letter for letter, seen in zip(text, covered, strict=True) if not seen).strip() == ""


@given(NOTES, SIZES)
def test_no_chunk_is_longer_than_the_maximum_or_blank(text, sizes):
    chunks = chunks_of(text, sizes)
    assert all(chunk.end - chunk.start <= sizes.maximum for chunk in chunks)
    assert len(chunks) == 1 or all(text[chunk.start : chunk.end].strip() for chunk in chunks)


@given(NOTES, SIZES)
def test_lines_are_those_that_hold_the_span(text, sizes):
    lines = text.split("\n")
    for chunk in chunks_of(text, sizes):
        first, last = chunk.lines
        assert 1 <= first <= last <= len(lines)
        before = sum(len(line) + 1 for line in lines[: first - 1])
        upto = before + sum(len(line) + 1 for line in lines[first - 1 : last])
        assert before <= chunk.start < upto
        assert chunk.end <= upto
        assert chunk.start == chunk.end or chunk.end > upto - len(lines[last - 1]) - 1


@given(NOTES, SIZES)
def test_no_chunk_crosses_a_heading(text, sizes):
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    headings = BlockReader().blocks(text, need_starts=False).headings
    for chunk in chunks_of(text, sizes):
        inside = [starts[heading.first] for heading in headings if chunk.start < starts[heading.first] < chunk.end]
        assert inside == []


@given(NOTES, SIZES)
def test_chunks_overlap_by_the_overlap_at_most_and_only_inside_a_section(text, sizes):
    for one, other in pairwise(chunks_of(text, sizes)):
        assert one.start < other.start
        assert one.end < other.end
        assert one.end - other.start <= sizes.overlap
        assert one.heading == other.heading or one.end <= other.start


@given(NOTES, SIZES)
def test_a_body_start_is_the_end_of_the_heading_line_a_chunk_starts_with(text, sizes):
    for chunk in chunks_of(text, sizes):
        assert chunk.start <= chunk.body_start <= chunk.end
        assert chunk.heading or chunk.body_start == chunk.start


@given(NOTES, SIZES)
def test_combining_marks_stay_with_their_letter(text, sizes):
    for chunk in chunks_of(text, sizes):
        if 0 < chunk.start < len(text) and unicodedata.category(text[chunk.start]).startswith("M"):
            marks = text[: chunk.start].rstrip("\u0301\u093f")
            alone = not marks or marks[-1].isspace()
            assert alone or len(text[: chunk.start]) - len(marks) >= sizes.aim // 2, (
                "only a row of marks longer than a chunk is cut"
            )


@given(NOTES, SIZES)
def test_the_same_note_gives_the_same_chunks(text, sizes):
    reader = BlockReader()
    assert chunk_note(text, 0, reader, sizes) == chunk_note(text, 0, reader, sizes) == chunks_of(text, sizes)


@given(NOTES, SIZES, st.integers(0, 5))
def test_lines_before_the_body_are_in_no_chunk(text, sizes, body_line):
    body = "\n".join(text.split("\n")[body_line:])
    skipped = len(text) - len(body)
    shifted = [(chunk.start - skipped, chunk.end - skipped, chunk.heading) for chunk in chunks_of(text, sizes, body_line)]
    assert shifted == [(chunk.start, chunk.end, chunk.heading) for chunk in chunks_of(body, sizes)]


def test_a_comment_in_a_code_fence_is_no_heading():
    text = (
        "# Setup\n\n## Linux\n\n```sh\n# install the sprocket daemon\nmake sprocket\n```\n\n### After\n\nReload the cogwheel.\n\n"
        "~~~\n# not\n```\n# still not\n~~~\n\n   ```\n# nor this\n   ```\n\n- step\n  ```\n  # in a list\n  ```\n\n"
        "## Windows\n\nUse the mainspring.\n"
    )
    assert paths(text) == [("Setup",), ("Setup", "Linux"), ("Setup", "Linux", "After"), ("Setup", "Windows")]


def test_underlined_headings_count_and_rules_do_not():
    text = "Chronometer\n===\n\nIntro.\n\nFusee chain\n---\n\nThe chain.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\nAfter the rule.\n"
    assert paths(text) == [("Chronometer",), ("Chronometer", "Fusee chain")]


def test_levels_are_those_of_the_leading_signs():
    text = "# Anemometer\n\n### On the #wind tag and C#\n\ncups spin\n\n#wind is a tag\n####### seven\n\\# escaped\n\n## Vane ##\n\nturns\n"
    assert paths(text) == [("Anemometer",), ("Anemometer", "On the #wind tag and C#"), ("Anemometer", "Vane")]


def test_a_path_follows_levels_that_are_skipped_or_go_back():
    text = "Preamble.\n\n# One\n\n### Deep\n\ndeadeye\n\n## Mid\n\nfuttock\n\n# Two\n\n## Sub\n\ngarboard\n"
    assert paths(text) == [(), ("One",), ("One", "Deep"), ("One", "Mid"), ("Two",), ("Two", "Sub")]


def test_the_same_heading_twice_is_two_chunks():
    assert paths("## Log\n\nsandpiper\n\n## Log\n\ndunlin\n") == [("Log",), ("Log",)]


def test_a_heading_without_text_of_its_own_is_a_chunk():
    assert paths("# One\n## Two\n") == [("One",), ("One", "Two")]


def test_a_heading_is_not_parted_from_the_text_below_it():
    text = "# Title\n\n" + "word " * 700 + "\n\n" + "more " * 700
    first, *_ = chunks_of(text)
    assert first.end - first.start > 1000


def test_a_block_between_target_and_maximum_stays_whole():
    code = "```\n" + "line of code\n" * 200 + "```\n"  # 2,608 characters
    text = "# H\n\n" + "intro " * 300 + "\n\n" + code + "\nlast\n"
    assert any(code in text[chunk.start : chunk.end] for chunk in chunks_of(text))


def test_the_target_counts_for_notes_with_headings_and_without():
    text = ("word " * 100 + "\n\n") * 7  # 3,514 characters in 7 paragraphs: below the maximum
    # 3 paragraphs, 3 paragraphs, and what is left
    assert len(chunks_of(text)) == len(chunks_of("# H\n\n" + text)) == 3


def test_prose_of_long_lines_overlaps_by_words():
    text = "\n\n".join(f"{name} " + "word " * 250 for name in ("one", "two", "three", "four"))
    for one, other in pairwise(chunks_of(text)):
        assert 150 < one.end - other.start <= 200
        assert text[other.start - 1].isspace()


def test_a_heading_line_is_not_repeated_by_the_overlap():
    text = "# Heading\n\nshort.\n\n" + "word " * 1500
    assert [text[chunk.start :].startswith("# Heading") for chunk in chunks_of(text)] == [True] + [False] * (
        len(chunks_of(text)) - 1
    )


def test_sentences_are_preferred_to_words():
    text = "A sentence of some words. " * 300
    assert all(text[: chunk.end].rstrip().endswith(".") for chunk in chunks_of(text))


def test_text_without_blanks_is_cut_and_not_lost():
    text = "# 长文\n\n" + "这是一段关于港口和灯塔的描述。" * 600 + "\n\n最后一句提到琉璃浮球。\n"
    chunks = chunks_of(text)
    assert len(chunks) >= 5
    assert max(chunk.end - chunk.start for chunk in chunks) <= 4000
    assert any("琉璃浮球" in text[chunk.start : chunk.end] for chunk in chunks)


def test_a_vowel_sign_without_a_combining_class_stays_with_its_letter():
    assert unicodedata.combining("\u093f") == 0
    text = "कि" * 3000
    assert all(text[chunk.start] == "क" for chunk in chunks_of(text, ChunkSizes(51, 77, 13)))


@pytest.mark.parametrize(
    ("text", "body_line", "lines"),
    [
        ("", 0, (1, 1)),
        ("---\ntitle: only\n---\n", 3, (3, 3)),
        ("---\ntitle: only\n---\n\n", 3, (4, 4)),
        ("---\n---", 2, (2, 2)),
        ("\n \n\t\n", 0, (1, 1)),
        (" " * 9000, 0, (1, 1)),
    ],
)
def test_a_note_without_a_body_is_one_empty_chunk(text, body_line, lines):
    (chunk,) = chunks_of(text, body_line=body_line)
    assert (chunk.start, chunk.heading, chunk.lines) == (chunk.end, (), lines)


def test_lines_count_from_one_over_the_whole_note():
    text = "---\ntitle: x\n---\n\n# One\n\nbody\n\n## Two\nlast"
    assert [(chunk.heading, chunk.lines) for chunk in chunks_of(text, body_line=3)] == [
        (("One",), (5, 8)),
        (("One", "Two"), (9, 10)),
    ]


@pytest.mark.parametrize(
    "line", ["word " * 1_000_000, "x" * 5_000_000, "潮" * 2_000_000, " " * 5_000_000 + "x", "x" + "\u0301" * 2_000_000]
)
def test_a_line_of_megabytes_is_quick(line):
    started = time.process_time()
    chunks = chunks_of(f"# Heading\n\n{line}\n")
    assert time.process_time() - started < 5.0
    assert max(chunk.end - chunk.start for chunk in chunks) <= 4000


def test_thousands_of_headings_and_blocks_are_quick(monkeypatch):
    reader = BlockReader()
    text = "# a\n\nb\n\nc\n\n" * 10_000
    blocks = reader.blocks(text, need_starts=True)
    monkeypatch.setattr(reader, "blocks", lambda _text, **_named: blocks)  # so that only the chunker is timed
    started = time.process_time()
    assert len(chunk_note(text, 0, reader, ChunkSizes())) == 10_000
    assert time.process_time() - started < 2.0
