"""report.html in a real browser. Each test also claims: no message in the console, no dialog, no request but the file itself."""

from __future__ import annotations

import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from vault_eval.reports.html_report import html_report

SHOWN = "tbody[data-kind]:not([hidden])"


def ids(tab):
    return tab.locator(f"{SHOWN} summary b").all_inner_texts()


def order(tab):
    return tab.locator("tbody[data-kind] summary b").all_inner_texts()


def details_of(tab, name):
    return tab.locator("tbody[data-kind]", has=tab.get_by_text(name, exact=True)).locator(".more")


def test_headings_landmarks_and_names_make_the_page_readable_aloud(open_report, small):
    tab = open_report(small)
    assert tab.get_by_role("main").count() == 1
    assert tab.get_by_role("heading", level=1).inner_text() == "Search in Harbour notes"
    assert tab.get_by_role("navigation", name="On this page").is_visible()
    for region in ("At a glance", "Queries", "Causes of misses", "Timing", "What to do next"):
        assert tab.get_by_role("region", name=region, exact=True).first.is_visible(), region
    assert tab.get_by_role("img", name=re.compile("^Recall at each cutoff")).is_visible()
    assert tab.get_by_role("img", name=re.compile("^Distribution of the 3 times: half within 0.12 milliseconds")).is_visible()
    curve = tab.get_by_role("table", name="Recall@k in numbers")
    assert curve.get_by_role("columnheader").all_inner_texts() == ["run", *(f"@{k}" for k in range(1, 11))]
    assert curve.get_by_role("cell").all_inner_texts() == ["0.500"] * 10


def test_every_control_has_a_name_and_every_name_is_its_own(open_report, small):
    tab = open_report(small)
    assert tab.get_by_role("searchbox", name="Filter by text").is_visible()
    for name in ("Category", "Outcome", "Cause"):
        assert tab.get_by_role("combobox", name=name).is_visible()
    for name in ("query", "outcome", "cause", "category", "recall@10", "RR"):
        assert tab.get_by_role("columnheader").get_by_role("button", name=name, exact=True).count() == 1
    nameless = tab.evaluate(
        """() => [...document.querySelectorAll("a, button, summary, input, select, [role=region], svg[role=img]")]
        .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length)).map((one) => one.outerHTML)"""
    )
    assert nameless == []


def test_the_headline_has_its_interval_and_n(open_report, small):
    card = open_report(small).locator(".cards > div").first
    assert " ".join(card.inner_text().split()) == "recall@5 0.500 0.095 – 0.905 95 % interval · n 2"
    assert card.locator(".bar b").bounding_box()["width"] == pytest.approx(card.locator(".bar span").bounding_box()["width"] / 2)


def test_columns_sort_up_down_and_back_to_the_order_of_the_labels(open_report, small):
    tab = open_report(small)
    labels = order(tab)
    assert labels == ["first-tide", "neap", "no-whales", "gone", "later"]
    head = tab.get_by_role("columnheader", name="recall@10")
    button = head.get_by_role("button")
    assert head.get_attribute("aria-sort") == "none"
    button.click()
    assert (head.get_attribute("aria-sort"), order(tab)) == ("ascending", ["neap", "first-tide", "no-whales", "gone", "later"])
    button.click()
    assert (head.get_attribute("aria-sort"), order(tab)) == ("descending", ["first-tide", "neap", "no-whales", "gone", "later"])
    assert tab.get_by_role("status").inner_text() == "sorted by recall@10, descending"
    tab.get_by_role("button", name="query", exact=True).click()
    assert head.get_attribute("aria-sort") == "none"
    assert order(tab) == sorted(labels)
    button.click()
    button.click()
    button.click()
    assert (head.get_attribute("aria-sort"), order(tab)) == ("none", labels)


def test_a_sorted_row_takes_its_details_along(open_report, small):
    tab = open_report(small)
    tab.get_by_role("button", name="query", exact=True).click()
    tab.locator("summary", has_text="neap").click()
    assert details_of(tab, "neap").get_by_text("Sea/Neap_tides.md").is_visible()


def test_filters_narrow_together_and_say_how_many_are_left(open_report, small):
    tab = open_report(small)
    status = tab.get_by_role("status")
    assert status.inner_text() == "5 of 5 queries shown"
    search = tab.get_by_role("searchbox")
    search.fill("TIDE")
    assert ids(tab) == ["first-tide", "neap"]
    assert status.inner_text() == "2 of 5 queries shown"
    tab.get_by_role("combobox", name="Outcome").select_option("missed")
    assert ids(tab) == ["neap"]
    search.fill("nothing like it")
    assert (ids(tab), status.inner_text()) == ([], "0 of 5 queries shown")
    search.fill("")
    tab.get_by_role("combobox", name="Outcome").select_option("all")
    tab.get_by_role("combobox", name="Category").select_option("unanswerable")
    assert ids(tab) == ["no-whales"]
    tab.get_by_role("combobox", name="Category").select_option("all")
    tab.get_by_role("combobox", name="Cause").select_option("outranked")
    assert ids(tab) == ["neap"]


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_row_opens_by_keyboard_alone(open_report, small, key):
    tab = open_report(small)
    more = details_of(tab, "neap")
    assert not more.is_visible()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the queries"
    tab.keyboard.press("Enter")
    for _ in range(40):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.matches('summary') && document.activeElement.textContent.includes('neap')"):
            break
    outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    tab.keyboard.press(key)
    assert more.is_visible()
    tab.keyboard.press("Tab")
    link = tab.evaluate("document.activeElement.getAttribute('href')")
    assert parse_qs(urlsplit(link).query) == {"vault": ["Harbour notes"], "file": ["Sea/Neap_tides.md"]}


def test_sorting_works_by_keyboard_and_keeps_the_focus(open_report, small):
    tab = open_report(small)
    button = tab.get_by_role("button", name="query", exact=True)
    button.focus()
    tab.keyboard.press("Enter")
    assert tab.get_by_role("columnheader", name="query").get_attribute("aria-sort") == "ascending"
    assert button.evaluate("(one) => one === document.activeElement")


def test_an_open_row_shows_ranking_cause_lines_and_what_each_word_adds(open_report, small):
    tab = open_report(small)
    tab.locator("summary", has_text="neap").click()
    more = details_of(tab, "neap")
    text = " ".join(more.inner_text().split())
    assert "other pages match the query better: it is at rank 14" in text
    assert "lines 3–9" in text
    assert "words that are not there: neap" in text
    assert "with one word more: rank 3 with 'neap' after line 9" in text
    bars = more.get_by_role("table", name=re.compile("^What each word adds"))
    heads = ["word", "this note", "rank 1: Sea/B.md"]
    assert bars.get_by_role("columnheader").all_inner_texts() == heads
    assert bars.get_by_role("rowheader").all_inner_texts() == ["tide\nidf 2.00", "neap\nidf 3.00", "score"]
    # 1.25, 2 and 3 as shares of the longest bar; no bar where a word adds nothing
    widths = [bar.bounding_box()["width"] for bar in bars.locator(".term b").all()]
    assert [round(100 * width / widths[-1]) for width in widths] == [42, 67, 100]
    colours = {
        bar.evaluate("(one) => getComputedStyle(one).backgroundColor") for bar in bars.locator("tr").nth(1).locator("b").all()
    }
    assert len(colours) == 2
    ranking = more.get_by_role("table", name="Ranking")
    assert ranking.get_by_role("link", name="Sea/B.md").get_attribute("href").startswith("obsidian://open?vault=Harbour%20notes")


def test_all_shown_rows_open_and_close_at_once(open_report, small):
    tab = open_report(small)
    tab.get_by_role("combobox", name="Outcome").select_option("excluded")
    button = tab.get_by_role("button", name="Open or close all shown")
    button.click()
    assert tab.locator(".more:visible").count() == 2
    button.click()
    assert tab.locator(".more:visible").count() == 0


def test_everything_is_readable_without_a_script(open_report, small):
    tab = open_report(small, java_script_enabled=False)
    assert not tab.locator("#controls").is_visible()
    assert tab.get_by_role("columnheader").get_by_role("button").count() == 0
    assert tab.locator("tbody[data-kind]:visible").count() == 5
    assert not details_of(tab, "neap").is_visible()
    tab.locator("summary", has_text="neap").click()
    assert details_of(tab, "neap").get_by_text("words that are not there: neap").is_visible()


def test_details_are_shown_by_a_browser_that_cannot_hide_them(open_report, small):
    """`:has` is newer than some browsers: without it nothing may be out of reach."""
    without = html_report(small).replace(":has(", ":unknown(")
    policy = re.sub(r"style-src '[^']*'", "style-src 'unsafe-inline'", without)
    tab = open_report(policy, java_script_enabled=False)
    assert tab.locator(".more:visible").count() == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_stay_readable(open_report, small, contrast, scheme):
    tab = open_report(small, color_scheme=scheme)
    tab.get_by_role("button", name="Open or close all shown").click()
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 29)"}[scheme]
    assert tab.evaluate(contrast) == []


def test_paper_shows_misses_opened_and_no_controls(open_report, small):
    tab = open_report(small, color_scheme="dark")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()") == "#fff"
    assert details_of(tab, "neap").is_visible()
    assert not details_of(tab, "first-tide").is_visible()
    for selector in ("#controls", "nav"):
        assert not tab.locator(selector).is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.pdf(format="A4").startswith(b"%PDF")


def test_a_telephone_scrolls_tables_and_not_the_page(open_report, small):
    tab = open_report(small, viewport={"width": 360, "height": 740})
    tab.get_by_role("button", name="Open or close all shown").click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    narrow = "(cells) => cells.filter((one) => one.textContent.trim() && one.clientWidth < 25).map((one) => one.outerHTML)"
    assert tab.locator("th:visible, td:visible").evaluate_all(narrow) == []


def test_hostile_names_and_texts_are_shown_as_text(open_report, hostile, renderings):
    tab = open_report(hostile)
    tab.get_by_role("button", name="Open or close all shown").click()
    text = tab.locator("body").inner_text()
    for shown in renderings.HOSTILE:
        if shown.isprintable() and "\ud83d" not in shown:
            assert shown in text, shown
    for shown in (r"\u202eright to left", r"\x1b[2J\x1b]0;title\x07", r"line one\nline two\r> [!danger] x\n# heading"):
        assert shown in text
    assert tab.locator("script").count() == 1
    assert tab.locator("img, iframe, object, form, link, h6, body b b").count() == 0
    handlers = "(all) => all.flatMap((one) => [...one.attributes]).filter((one) => /^on|^style$/.test(one.name)).length"
    assert tab.locator("body *").evaluate_all(handlers) == 0
    links = tab.locator("a[href]:not([href^='#'])").evaluate_all("(all) => all.map((one) => new URL(one.href).protocol)")
    assert set(links) == {"obsidian:"}


def test_hostile_text_is_found_and_filtered_by(open_report, hostile):
    tab = open_report(hostile)
    category = tab.get_by_role("combobox", name="Category")
    options = category.locator("option").all_inner_texts()
    assert any(option.startswith("spring tides <img") for option in options)
    category.select_option(index=next(place for place, option in enumerate(options) if "<img" in option))
    assert len(ids(tab)) == 2
    tab.get_by_role("searchbox").fill("<IMG SRC=X onerror")
    assert len(ids(tab)) == 2


def test_the_policy_stops_a_script_that_is_not_ours(browser, tmp_path, small):
    """Were the escaping to fail some day, what got in could still not run, and could not call out."""
    evil = '<script>document.title = "owned"</script><img src="https://example.org/x" onerror="document.title = \'owned\'">'
    path = tmp_path / "evil.html"
    path.write_text(html_report(small).replace("<main>", f"<main>{evil}"), encoding="utf-8")
    tab = browser.new_page()
    sent = []
    tab.on("requestfinished", lambda request: sent.append(request.url))
    tab.goto(path.as_uri())
    assert tab.title() == "Search in Harbour notes – vault-eval"
    assert sent == [path.as_uri()]
    blocked = tab.evaluate("() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } }")
    assert blocked
    tab.close()


def test_a_thousand_queries_open_sort_and_filter_quickly(open_report, large):
    started = time.perf_counter()
    tab = open_report(large)
    assert tab.locator("tbody[data-kind]").count() == 1000
    assert time.perf_counter() - started < 10
    milliseconds = tab.evaluate(
        """() => {
          const started = performance.now();
          document.querySelector(".queries thead button").click();
          document.body.offsetHeight;
          const search = document.getElementById("search");
          search.value = "query-number-99";
          search.dispatchEvent(new Event("input"));
          document.body.offsetHeight;
          return performance.now() - started;
        }"""
    )
    assert milliseconds < 3000
    # query-number-99, and 990 to 999
    assert tab.get_by_role("status").inner_text() == "11 of 1000 queries shown"


def test_several_runs_are_told_apart_without_colour(open_report, reports):
    rows = [reports.build_row("a", "q", ["A.md"], ["B.md", "A.md"]), reports.build_row("b", "q", ["B.md"], ["B.md"])]
    runs = [reports.build_run(rows, name=name) for name in ("keyword", "keyword:b=0.5", "title")]
    tab = open_report(reports.build_report(*runs))
    dashes = "(all) => all.map((one) => getComputedStyle(one).strokeDasharray)"
    drawn = tab.locator("svg .curve").evaluate_all(dashes)
    assert len(set(drawn)) == 3
    assert tab.locator("svg.key line").evaluate_all(dashes) == drawn


def test_the_shipped_fixture_is_opened_without_complaint(open_report):
    from vault_eval.evaluation import clock
    from vault_eval.fixture_mode import run_fixture
    from vault_eval.request import Request

    report, *_ = run_fixture(Request(vault="", cold_samples=0), clock())
    tab = open_report(report)
    assert tab.locator("tbody[data-kind]").count() == len(report.runs[0].rows)
    tab.get_by_role("button", name="Open or close all shown").click()
    assert tab.locator(".more:visible").count() == len(report.runs[0].rows)
