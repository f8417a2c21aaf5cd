from __future__ import annotations

import unicodedata
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vault_eval.reports.escaping import for_markdown, for_terminal, obsidian_link

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![[Secret]] [[Note|alias]] ^block-id",
    "a | b | c",
    "``` <b>x</b> ```",
    "&lt;already&gt; &amp;",
    "`tick` *star* _under_ __init__ ~~gone~~ ==marked== %%hidden%% $E=mc^2$",
    "# heading",
    "#tag",
    "> [!danger] callout",
    "- item",
    "1. item",
    "=====",
    "---",
    "https://example.org www.example.org a@example.org mailto:a@example.org",
    "[^1]: footnote",
    "    indented",
    "<!-- comment -->",
    "\\*not escaped\\*",
    "trailing  ",
)
any_text = st.text(st.characters(), max_size=40)  # lone surrogates included
markup = st.text(st.sampled_from("ab1 |[]()<>&;`*_~=%$#^@:\\!-+.\"'\n\x1b{}/"), max_size=30)


def parsed(source: str, *, html: bool = True):
    return MarkdownIt("commonmark", {"html": html}).enable("table").enable("strikethrough").parse(source)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo\r\n\tthree", r"one\ntwo\r\n\tthree"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\u202eleft\u2066", r"\u202eleft\u2066"),
        ("\u2028\x85", r"\u2028\x85"),
        ("half \ud83d", r"half \ud83d"),
        ("hid\U000e0041den", r"hid\U000e0041den"),
        ("🚀 潮 é e\u0301", "🚀 潮 é e\u0301"),
        (r"C:\new", r"C:\new"),
    ],
)
def test_a_terminal_is_shown_controls_and_never_sent_them(text, shown):
    assert for_terminal(text) == shown


@given(any_text)
def test_a_terminal_line_is_one_line_of_printable_text(text):
    shown = for_terminal(text)
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in shown)
    assert for_terminal(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_the_text_and_nothing_else(text):
    tokens = parsed(for_markdown(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children
    assert {child.type for child in children} <= {"text", "text_special", "html_inline"}
    assert {child.content for child in children if child.type == "html_inline"} <= {"<wbr>", "<span>", "</span>"}
    assert "".join(child.content for child in children if child.type != "html_inline") == text


@given(st.one_of(any_text, markup))
def test_markdown_of_any_text_is_the_text_in_a_table_cell(text):
    tokens = parsed(f"| a | b |\n| --- | --- |\n| x{for_markdown(text)}x | {for_markdown(text)} |")
    cells = [token for token in tokens if token.type == "inline"]
    assert [token.type for token in tokens].count("tr_open") == 2
    assert len(cells) == 4
    children = cells[2].children or []
    assert all(child.content in ("<wbr>", "<span>", "</span>") for child in children if child.type == "html_inline")
    assert "".join(child.content for child in children if child.type != "html_inline") == f"x{for_terminal(text)}x".replace(
        "\x00", "�"
    )


@given(st.one_of(any_text, markup))
def test_markdown_of_any_text_opens_no_block_and_no_link(text):
    for prefix in ("", "- ", "> ", "**id**: "):
        kinds = {token.type for token in parsed(prefix + for_markdown(text))}
        allowed = {"paragraph_open", "paragraph_close", "inline", "bullet_list_open", "bullet_list_close"}
        assert kinds <= allowed | {"list_item_open", "list_item_close", "blockquote_open", "blockquote_close"}


def test_markdown_of_plain_text_is_left_readable():
    for text in ("Sea/Neap_tides.md", "when is it (roughly) 50 %?", "12:30 – it's 潮", "0.1.0", "a = b"):
        assert for_markdown(text) == text


def test_github_sees_no_mention_issue_or_address():
    assert for_markdown("@someone #12") == "&#64;<wbr>someone &#35;<wbr>12"
    assert "://" not in for_markdown("https://example.org")
    assert "www." not in for_markdown("www.example.org")


@pytest.mark.parametrize("page", ["Sea/Tides.md", 'X <b>bold</b> & "q".md', "C# 100%?.md", "潮.md", "a)b]c|d.md"])
def test_a_link_opens_the_page_in_obsidian(page):
    link = obsidian_link("My & vault", page)
    assert link.startswith("obsidian://open?vault=My%20%26%20vault&file=")
    assert parse_qs(urlsplit(link).query) == {"vault": ["My & vault"], "file": [page]}
    assert link.isascii()
    assert not set("()<>[]|\"' \\") & set(link)


def test_a_link_to_a_name_that_is_not_unicode_does_not_fail():
    assert obsidian_link("v", "half \ud83d.md").endswith("half%20%ED%A0%BD.md")
