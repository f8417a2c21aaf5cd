"""Lines of notes in a real browser: text that acts on nothing, marked words that stay readable, a page that does not grow wide."""

from __future__ import annotations

import pytest

from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.reports.html_report import html_report
from vault_eval.reports.snippets import snippets_of

GOLD, WINNER = "Sea/Gold.md", "Sea/Winner.md"
LINES = (
    "tide </bdi></td></tr></table></details><script>document.title = 'owned'</script>",
    "tide <img src=x onerror=\"document.title='owned'\"> <mark>not ours</mark>",
    "tide \u202egnihtyreve\u2066 \x1b[31m",
    "الجزر tide المد",
    "tide " + "w" * 400,
)


@pytest.fixture
def page(reports):
    row = reports.build_row("neap", "neap tide", [GOLD], [WINNER], diagnosis=(Diagnosis(GOLD, "outranked", ""),))
    report = reports.build_report(reports.build_run([row]))
    texts = {GOLD: "\n\n".join(LINES[:3]), WINNER: "\n".join(LINES[3:])}
    return html_report(report, snippets_of(report.runs[0], texts.get))


def opened(open_report, page, **options):
    tab = open_report(page, **options)
    tab.locator("summary", has_text="neap").click()
    return tab


def test_text_of_notes_is_text_and_its_lines_are_numbered(open_report, page):
    tab = opened(open_report, page)
    own = tab.get_by_role("table", name="lines of this note")
    assert own.get_by_role("rowheader").all_inner_texts() == ["1", "3", "5"]
    assert own.get_by_role("cell").all_inner_texts() == [LINES[0], LINES[1], r"tide \u202egnihtyreve\u2066 \x1b[31m"]
    assert own.locator("mark").all_inner_texts() == ["tide"] * 3
    assert tab.title() == "Search in Harbour notes – vault-eval"
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 1
    rival = tab.get_by_role("table", name=f"lines of rank 1: {WINNER}")
    assert rival.get_by_role("rowheader").all_inner_texts() == ["1", "2"]
    assert rival.locator("bdi").first.evaluate("(one) => getComputedStyle(one).direction") == "rtl"


def test_lines_can_be_filtered_by(open_report, page):
    tab = open_report(page)
    tab.get_by_role("searchbox").fill("<IMG SRC=X")
    assert tab.get_by_role("status").inner_text() == "1 of 1 queries shown"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marked_words_can_be_read(open_report, page, contrast, scheme):
    tab = opened(open_report, page, color_scheme=scheme)
    assert tab.evaluate(contrast) == []
    marked = tab.locator("mark").first
    around = "(one) => getComputedStyle(one.closest('table')).backgroundColor"
    assert marked.evaluate("(one) => getComputedStyle(one).backgroundColor") != marked.evaluate(around)


def test_a_telephone_wraps_lines_without_end(open_report, page):
    tab = opened(open_report, page, viewport={"width": 360, "height": 740})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    for table in tab.locator(".source").all():
        assert table.bounding_box()["width"] < 360
