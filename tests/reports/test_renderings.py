"""What holds for text, Markdown and HTML alike, and what each must keep."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.errors import MissingPackageError
from vault_eval.limits import TERMINAL_TEXT_MAX_CHARACTERS
from vault_eval.metrics.latency import summary
from vault_eval.metrics.score import MetricValue
from vault_eval.reports import findings, svg_plots
from vault_eval.reports import html_report as html_module
from vault_eval.reports.document import Fixture, RunTiming, Timing
from vault_eval.reports.html_report import html_report
from vault_eval.reports.markdown_report import markdown_report
from vault_eval.reports.text_report import text_report

GOLDEN = Path(__file__).parent / "golden"
# Set to rewrite the golden files; then read the difference before keeping it.
REGENERATE = "VAULT_EVAL_REGENERATE_GOLDEN"
HOSTILE = (
    "spring tides </script><script>alert(1)</script>",
    "spring tides <img src=x onerror=alert(1)>",
    "spring tides [x](javascript:alert(1))",
    "spring tides a | b | c",
    "spring tides ``` <b>x</b> ```",
    'spring tides "><svg onload=alert(1)>',
    "spring tides &lt;already&gt;",
    "spring tides `tick` *star* _under_ # hash",
    "spring tides =1+1",
    "spring tides line one\nline two\r> [!danger] x\n# heading",
    "spring tides \u202eright to left",
    "spring tides {{x}} {% raw %} ${y} %s",
    "spring tides \x1b[2J\x1b]0;title\x07",
    "spring tides \ud83d half",
    "</style></details></table>",
)


def text(report):
    return text_report(report, saved="reports/2026-03-01")


RENDERINGS = {"report.txt": text, "report.md": markdown_report, "report.html": html_report}
each_rendering = pytest.mark.parametrize("render", RENDERINGS.values(), ids=RENDERINGS)


class Page(HTMLParser):
    """Every element, attribute and text of a document, and whether tags are balanced but for those that HTML lets be."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def hostile_report(make_row, make_run, make_report):
    from vault_eval.diagnosis.misses import Diagnosis

    rows = [
        make_row(
            f"e{place} {query}",
            query,
            [f"X {query}.md"],
            [f"Y {query}.md"],
            category=query,
            tags=(query,),
            diagnosis=(Diagnosis(f"X {query}.md", "outranked", query, (query,), (query,)),),
        )
        for place, query in enumerate(HOSTILE)
    ]
    extra = [
        make_row(f"s {query}", query, ["A.md"], [], status="skipped", skip_reason=query, category=query) for query in HOSTILE
    ]
    extra += [make_row(f"x {query}", query, ["A.md"], [], status="error", error=query) for query in HOSTILE]
    extra += [make_row(f"m {query}", query, [query], [], status="missing-gold", missing={query: query}) for query in HOSTILE]
    run = make_run([*rows, *extra], name=" ".join(HOSTILE))
    return make_report(
        run,
        run,
        vault_name=" ".join(HOSTILE),
        warnings=HOSTILE,
        unavailable=HOSTILE,
        snapshot_sha256="<b>",
        tool_version="<b>|",
        fixture=Fixture((), HOSTILE[0]),
        timing=Timing("<script>", dict.fromkeys(HOSTILE, "<script>"), (RunTiming({}, summary([1.0]), {}, None, None),) * 2),
    )


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_small_report_is_rendered_as_agreed(name, small_report):
    rendered = RENDERINGS[name](small_report)
    path = GOLDEN / name
    if os.environ.get(REGENERATE):
        path.write_text(rendered, encoding="utf-8", newline="\n")
    assert rendered == path.read_text(encoding="utf-8")


@each_rendering
def test_rendering_twice_gives_the_same(render, small_report):
    assert render(small_report) == render(small_report)


@each_rendering
def test_every_rendering_tells_the_same_story(render, small_report):
    rendered = Page(render(small_report)).text if render is html_report else render(small_report).replace("&#124;", "|")
    rendered = " ".join(rendered.split())
    for said in (
        "Harbour notes",
        "questions.json (5 queries)",
        "2026-03-01 09:30 UTC",
        "3 gold pages: 2 exist, 2 in scope, 2 indexed, 2 fresh",
        "5 queries: 2 scored, 1 negative (no page is expected)",
        "1 for missing gold (1 page), 1 skipped by a label. Excluded is not missed",
        "2 notes were added since the index was built",
        "recall@5",
        "0.500",
        "no-result accuracy",
        "other pages match the query better",
        "neap tide | height",
        "Sea/B.md",
        "Old/Keys.md",
        "not written yet",
        "make the note say more of what it is about",
        "an improvement over another release",
        "(= slowest of 3)",
        "5.0 times a bare Python start",  # 75 / 15
    ):
        assert said in rendered, said


@each_rendering
def test_coverage_stands_before_every_metric(render, small_report):
    rendered = render(small_report)
    assert rendered.index("3 gold pages") < rendered.index("recall@")


@each_rendering
def test_no_data_is_told_apart_from_zero(render, make_row, make_run, make_report):
    """RP-04, RP-08: a label set with one negative has no recall, and its no-result accuracy is 1 of 1."""
    from vault_eval.reports.document import Coverage

    run = make_run([make_row("n", "xylograph", [], [])])
    rendered = render(make_report(run, vault_name="vault", coverage=Coverage(0, 0, 0, 0, 0)))
    rendered = re.sub("<(style|script)>.*?</\\1>", "", rendered, flags=re.DOTALL)
    assert "no data" in rendered
    assert "1.000" in rendered
    for never in ("0.00", "0%", "nan", "None", "0/0"):
        assert never not in rendered, never


@each_rendering
def test_a_figure_beside_errors_is_called_unreliable(render, make_row, make_run, make_report):
    rows = [make_row("a", "q", ["A.md"], ["A.md"]), make_row("b", "q", ["B.md"], [], status="error", error="it timed out")]
    rendered = render(make_report(make_run(rows)))
    assert "unreliable" in rendered
    assert "it timed out" in rendered
    assert "1.000" not in rendered.split("Queries</h2>")[0]


@each_rendering
def test_several_runs_are_compared(render, make_row, make_run, make_report):
    rows = [make_row("a", "q", ["A.md"], ["A.md"])]
    rendered = render(make_report(make_run(rows), make_run(rows, name="keyword:b=0.5")))
    assert "2 runs" in rendered
    assert "keyword:b=0.5" in rendered


@each_rendering
def test_several_runs_are_compared_by_places_where_labels_name_some(render, make_row, make_run, make_report):
    run = make_run([make_row("a", "q", ["A.md"], ["A.md"])])
    found = replace(
        run, metrics={**run.metrics, "section_hit": MetricValue(0.5, 2, "ok"), "page_hit": MetricValue(None, 0, "no data")}
    )
    rendered = render(make_report(run, found)).partition("2 runs")[2].partition("below: the first run")[0]
    assert "section-hit (n)" in rendered
    assert "0.500 (2)" in rendered
    assert "no data (0)" in rendered  # the run that was asked before labels named a section
    assert "page-hit (n)" not in rendered


@each_rendering
def test_a_report_without_runs_is_rendered(render, make_report):
    assert "Harbour notes" in render(make_report())


@each_rendering
def test_every_rendering_is_utf8_without_controls(render, make_row, make_run, make_report):
    """RP-03: a name with an emoji, and whatever else; the bytes of the file are UTF-8."""
    rendered = render(hostile_report(make_row, make_run, make_report))
    rendered.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", rendered)
    assert r"\u202eright to left" in rendered or r"&#92;u202eright to left" in rendered


def test_html_of_hostile_text_has_no_script_no_handler_and_no_foreign_link(make_row, make_run, make_report):
    """RP-01."""
    rendered = html_report(hostile_report(make_row, make_run, make_report))
    page = Page(rendered)
    assert not {"img", "iframe", "object", "form", "link", "b:"} & set(page.elements)
    assert page.elements.count("script") == rendered.lower().count("</script>") == 1
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    links = [value for name, value in page.attributes if name in ("href", "src", "action") and not value.startswith("#")]
    assert links
    assert all(link.startswith("obsidian://open?vault=") for link in links)
    assert "</script><script>alert(1)" not in rendered
    assert rendered.count("<style>") == rendered.count("</style>") == 1
    for shown in (
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "{{x}} {% raw %} ${y} %s",
        "&lt;already&gt;",
    ):
        assert shown in page.text


def test_html_is_whole_without_network(small_report):
    rendered = html_report(small_report)
    page = Page(rendered)
    assert not {"link", "img"} & set(page.elements)
    assert not [name for name, _ in page.attributes if name == "src"]
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttp|WebSocket|import\(", rendered)
    assert {"header", "main", "footer", "h1", "h2", "caption", "details", "summary"} <= set(page.elements)
    assert {value for name, value in page.attributes if name == "scope"} == {"row", "col"}
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value for name, value in page.attributes if name == "aria-labelledby"} <= set(ids)


def test_html_allows_its_own_script_and_style_by_their_hashes_and_nothing_else(small_report):
    rendered = html_report(small_report)
    policy = next(value for name, value in Page(rendered).attributes if value.startswith("default-src"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for element in ("script", "style"):
        (source,) = re.findall(f"<{element}>(.*?)</{element}>", rendered, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}';" in policy


def test_the_script_reads_and_sets_text_alone():
    source = (Path(html_module.__file__).with_name("report.js")).read_text(encoding="utf-8")
    for never in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "Function(", "setTimeout", "</", "http"):
        assert never not in source, never


def test_the_recall_curve_follows_from_the_rows(make_row, make_run):
    rows = [
        make_row("a", "q", ["A.md"], ["A.md"]),
        make_row("b", "q", ["A.md", "C.md"], ["B.md", "A.md", "D.md", "C.md"]),
        make_row("n", "q", [], ["A.md"]),
    ]
    # a: 1 from k = 1. b: 0, 1/2 from k = 2, 1 from k = 4. The negative is not in the mean.
    curve = findings.recall_curve(make_run(rows))
    assert list(curve.values()) == [0.5, 0.75, 0.75, *[1.0] * 7]
    assert list(curve) == list(range(1, 11))


def test_the_recall_curve_agrees_with_the_figures(small_report):
    run = small_report.runs[0]
    curve = findings.recall_curve(run)
    assert [curve[k] for k in (1, 5, 10)] == [run.metrics[f"recall@{k}"].value for k in (1, 5, 10)]


def test_no_curve_is_drawn_beside_errors_or_without_data(make_row, make_run):
    failed = make_row("b", "q", ["B.md"], [], status="error", error="it timed out")
    assert findings.recall_curve(make_run([make_row("a", "q", ["A.md"], ["A.md"]), failed])) == {}
    assert findings.recall_curve(make_run([make_row("n", "q", [], [])])) == {}


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=200))
def test_a_histogram_counts_every_time_within_its_frame(times):
    told = summary(times)
    plot = svg_plots.histogram(times, told.p50, told.p95)
    for one in plot.bins:
        assert svg_plots.TIMES_LEFT <= one.x <= svg_plots.TIMES_RIGHT - one.width
        assert svg_plots.TIMES_TOP <= one.y <= svg_plots.TIMES_BOTTOM
    assert max(one.height for one in plot.bins) == svg_plots.TIMES_BOTTOM - svg_plots.TIMES_TOP
    assert all(svg_plots.TIMES_LEFT <= mark.x <= svg_plots.TIMES_RIGHT for mark in plot.marks)


@pytest.mark.parametrize(
    ("value", "whole", "length"), [(None, 1, 0), (0, 1, 0), (0.001, 1, 1), (0.5, 1, 50), (1, 1, 100), (7, 2, 100), (1, 0, 0)]
)
def test_a_bar_of_anything_is_seen_and_never_too_long(value, whole, length):
    assert svg_plots.percent(value, whole) == length


def test_html_opens_to_the_ranking_and_to_what_each_word_adds(small_report):
    page = Page(html_report(small_report))
    text = " ".join(" ".join(page.texts).split())
    assert "its best section (lines 3–9, Tides › Spring) scores 1.250: tide 1.250" in text
    assert "words that are not there: neap" in text
    assert "with one word more: rank 3 with 'neap' after line 9" in text
    assert "tide idf 2.00 1.250 tf 2 ×1.25, length ×0.50 2.000 tf 1 ×1.00, length ×1.00" in text
    assert "neap idf 3.00 0.000 3.000 tf 1 ×1.00, length ×1.00" in text
    assert "score 1.250 5.000" in text
    assert ("href", "obsidian://open?vault=Harbour%20notes&file=Sea%2FNeap_tides.md") in page.attributes


def test_markdown_tells_what_the_winner_had_and_what_one_word_more_would_do(small_report):
    rendered = markdown_report(small_report)
    assert "Sea/B.md at rank 1 scores 5.000: tide 2.000, neap 3.000" in rendered
    assert "with one word more: rank 3 with 'neap' after line 9" in rendered


def test_markdown_callouts_are_those_that_obsidian_and_github_both_know(small_report):
    """GitHub takes a callout only where nothing follows its name on the line."""
    lines = markdown_report(small_report).splitlines()
    callouts = [line for line in lines if line.startswith("> [!")]
    assert callouts == ["> [!note]", "> [!warning]", "> [!important]"]


def test_of_many_words_those_that_weigh_most_are_compared(make_row):
    from vault_eval.diagnosis.misses import Diagnosis
    from vault_eval.index.term_evidence import TermEvidence
    from vault_eval.reports.evidence_findings import word_comparison
    from vault_eval.retrievers.protocol import PageEvidence

    terms = tuple(TermEvidence(f"w{n}", 1, 1, float(n % 7)) for n in range(20))
    found = word_comparison(Diagnosis("A.md", "outranked", "", evidence=PageEvidence(1.0, (), (1, 2), terms)), ())
    # 20 words weigh 0..6, 0..6, 0..5: twelve are kept from the heaviest down, 6 6 5 5 5 4 4 4 3 3 3 and the first 2.
    assert [word.word for word in found.words] == ["w2", "w3", "w4", "w5", "w6", "w10", "w11", "w12", "w13", "w17", "w18", "w19"]
    assert (found.rest, found.most) == (8, 6.0)


def test_ties_tell_what_a_lot_would_have_given(make_row):
    from vault_eval.metrics.ties import TieExpectation
    from vault_eval.reports.document import TieGroup
    from vault_eval.reports.evidence_findings import tie_sentences

    row = make_row("t", "q", ["A.md"], ["B.md"], ties=(TieGroup(10, 9, 12, TieExpectation(0.5, 0.5, 0.05)), TieGroup(1, 1, 2)))
    assert list(tie_sentences(row)) == [
        "ranks 9–12 have equal scores, which straddle place 10: over all their orders recall@10 is 0.500 on average"
    ]


def test_markdown_tables_have_their_columns_whatever_the_text(make_row, make_run, make_report):
    lines = markdown_report(hostile_report(make_row, make_run, make_report)).splitlines()
    columns = None
    for line in lines:
        if not line.startswith("|"):
            columns = None
            continue
        columns = columns or line.count("|")
        assert line.count("|") == columns
        assert line.endswith("|")


def test_markdown_has_the_headings_and_links_of_the_template_only(make_row, make_run, make_report):
    from markdown_it import MarkdownIt

    report = hostile_report(make_row, make_run, make_report)
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown_report(report))
    assert {token.type for token in tokens}.isdisjoint({"html_block", "fence", "code_block", "hr"})
    children = [child for token in tokens if token.type == "inline" for child in token.children]
    assert all(child.attrs["href"].startswith("obsidian://open") for child in children if child.type == "link_open")
    assert {child.content for child in children if child.type == "html_inline"} <= {"<wbr>", "<span>", "</span>"}
    assert {child.type for child in children}.isdisjoint({"image", "code_inline", "em_open", "s_open"})
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings[-1] == "Timing"
    assert len([one for one in headings if "tides" in one]) == 3  # the vault, and each of two runs


def test_markdown_differs_between_two_runs_in_its_last_section_alone(small_report):
    timing = replace(small_report.timing, started="2027-01-01T00:00:00Z", environment={"python": "3.13.0"}, runs=())
    ours, theirs = (markdown_report(one).split("## Timing") for one in (small_report, replace(small_report, timing=timing)))
    assert len(ours) == len(theirs) == 2
    assert ours[0] == theirs[0]
    assert ours[1] != theirs[1]


def large_report(make_row, make_run, make_report, rows=1000):
    from vault_eval.diagnosis.misses import Diagnosis

    def row(number: int):
        gold = f"Archive of the harbour office/Minutes {number}.md"
        found = [f"Projects/Harbour/Notes on subject {(number * 7 + rank) % 5000}.md" for rank in range(10)]
        detail = "it is at rank 14; its best section lacks 'neap', 'height'"
        return make_row(
            f"query-number-{number}",
            f"what was said about the question number {number} last winter",
            [gold],
            found,
            category=f"category {number % 200}",
            diagnosis=(Diagnosis(gold, "outranked", detail, ("neap", "height"), ()),),
        )

    return make_report(
        make_run([row(number) for number in range(rows)]), warnings=tuple(f"warning {n} " * 100 for n in range(100))
    )


def test_a_thousand_queries_fit_a_terminal_and_a_browser(make_row, make_run, make_report):
    report = large_report(make_row, make_run, make_report)
    assert len(text(report)) < TERMINAL_TEXT_MAX_CHARACTERS
    assert "Worst misses (10 of 1000)" in text(report)
    assert "990" not in text(report).split("Worst misses")[0]
    started = time.perf_counter()
    rendered = html_report(report)
    assert time.perf_counter() - started < 2
    assert len(rendered.encode()) < 2_000_000


def test_html_is_bounded_whatever_the_names(make_row, make_run, make_report):
    """Two ways to make a row long: many expected pages with long names, and long queries, both in a script of three bytes."""
    gold = [f"{'潮' * 250}{place}.md" for place in range(64)]
    rows = [make_row(f"{n} {'名' * 300}", "潮の高さ" * 2000, gold, gold[5:15], category="日本語" * 20) for n in range(1000)]
    started = time.perf_counter()
    rendered = html_report(make_report(make_run(rows)))
    assert time.perf_counter() - started < 4
    assert len(rendered.encode()) < 2_000_000
    assert rendered.count("<tbody data-kind") == 1000


def test_long_names_in_any_script_make_no_larger_page(make_row, make_run, make_report):
    found = [f"港の事務所の記録/会議の議事録と決定事項の一覧/{place}番目の長い名前のノート.md" for place in range(10)]
    rows = [make_row(f"{n}", "潮の高さ" * 20, ["潮.md"], found, category="日本語") for n in range(1000)]
    rendered = html_report(make_report(make_run(rows)))
    assert len(rendered.encode()) < 2_000_000
    assert rendered.count("<details>") == 1000
    assert found[2] in rendered


def test_text_is_bounded_whatever_the_report(make_row, make_run, make_report):
    long = "\U000e0041x " * 5000
    rows = [
        make_row(f"{n}{long}", long, [long], [], status="missing-gold", missing={long: long}, category=f"{n}{long}")
        for n in range(300)
    ]
    rows += [make_row(f"s{n}{long}", long, ["A.md"], [], status="skipped", skip_reason=long) for n in range(300)]
    rows += [make_row(f"g{n}{long}", long, [f"{long}{m}" for m in range(64)], [long] * 10, category=long) for n in range(30)]
    report = make_report(*[make_run(rows, name=long)] * 3, vault_name=long, warnings=(long,) * 50, unavailable=(long,) * 50)
    rendered = text_report(report, saved=long)
    assert len(rendered) < TERMINAL_TEXT_MAX_CHARACTERS
    assert rendered.endswith("…\n")  # the path it was saved to, cut: the closing lines are kept
    assert "cut here" in rendered


def test_text_is_wrapped_at_the_width(small_report):
    lines = text_report(small_report, saved=None, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("Saved" in line for line in lines)


def test_text_keeps_columns_straight_with_wide_characters(make_row, make_run, make_report):
    rows = [make_row("a", "q", ["A.md"], ["A.md"], category="潮"), make_row("b", "q", ["A.md"], ["A.md"], category="abcd")]
    lines = text(make_report(make_run(rows))).splitlines()
    wide, narrow = (next(line for line in lines if line.startswith(f"  {name} ")) for name in ("潮", "abcd"))
    assert len(wide) + 1 == len(narrow)  # the wide character takes two columns


def test_the_missing_package_is_named_with_the_command(monkeypatch, small_report):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackageError, match=re.escape("python3 scripts/vault-eval.py doctor --install")):
        html_report(small_report)
