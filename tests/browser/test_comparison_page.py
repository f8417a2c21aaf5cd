"""The comparison and history pages in a real browser. Each test also claims: no message in the console, no dialog, no request."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from vault_eval.comparison.compare import compare
from vault_eval.metrics.score import MetricValue
from vault_eval.reports.compared import sides
from vault_eval.reports.comparison_html import comparison_html
from vault_eval.reports.history import History, Point, Series
from vault_eval.reports.history_html import history_html
from vault_eval.significance.intervals import Interval

SCHEMES = ("light", "dark")


@pytest.fixture(scope="session")
def pair(reports) -> str:
    return comparison_html(compare(sides(reports.build_side(0))[0], sides(reports.build_side(1))))


@pytest.fixture(scope="session")
def several(reports) -> str:
    candidates = [*sides(reports.build_side(1)), *sides(reports.build_side(0))]
    return comparison_html(compare(sides(reports.build_side(0))[0], candidates))


@pytest.fixture(scope="session")
def trend() -> str:
    values = (MetricValue(0.5, 9, "ok", Interval(0.25, 0.75, "abc")), MetricValue(None, 0, "no data"), MetricValue(0.75, 9, "ok"))
    changes = ((), (), ("labels", "notes"))
    points = [
        Point("", f"2026-03-0{day}T09:30:00Z", value, changed)
        for day, value, changed in zip((1, 2, 3), values, changes, strict=True)
    ]
    return history_html(History("Harbour </script>", "mrr@10", (Series("keyword", 10, tuple(points)),), len(points), {}, 0))


def text_of(locator):
    return " ".join(locator.inner_text().split())


def test_the_verdict_comes_first_and_is_read_as_text(open_report, pair):
    tab = open_report(pair)
    assert tab.get_by_role("heading", level=1).inner_text() == "Did it help: search in Harbour notes"
    box = tab.locator(".verdict")
    word, effect = box.locator(".word").inner_text(), box.locator(".effect").inner_text()
    assert word.lower() in comparison_words()
    assert effect.startswith("MRR@10 +0.274 (95 % interval ")
    assert box.get_by_role("listitem").count() >= 5
    assert box.bounding_box()["y"] < tab.get_by_role("img").first.bounding_box()["y"]


def comparison_words():
    return {"better", "worse", "no evidence of a difference", "too few queries", "not comparable", "identical"}


def test_a_bar_stands_for_each_changed_query_over_or_under_the_line(open_report, pair):
    tab = open_report(pair)
    drawing = tab.get_by_role("img", name=re.compile("^MRR@10 of each changed query"))
    line = drawing.locator(".axis").bounding_box()["y"]
    better, worse = drawing.locator(".diff.better"), drawing.locator(".diff.worse")
    assert (better.count(), worse.count()) == (5, 2)
    assert all(bar.bounding_box()["y"] < line - 1 for bar in better.all())
    assert all(bar.bounding_box()["y"] > line - 1 for bar in worse.all())
    assert better.first.locator("title").text_content() == "lock"


def test_slopes_lead_from_the_rank_before_to_the_rank_after(open_report, pair):
    drawing = open_report(pair).get_by_role("img", name=re.compile("^Rank of the first expected page"))
    assert drawing.locator(".slope").count() == 8  # seven that changed, and one for both that stayed at 1
    assert drawing.locator(".slope.same title").text_content() == "2 queries: 1 → 1"
    ends = drawing.locator(".slope.worse").first.evaluate("one => [one.y1.baseVal.value, one.y2.baseVal.value]")
    assert ends[1] > ends[0], "worse leads down"


def test_every_drawing_is_told_in_numbers_too(open_report, pair):
    tab = open_report(pair)
    figures = tab.get_by_role("region", name="All figures of keyword").get_by_role("row")
    assert text_of(figures.nth(1)).startswith("MRR@10 0.531 0.806 +0.274 ")
    better = tab.get_by_role("region", name="Better, keyword")
    assert [text_of(row)[:4] for row in better.locator("tbody tr").all()] == ["lock", "pilo", "tide", "neap", "bert"]
    assert text_of(better.locator("tbody tr").nth(3).get_by_role("cell").nth(0)) == "none → 2"
    assert "otherwise than the mean" in text_of(tab.get_by_role("region", name="By category, keyword"))


@pytest.mark.parametrize("scripts", [True, False])
def test_a_query_opens_to_both_rankings_by_keyboard_with_and_without_scripts(open_report, pair, scripts):
    tab = open_report(pair, java_script_enabled=scripts)
    row = tab.get_by_role("region", name="Worse, keyword").locator("tbody tr").first
    rankings = row.locator(".pair")
    assert not rankings.is_visible()
    row.locator("summary").focus()
    tab.page.keyboard.press("Enter")
    assert rankings.is_visible()
    before, after = rankings.locator("ol").all()
    assert before.locator("li").first.inner_text() == after.locator("li").nth(1).inner_text() == "logbook.md (expected)"
    address = urlsplit(after.locator("li").nth(1).locator("a").get_attribute("href"))
    assert (address.scheme, parse_qs(address.query)) == ("obsidian", {"vault": ["Harbour notes"], "file": ["logbook.md"]})


def test_several_candidates_are_reached_from_the_table_at_the_top(open_report, several):
    tab = open_report(several)
    rows = tab.get_by_role("region", name="All candidates").locator("tbody tr")
    assert [text_of(row.get_by_role("cell").first) for row in rows.all()][1] == "identical"
    rows.nth(1).get_by_role("link").click()
    assert tab.page.url.endswith("#candidate-2")
    assert tab.locator("#candidate-2").bounding_box()["y"] < 900


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["pair", "trend"])
def test_every_text_can_be_read_in_light_and_dark(open_report, request, contrast, name, scheme):
    tab = open_report(request.getfixturevalue(name), color_scheme=scheme)
    assert tab.evaluate(contrast) == []


@pytest.mark.parametrize("name", ["pair", "several", "trend"])
def test_a_narrow_screen_scrolls_tables_and_not_the_page(open_report, request, name):
    tab = open_report(request.getfixturevalue(name), viewport={"width": 360, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_names_of_notes_stay_text(open_report, reports):
    evil = '<img src=x onerror=alert(1)> "><svg onload=alert(2)> javascript:alert(3)'

    def report(place):
        rows = [reports.build_row(evil, evil, [f"{evil}.md"], [f"{evil}.md", "B.md"][:: 1 - 2 * place], category=evil)]
        return reports.build_report(reports.build_run(rows, name=evil), vault_name=evil)

    tab = open_report(comparison_html(compare(sides(report(0))[0], sides(report(1)))))
    tab.locator("summary").click()
    assert tab.locator(".pair li").first.inner_text() == f"{evil}.md (expected)"
    assert tab.locator("img, [onerror], [onload], script").count() == 0
    assert set(tab.locator("a").evaluate_all("all => all.map((one) => one.protocol)")) == {"obsidian:"}


def test_the_trend_has_a_gap_where_there_is_no_data_and_a_mark_where_labels_changed(open_report, trend):
    tab = open_report(trend)
    drawing = tab.get_by_role("img", name=re.compile("^MRR@10 of 3 reports"))
    dots = [dot.bounding_box() for dot in drawing.locator("circle").all()]
    assert len(dots) == 2
    assert dots[1]["y"] < dots[0]["y"], "0.75 stands above 0.5"
    assert drawing.locator("polyline").count() == 0
    assert drawing.locator(".change title").text_content() == "labels, notes changed"
    rows = tab.get_by_role("region", name="In numbers, keyword").locator("tbody tr")
    assert [text_of(row) for row in rows.all()] == [
        "2026-03-03 09:30 UTC 0.750 – 9 labels, notes",
        "2026-03-02 09:30 UTC no data – 0",
        "2026-03-01 09:30 UTC 0.500 0.250 – 0.750 9",
    ]


def test_on_paper_both_rankings_are_printed(open_report, pair):
    tab = open_report(pair)
    tab.page.emulate_media(media="print")
    assert tab.locator(".pair").first.is_visible()
