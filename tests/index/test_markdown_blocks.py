"""Headings and blocks: which lines they are, and how a heading reads."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.index.markdown_blocks import BlockReader, readable


def headings(text):
    return [(heading.level, heading.text) for heading in BlockReader().blocks(text, need_starts=False).headings]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("See [[Sea/Tides|the tides]] and `halyard`", "See the tides and halyard"),
        ("See [[Sea/Tides]] and ![[chart.png]]", "See Sea/Tides and chart.png"),
        ("[[Sea/Tides#Spring|spring]] tides", "spring tides"),
        ("A [link](https://example.com/a_(b)) and ![alt](x.png)", "A link and alt"),
        ("**Bold** ^blk-1", "Bold"),
        ("_Quiet_ and __loud__ and *both*", "Quiet and loud and both"),
        ("atomic_write_json and 2_000", "atomic_write_json and 2_000"),
        ("The `__init__` of `*args`", "The __init__ of *args"),
        ("``a ` tick`` stays", "a ` tick stays"),
        ("An `unclosed tick", "An unclosed tick"),
        ("==Marked== and ~~gone~~", "Marked and gone"),
        ("When a == b", "When a == b"),
        ("Escaped \\*stars\\* and \\# hash", "Escaped *stars* and # hash"),
        ("🚀 Launch", "🚀 Launch"),
        ("On the #wind tag and C#", "On the #wind tag and C#"),
        ("two  blanks\nand a line", "two blanks and a line"),
        ("5 ^ 3", "5 ^ 3"),
        ("[not a link] (here)", "[not a link] (here)"),
        ("", ""),
    ],
)
def test_a_heading_reads_as_a_person_reads_it(source, shown):
    assert readable(source) == shown


@given(st.text(alphabet="[]()|!`*_~=\\^ ab\n", max_size=80))
def test_readable_text_has_no_blanks_at_its_ends_nor_two_in_a_row(source):
    shown = readable(source)
    assert "  " not in shown
    assert shown == shown.strip()


@pytest.mark.parametrize("sign", ["[", "](", "`", "`` `", "*_", "[a](", "\\", " ^a", "[[a|"])
def test_readable_is_quick_for_any_row_of_signs(sign):
    started = time.process_time()
    readable(sign * 200_000)
    assert time.process_time() - started < 1.0


def test_an_endless_heading_is_cut():
    assert len(readable("word " * 100_000)) <= 1000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# One\n", [(1, "One")]),
        ("## Vane ##\n", [(2, "Vane")]),
        ("#\n", [(1, "")]),
        ("   # Three blanks\n", [(1, "Three blanks")]),
        ("Chronometer\n===\n\nFusee chain\n---\n", [(1, "Chronometer"), (2, "Fusee chain")]),
        ("over two\nlines\n---\n", [(2, "over two lines")]),
        ("# Before `#` after\n#\ttab\n", [(1, "Before # after"), (1, "tab")]),
        ("###### six\n####### seven\n", [(6, "six")]),
        ("# Found\r", [(1, "Found")]),
    ],
)
def test_headings_are_those_of_commonmark(text, found):
    assert headings(text.replace("\r", "")) == found


@pytest.mark.parametrize(
    "text",
    [
        "#tag\n",
        "\\# escaped\n",
        "    # code\n",
        "```sh\n# a comment\n```\n",
        "~~~\n# not\n```\n# still not\n~~~\n",
        "> # quoted\n",
        "- # in a list\n",
        "- step\n  ```\n  # in a list\n  ```\n",
        "<!--\n# in a comment\n-->\n",
        "<div>\n# in HTML\n</div>\n",
        "| a |\n|---|\n| b |\n",
        "text\n\n---\n\nmore\n",
        "* * *\n",
        "plain\n",
        "",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text):
    assert headings(text) == []


def test_a_note_without_a_heading_sign_is_not_parsed():
    reader = BlockReader()
    assert reader.blocks("text - with # signs\n" * 100, need_starts=False).headings == ()
    assert reader._parse is None


def test_blocks_start_where_outermost_blocks_do():
    text = "# H\n\npara\nof two\n\n- a\n- b\n\n> quote\n\n```\ncode\n\nmore\n```\n\n    indented\n\n---\nlast\n"
    #       0      2             5         8          10                    16            18  19
    assert BlockReader().blocks(text, need_starts=True).starts == (0, 2, 5, 8, 10, 16, 18, 19)


def test_lines_are_ended_by_line_feeds_only():
    text = "# Alpha\n\none\u2028two\x0bthree\x0cfour\x85five\x1csix\n\n# Beta\n"
    assert [heading.first for heading in BlockReader().blocks(text, need_starts=False).headings] == [0, 4]


def test_headings_below_a_deep_outline_are_found():
    outline = "".join("  " * depth + f"- level {depth}\n" for depth in range(45))
    assert headings(f"{outline}\n# After\n") == [(1, "After")]
