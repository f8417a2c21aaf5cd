from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.limits import NOTE_MAX_BYTES, PDF_MAX_BYTES
from vault_eval.model import Target
from vault_eval.vault.paths import folded, page_max_bytes, page_name, page_problem, page_title, quoted
from vault_eval.vault.targets import TargetError, parse_target, split_fragment, target_text

ODD_NAMES = [
    "Odd/C# tips.md",
    "Odd/100% done %20 maybe.md",
    "%2e%2e/secret.md",
    "~/Tides.md",
    "Odd/[draft] plan.md",
    "Odd/why? not!.md",
    "Odd/a^b|c.md",
    "Odd/2025: review.md",
    "2025: review.md",
    "Odd/🚀 launch 👩‍💻.md",
    "Odd/-dash first.md",
    "Odd/tab\there.md",
    "Odd/...md",
    "Shouting.MD",
    "潮" * 84 + ".md",
]


@pytest.mark.parametrize("path", ODD_NAMES)
def test_odd_names_are_literal_pages(path):
    assert page_problem(path) is None
    assert parse_target(path) == Target(path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("../secret.md", "`..`"),
        ("Garden/../Sea/Tides.md", "`..`"),
        ("./Sea/Tides.md", "`.`"),
        ("Sea//Tides.md", "empty segment"),
        ("Sea/", "empty segment"),
        ("/etc/hostname", "absolute"),
        ("C:/vault/Tides.md", "drive"),
        ("c:Tides.md", "drive"),
        ("C:\\vault\\Tides.md", "backslash"),
        ("\\\\host\\share\\a.md", "backslash"),
        ("//host/share/a.md", "absolute"),
        ("Sea/Ti\0des.md", "control character"),
        ("Sea/Tides.md\n", "control character"),
        ("Sea/Ti\x85des.md", "control character"),
        ("Sea/\ud83d.md", "surrogate"),
    ],
)
def test_paths_that_leave_the_vault_or_have_two_spellings_are_refused_with_the_reason(path, reason):
    problem = page_problem(path)
    assert problem is not None
    assert reason in problem
    assert "path" in problem
    assert "Folder/Note.md" in problem


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Note.md#Heading", Target("Note.md", heading="Heading")),
        ("Note.md#Part#Sub part", Target("Note.md", heading="Part#Sub part")),
        ("Note.MD#^id-1", Target("Note.MD", block="id-1")),
        ("C#.md#C# and F#", Target("C#.md", heading="C# and F#")),
        ("Folder.md#x/Note.md", Target("Folder.md", heading="x/Note.md")),
        ("Chart.pdf", Target("Chart.pdf")),
        ("Chart.PDF#page=4", Target("Chart.PDF", pdf_page=4)),
        ("Re\u0301sume\u0301.md#Cafe\u0301", Target("Résumé.md", heading="Café")),
    ],
)
def test_target_is_split_at_the_first_suffix_and_hash(text, target):
    assert parse_target(text) == target


@pytest.mark.parametrize(
    "text", ["Note.md#", "Note.md#^", "Note.md# ", "Chart.pdf#", "Chart.pdf#page=0", "Chart.pdf#4", "Note.md#a\nb"]
)
def test_empty_or_wrong_place_within_a_page_is_refused(text):
    with pytest.raises(TargetError, match="expected"):
        parse_target(text)


@pytest.mark.parametrize("text", ["Map.png", "Sea/Tides", "Tides.md.txt", "md"])
def test_gold_that_is_neither_markdown_nor_pdf_is_refused_saying_so(text):
    with pytest.raises(TargetError, match=r"neither Markdown \(\.md\) nor PDF"):
        parse_target(text)


def test_a_page_is_called_by_its_file_name_and_may_be_larger_where_it_is_a_pdf():
    assert [page_title(page) for page in ("A.md", "Sea/C# tips.md", "Node.js.MD", "Sea/Chart 2.0.PDF")] == [
        "A",
        "C# tips",
        "Node.js",
        "Chart 2.0",
    ]
    assert page_max_bytes("A.md") == NOTE_MAX_BYTES < page_max_bytes("A.Pdf") == PDF_MAX_BYTES


def test_page_name_is_canonical_and_keeps_letter_case():
    assert page_name("Re\u0301sume\u0301.md") == "Résumé.md"
    assert page_name("U\u0065\u0308ber.md") != page_name("\u00dceber.md")  # the mark belongs to the e
    assert page_name("garden/Pruning.md") != page_name("Garden/Pruning.md")


def test_folded_is_equal_for_other_letter_case_and_unicode_form():
    assert folded("RE\u0301SUME\u0301.MD") == folded("résumé.md")
    assert folded("Straße.md") == folded("STRASSE.md")
    assert folded("Garden/Pruning.md") != folded("Garden/Pruning2.md")


def test_quoted_text_is_escaped_and_cut():
    assert quoted("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"
    assert quoted("x" * 80) == repr("x" * 80)
    assert quoted("x" * 81) == repr("x" * 79 + "…")


@given(st.text())
def test_folding_is_idempotent_and_ignores_case_and_form(text):
    assert folded(folded(text)) == folded(text)
    assert folded(unicodedata.normalize("NFD", text)) == folded(text)


@given(st.text(max_size=30), st.sampled_from(["", ".md", ".md#Heading", ".md#^block", ".pdf#page=7", ".pdf"]))
def test_target_text_is_read_back_as_the_same_target(name, ending):
    try:
        target = parse_target(name + ending)
    except TargetError:
        return
    assert parse_target(target_text(target)) == target
    assert page_problem(target.page) is None


@given(st.text())
def test_split_fragment_loses_nothing(text):
    path, fragment = split_fragment(text)
    assert text == (path if fragment is None else f"{path}#{fragment}")
