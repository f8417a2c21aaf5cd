"""What holds for a comparison in text, Markdown, HTML and JSON alike, and what each must keep."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from vault_eval.comparison.compare import compare
from vault_eval.comparison.records import CategoryChange, ComparedQuery, Side
from vault_eval.limits import TERMINAL_TEXT_MAX_CHARACTERS
from vault_eval.model import RetrieverDescription
from vault_eval.reports import comparison_plots
from vault_eval.reports.compared import sides
from vault_eval.reports.comparison_html import comparison_html
from vault_eval.reports.comparison_json import comparison_json
from vault_eval.reports.comparison_markdown import comparison_markdown
from vault_eval.reports.comparison_sentences import signed
from vault_eval.reports.comparison_text import comparison_text
from vault_eval.reports.document import Report

GOLDEN = Path(__file__).parent / "golden"
# Set to rewrite the golden files; then read the difference before keeping it.
REGENERATE = "VAULT_EVAL_REGENERATE_GOLDEN"
RENDERINGS = {
    "comparison.txt": comparison_text,
    "comparison.md": comparison_markdown,
    "comparison.html": comparison_html,
    "comparison.json": comparison_json,
}
FOR_PEOPLE = {name: render for name, render in RENDERINGS.items() if render is not comparison_json}
each_for_people = pytest.mark.parametrize("render", FOR_PEOPLE.values(), ids=FOR_PEOPLE)
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1)) | ![](http://e.example/x)",
    '"><svg onload=alert(1)>',
    "line one\n# heading\r> [!danger] x",
    "\u202eright to left",
    "{{x}} {% raw %} ${y} %s",
    "\x1b[2J\x1b]0;title\x07",
    "\ud83d half",
)


class Page(HTMLParser):
    """Every element, attribute and text of a document."""

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


def plain(rendered):
    """What a person reads of a rendering, white space folded."""
    if rendered.startswith("<!DOCTYPE"):
        rendered = "".join(Page(re.sub("<style>.*?</style>", "", rendered, flags=re.DOTALL)).texts)
    return " ".join(rendered.replace("&#64;<wbr>", "@").split())


def one_against(before, *after: Report):
    return compare(sides(before)[0], [side for report in after for side in sides(report)])


@pytest.fixture
def pair(make_side):
    return one_against(make_side(0), make_side(1))


@pytest.fixture
def hostile(make_row, make_run, make_report):
    def report(place):
        ranking = [[f"{text} gold.md", f"{text} other.md"][:: 1 - 2 * place] for text in HOSTILE]
        rows = [
            make_row(f"{text} id", f"{text} query", [f"{text} gold.md"], pages, category=text)
            for text, pages in zip(HOSTILE, ranking, strict=True)
        ]
        rows += [make_row(f"{text} failed", text, [text], [], status="skipped", skip_reason=text) for text in HOSTILE]
        name = RetrieverDescription(" ".join(HOSTILE), {text: f"{text}{place}" for text in HOSTILE})
        return make_report(make_run(rows, retriever=name), vault_name=" ".join(HOSTILE), snapshot_sha256=str(place))

    return one_against(report(0), report(1), report(1))


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_small_comparison_is_rendered_as_agreed(name, pair):
    rendered = RENDERINGS[name](pair)
    path = GOLDEN / name
    if os.environ.get(REGENERATE):
        path.write_text(rendered, encoding="utf-8", newline="\n")
    assert rendered == path.read_text(encoding="utf-8")


@each_for_people
def test_every_rendering_tells_the_same_story(render, pair):
    """Mean RR before: (1/3 + 0 + 1/2 + 1/5 + 1/4 + 1 + 1 + 1 + 1/2) / 9 = .5315, after: (1 + 1/2 + 1 * 5 + 1/2 + 1/4) / 9 = .8056."""
    rendered = plain(render(pair)).lower()
    for said in (
        "harbour notes",
        "2026-03-01 09:30 utc",
        "k1 1.5 → 0.5",
        "mrr@10 +0.274",
        "0.531 → 0.806 over 9 queries",
        "5 better, 2 worse, 2 the same",
        "history fell (-0.375, n 2) while mrr@10 rose over all",
        "none → 2",
        "2 → 4",
        "wins needed",
        "minimum detectable effect",
        pair[0].verdict.word,
        *(reason.lower() for reason in pair[0].verdict.reasons),
        "missing gold",
        "they do not show",
    ):
        assert said in rendered, said


@each_for_people
def test_the_effect_comes_first_and_p_after_what_could_be_seen(render, pair):
    rendered = plain(render(pair)).lower()
    order = [pair[0].verdict.word, "mrr@10 +0.274", "wins needed", "minimum detectable effect", "sign-flip"]
    places = [rendered.index(said) for said in order]
    assert places == sorted(places)


@each_for_people
def test_several_candidates_are_listed_first_and_share_one_family(render, make_side):
    compared = one_against(make_side(0), make_side(1), make_side(0))
    rendered = plain(render(compared))
    assert "identical" in rendered
    assert "Holm over 2 candidates" in rendered
    assert render(one_against(make_side(0), make_side(1))).count("Holm") == 0


@each_for_people
def test_candidates_of_one_spec_are_told_apart_by_their_time(render, make_side):
    later = replace(make_side(0), timing=replace(make_side(0).timing, started="2026-03-03T10:00:00Z"))
    listed = plain(render(one_against(make_side(0), make_side(1), later)))
    for shown in ("keyword · 2026-03-02 09:30 UTC", "keyword · 2026-03-03 10:00 UTC"):
        assert shown in listed.partition("identical")[0]


@each_for_people
def test_queries_of_one_page_are_said_to_count_less(render, make_row, make_run, make_report, pair):
    """Eight of nine expect the hub: 81 / 65, about 1."""

    def report(pages):
        rows = [make_row(f"h{n}", "q", ["Hub.md"], pages) for n in range(8)]
        return make_report(make_run([*rows, make_row("a", "q", ["A.md"], ["A.md"])]))

    rendered = plain(render(one_against(report(["X.md", "Hub.md"]), report(["Hub.md"]))))
    assert "beside 0 losses it takes 6 on pages of their own to tell them from chance; found: 8" in rendered
    assert (
        "none, with 9 queries, which count as about 1 since some expect the same page, even a difference of 1 would often be missed"
        in rendered
    )
    assert not re.search("pages of their own|count as", plain(render(pair)))


@each_for_people
def test_what_wins_are_enough_is_said_with_its_condition_and_left_out_of_json_where_there_is_one(render, pair, make_side):
    """RR: 5 wins and 2 losses of other sizes. hit@1 has 0s and 1s alone: tide, berth, lock and pilot won, logbook lost."""
    assert "beside 2 losses it takes 10 of equal size to tell them from chance; found: 5" in plain(render(pair))
    hits = compare(sides(make_side(0))[0], sides(make_side(1)), primary="hit@1")
    assert "beside 1 loss it takes 8 to tell them from chance; found: 4" in plain(render(hits))
    metrics = json.loads(comparison_json(pair))["metrics"]
    assert (metrics["mrr@10"]["wins_needed"], metrics["hit@1"]["wins_needed"]) == (None, 8)


@each_for_people
def test_a_single_category_is_not_set_beside_the_whole(render, pair):
    (found,) = pair
    assert "not tested" in plain(render(pair))
    assert "not tested" not in plain(render([replace(found, categories=found.categories[:1])]))


@each_for_people
def test_of_many_categories_that_fell_the_weightiest_are_named(render, make_side):
    (found,) = one_against(make_side(0), make_side(1))
    fallen = [CategoryChange(f"c{n}", 1 + n % 8, -0.1, 0, 1, against=True) for n in range(8)]
    rendered = plain(render([replace(found, categories=tuple(fallen))]))
    assert re.findall(r"c\d fell", rendered) == ["c7 fell", "c6 fell", "c5 fell", "c4 fell", "c3 fell"]
    assert "so did 3 more categories" in rendered


@each_for_people
def test_a_comparison_with_itself_claims_nothing(render, make_side):
    rendered = plain(render(one_against(make_side(0), make_side(0))))
    assert "identical" in rendered.lower()
    assert "0 better, 0 worse" in rendered
    assert not re.search("wins needed|sign-flip|Better", rendered)


@each_for_people
def test_changed_pages_are_named(render, make_side):
    after = make_side(1, snapshot_sha256="f" * 64, page_digests={"A.md": "1", "B.md": "2"})
    before = make_side(0, page_digests={"A.md": "1", "B.md": "3", "C.md": "4"})
    assert "confounded: 2 pages changed: B.md, C.md" in plain(render(one_against(before, after)))


@each_for_people
def test_a_refused_comparison_has_no_figure(render, make_side, make_run):
    before = make_side(0)
    deeper = replace(before, runs=(replace(before.runs[0], depth=20),))
    rendered = plain(render(one_against(before, deeper)))
    assert "not comparable: the depth differs" in rendered
    assert not re.search(r"MRR@10 [+-]?\d|0\.531", rendered)


@each_for_people
def test_beside_a_searcher_that_failed_there_is_no_figure(render, make_side):
    after = make_side(1)
    rows = (replace(after.runs[0].rows[0], status="error", error="it timed out", ranking=()), *after.runs[0].rows[1:])
    rendered = plain(render(one_against(make_side(0), replace(after, runs=(replace(after.runs[0], rows=rows),)))))
    assert "not comparable" in rendered.lower()
    assert "the candidate failed on 1 of 11 queries" in rendered
    assert "it timed out" in rendered
    assert not re.search(r"MRR@10|0\.531|wins needed|sign-flip", rendered)


@each_for_people
def test_text_of_a_vault_cannot_act(render, hostile):
    rendered = render(hostile)
    rendered.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", rendered)
    assert r"\u202eright to left" in rendered.replace("&#92;", "\\")
    if render is comparison_markdown:
        assert not re.search(r"<script|<img|\]\(javascript|^# heading|^> \[!danger", rendered, re.MULTILINE)


def test_html_of_hostile_text_has_no_script_no_handler_and_no_foreign_link(hostile):
    page = Page(comparison_html(hostile))
    assert not {"script", "img", "iframe", "object", "form", "link"} & set(page.elements)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]
    links = [value for name, value in page.attributes if name in ("href", "src", "action") and not value.startswith("#")]
    assert links
    assert all(link.startswith("obsidian://open?vault=") for link in links)
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_json_holds_text_as_it_is(hostile):
    (found, _) = json.loads(comparison_json(hostile))["comparisons"]
    assert found["same"] == []
    assert [one["query"] for one in found["worse"]] == [f"{text} query" for text in HOSTILE]
    assert comparison_json(hostile, ascii_only=True).isascii()


def test_json_has_the_keys_that_others_rely_on(pair):
    found = json.loads(comparison_json(pair))
    assert found["schema"] == "vault-eval.comparison.v1"
    assert {"baseline", "candidate", "verdict", "reasons", "metrics", "better", "worse", "same", "unpaired"} <= found.keys()
    primary = found["metrics"]["mrr@10"]
    assert {"delta", "n", "p", "p_adjusted", "interval"} <= primary.keys()
    assert [one["id"] for one in found["better"]] == ["tide", "neap", "berth", "lock", "pilot"]
    assert [one["id"] for one in found["worse"]] == ["logbook", "charter"]
    assert [one["id"] for one in found["same"]] == ["mast", "sail", "whales"]
    assert [one["id"] for one in found["unpaired"]] == ["keys"]
    assert found["worse"][0]["baseline"]["ranking"][0] == found["worse"][0]["candidate"]["ranking"][1] == "logbook.md"
    assert found["verdict"] == pair[0].verdict.word
    assert next(iter(found["metrics"])) == "mrr@10"


def test_several_comparisons_are_one_document(make_side):
    found = json.loads(comparison_json(one_against(make_side(0), make_side(1), make_side(0))))
    assert found["schema"] == "vault-eval.comparisons.v1"
    assert [one["verdict"] for one in found["comparisons"]][1] == "identical"


@pytest.fixture(scope="module")
def large():
    def side(place):
        queries = [
            ComparedQuery(
                f"q{n:03}",
                "what " * 200,
                (f"Gold {n}.md",),
                "scored",
                {"mrr@10": [1.0, 0.5][(n + place) % 2]},
                tuple([f"Gold {n}.md", *(f"{'Folder/' * 20}{other}.md" for other in range(20))][:: 1 - 2 * ((n + place) % 2)]),
                category=f"c{n % 90}",
            )
            for n in range(500)
        ]
        return Side("keyword", {}, tuple(queries), (), 10, "Harbour notes", str(place))

    return compare(side(0), [side(1)])


@each_for_people
def test_a_large_comparison_stays_readable(render, large):
    rendered = render(large)
    assert len(rendered) < {comparison_text: TERMINAL_TEXT_MAX_CHARACTERS, comparison_markdown: 60_000}.get(render, 2_000_000)
    assert "They do not show" in plain(rendered)


def test_several_candidates_share_the_queries_that_a_terminal_shows(large):
    shown = [comparison_text([*large] * number).count("first expected page") for number in (1, 2, 5)]
    # Ten that are better and ten that are worse; five of each for each of two; at least three of each for each of five.
    assert shown == [20, 20, 30]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0.000"), (0.25, "+0.250"), (-0.1, "-0.100"), (0.0004, "+0.0004"), (3e-17, "0.000"), (-0.0005, "-0.001")],
)
def test_a_difference_has_its_sign_and_never_looks_like_none(value, text):
    assert signed(value) == text


def test_bars_stand_from_most_gained_to_most_lost(pair):
    """Largest gain: tide 1 - 1/3 = .667; largest loss: logbook 1/2 - 1 = -.5. A whole difference is 104 high."""
    bars = comparison_plots.difference_bars(pair[0].changes)
    assert (bars[0].id, bars[0].outcome, bars[-1].id, bars[-1].outcome) == ("lock", "better", "logbook", "worse")
    assert bars[0].height == pytest.approx(0.8 * 104, abs=0.11)
    assert bars[0].y + bars[0].height == pytest.approx(comparison_plots.BARS_MIDDLE, abs=0.11)
    assert bars[-1].y == comparison_plots.BARS_MIDDLE
    assert len(bars) == 7


def test_of_more_bars_than_fit_losses_are_kept_as_gains_are(large):
    bars = comparison_plots.difference_bars(large[0].changes)
    assert [bar.outcome for bar in bars] == ["better"] * 60 + ["worse"] * 60


def test_slopes_gather_the_queries_that_took_one_way(pair):
    lines = {(line.before, line.after): line for line in comparison_plots.slope_lines(pair[0].changes)}
    assert lines["1", "1"].queries == 2
    assert lines["not in 10", "2"].queries == 1
    assert sum(line.queries for line in lines.values()) == 9
    assert lines["1", "1"].y1 == lines["1", "1"].y2 == comparison_plots.SLOPE_TOP
    assert lines["1", "2"].outcome == "worse"
    assert lines["1", "1"].width == comparison_plots.LINE_MAX_WIDTH
