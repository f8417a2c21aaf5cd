"""What is said of one query, as text and as Markdown."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.diagnosis.query_terms import QueryTerms
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.limits import TERMINAL_TEXT_MAX_CHARACTERS
from vault_eval.model import RankedPage
from vault_eval.reports.document import TieGroup
from vault_eval.reports.query_text import query_markdown, query_text
from vault_eval.reports.text_layout import display_width
from vault_eval.retrievers.protocol import PageEvidence

GOLDEN = Path(__file__).parent / "golden"
# Set to rewrite the golden files; then read the difference before keeping it.
REGENERATE = "VAULT_EVAL_REGENERATE_GOLDEN"
COMMAND = "python3 vault-eval.py retrieve --vault VAULT --explain -- tide"
RENDERINGS = {"query.txt": query_text, "query.md": query_markdown}
each_rendering = pytest.mark.parametrize("render", RENDERINGS.values(), ids=RENDERINGS)
HOSTILE = "tide \x1b[2J\x1b]0;title\x07 \u202eleft </b> [x](javascript:alert(1)) | `a` \n# heading"


def said(render, report, name, explain=None):
    """What is said of the query of this id, its white space folded: a claim is about words, not about where a line ends."""
    row = next(row for row in report.runs[0].rows if row.id == name)
    return " ".join(render(report, report.runs[0], row, explain=explain).split())


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_missed_query_is_rendered_as_agreed(name, small_report):
    row = next(row for row in small_report.runs[0].rows if row.id == "neap")
    rendered = RENDERINGS[name](small_report, small_report.runs[0], row, explain=COMMAND)
    path = GOLDEN / name
    if os.environ.get(REGENERATE):
        path.write_text(rendered, encoding="utf-8", newline="\n")
    assert rendered == path.read_text(encoding="utf-8")


@each_rendering
def test_a_miss_is_told_with_its_cause_its_remedy_and_what_came_instead(render, small_report):
    told = said(render, small_report, "neap", COMMAND)
    for words in (
        "Sea/Neap",
        "not found",
        "other pages match the query better: it is at rank 14; its best section lacks 'neap'",
        "make the note say more of what it is about, or judge the winner",
        "its best section (lines 3–9, Tides › Spring) scores 1.250: tide 1.250",
        "words that are not there: neap",
        "with one word more: rank 3 with 'neap' after line 9",
        "holds tide, neap",  # the winner
        "category other words",
    ):
        assert words in told, words
    # What the words add: tide 1.25 here and 2 at rank 1, neap 0 and 3; 1.25 = 1.25 + 0 and 5 = 2 + 3.
    cells = told.replace("| ", "")
    for line in ("tide idf 2.00 1.250 2.000", "neap idf 3.00 0.000 3.000"):
        assert line in cells
    assert re.search(r"score \s*1\.250 5\.000", cells)
    assert "retrieve" not in told  # the words are told: no command is needed


@each_rendering
def test_a_query_found_low_shows_what_stands_above_and_the_command_that_tells_why(render, make_row, make_run, make_report):
    row = make_row("low", "tide", ["D.md"], ["A.md", "B.md", "C.md", "D.md"], terms=QueryTerms("literal"))
    told = said(render, make_report(make_run([row])), "low", COMMAND)
    assert "found" in told
    assert "RR 0.250" in told  # 1 / 4
    assert "rank 4" in told
    assert re.search(r"4\. \S*D\.md\S* · expected · score 8\.000 · Tides › Part 4", told)  # 12 - 4
    assert "every word of the query stands in the best section of an expected page" in told
    assert told.endswith(COMMAND)


@each_rendering
def test_a_negative_that_found_something_shows_what(render, make_row, make_run, make_report):
    row = make_row("none", "whales", [], ["A.md"], terms=QueryTerms(None, 0.174))
    told = said(render, make_report(make_run([row])), "none", COMMAND)
    assert "found something, should not have" in told
    assert re.search(r"1\. \S*A\.md\S* · score 11\.000", told)
    assert "the page at rank 1 holds 17 % of the query" in told
    assert told.endswith(COMMAND)


@each_rendering
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no-whales", "found nothing, as it should"),
        ("gone", "does not exist"),
        ("later", "not written yet"),
        ("first-tide", "rank 1"),
    ],
)
def test_every_kind_of_row_is_told(render, name, words, small_report):
    assert words in said(render, small_report, name)


@each_rendering
def test_what_decided_the_ranking_besides_scores_is_told(render, make_row, make_run, make_report):
    row = make_row(
        "q",
        "tide",
        ["A.md"],
        ["B.md"],
        stale_chunks=2,
        stale_pages=("A.md",),
        pool_exhausted=True,
        label_hits_removed=1,
        outside_vault=3,
        ties=(TieGroup(10, 9, 12),),
    )
    told = said(render, make_report(make_run([row])), "q")
    for words in (
        "2 chunks left out, since the page changed after it was indexed; run index again: A.md",
        "candidates ran out before 10 pages were found",
        "1 hit on a label note taken out",
        "3 answers left out",
        "ranks 9–12 have equal scores, which straddle place 10",
    ):
        assert words in told, words


@each_rendering
def test_the_first_ten_of_a_longer_ranking_are_shown(render, make_row, make_run, make_report):
    row = make_row("q", "tide", ["P01.md"], [f"P{number:02}.md" for number in range(1, 21)])
    told = said(render, make_report(make_run([row])), "q")
    assert "Ranking: the first 10 of 20" in told
    assert "P10.md" in told
    assert "P11.md" not in told


@each_rendering
def test_the_other_runs_are_named(render, make_row, make_run, make_report):
    rows = [make_row("q", "tide", ["A.md"], ["B.md"])]
    report = make_report(make_run(rows), make_run(rows, name="title"))
    told = said(render, report, "q")
    assert "run keyword, depth 10 (--run shows another: 'title')" in told


def hostile_row(make_row, size):
    terms = tuple(TermEvidence(f"{number} {HOSTILE}" * size, 1, 1, 1.0, 1.0, 1.0, 1.0) for number in range(40))
    pages = [f"{number} {HOSTILE * size}.md" for number in range(64)]
    evidence = PageEvidence(40.0, (HOSTILE * size,) * 9, (1, 2), terms)
    missed = [
        Diagnosis(page, "outranked", HOSTILE * size, (HOSTILE * size,) * 40, (HOSTILE * size,) * 40, evidence) for page in pages
    ]
    row = make_row(HOSTILE * size, HOSTILE * size, pages, [f"Y {HOSTILE}.md"], category=HOSTILE * size, diagnosis=tuple(missed))
    return replace(row, ranking=(RankedPage(1, f"Y {HOSTILE * size}.md", None, (HOSTILE * size,) * 9, (1, 2)),))


@each_rendering
@pytest.mark.parametrize("size", [1, 500])
def test_hostile_text_is_shown_and_never_acts_and_is_bounded(render, size, make_row, make_run, make_report):
    row = hostile_row(make_row, size)
    report = make_report(make_run([row], name=HOSTILE * size), vault_name=HOSTILE)
    rendered = render(report, report.runs[0], row, explain=f"python3 {HOSTILE}")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", rendered)
    assert "\n# heading" not in rendered
    assert "u202eleft" in rendered
    if render is query_text:
        assert len(rendered) < TERMINAL_TEXT_MAX_CHARACTERS
    else:
        markup, code = rendered.rsplit("\n\n    python3 ", 1)  # what is in a block of code is shown as it is
        assert code.count("\n") == 1
        assert "</b>" not in markup
        assert "](javascript" not in markup


def test_lines_are_as_wide_as_is_asked(small_report):
    run = small_report.runs[0]
    for row in run.rows:
        lines = query_text(small_report, run, row, explain=None, width=60).splitlines()
        assert max(map(display_width, lines)) <= 60
