"""What is left to do where little or nothing was missed, and the commands and notes that a newcomer is given."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from vault_eval.cli.labels import add
from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.model import RetrieverDescription
from vault_eval.reports import findings, label_trust, miss_findings
from vault_eval.reports.document import Trust, Unjudged
from vault_eval.reports.html_report import html_report
from vault_eval.reports.markdown_report import markdown_report
from vault_eval.reports.text_report import LEGEND, text_report
from vault_eval.retrievers.protocol import Counterfactual

NOTHING_LEFT = ("nothing was missed: harder questions would show where the limits are",)
LONG = "Sources/Books/个人成长/反脆弱：从不确定性中获益-纳西姆·尼古拉斯·塔勒布 (读书笔记).md"


def text(report, saved=None):
    return text_report(report, saved=saved)


def markdown(report):
    return unescape(markdown_report(report).replace("<wbr>", ""))


def html(report):
    return unescape(re.sub("<[^<>]*>", "", html_report(report)))


each_rendering = pytest.mark.parametrize("render", [text, markdown, html])


@pytest.fixture
def found_at(make_row):
    """A row whose one expected page is found at a rank."""

    def row(name: str, rank: int):
        return make_row(name, name, ["Gold.md"], [*(f"{n}.md" for n in range(1, rank)), "Gold.md"])

    return row


# --- what to do next -----------------------------------------------------------------------------------------------


def test_nothing_is_left_only_where_all_is_among_the_first_five_and_no_negative_found_anything(found_at, make_row, make_run):
    rows = [found_at("a", 1), found_at("b", 5), make_row("n", "q", [], [])]
    assert miss_findings.next_steps(make_run(rows)) == NOTHING_LEFT
    assert len(miss_findings.next_steps(make_run([*rows, found_at("c", 6)]))) == 1
    assert len(miss_findings.next_steps(make_run([*rows, make_row("m", "q", [], ["A.md"])]))) == 1
    assert not set(NOTHING_LEFT) & {
        *miss_findings.next_steps(make_run([*rows, found_at("c", 6), make_row("m", "q", [], ["A.md"])]))
    }


def test_pages_found_below_the_first_five_are_named_lowest_first_three_at_most(found_at, make_run):
    rows = [found_at(name, rank) for name, rank in (("a", 6), ("b", 10), ("c", 5), ("d", 6), ("e", 7), ("f", 6))]
    (step,) = miss_findings.next_steps(make_run(rows))
    assert step.endswith(
        ": 5 queries with an expected page found below the first 5 (b at rank 10, e at rank 7, a at rank 6 and 2 more)"
    )


def test_a_page_below_the_cutoff_is_a_miss_and_not_named_twice(make_row, make_run):
    row = make_row("a", "q", ["A.md", "B.md"], [*(f"{n}.md" for n in range(6)), "A.md", "7.md", "8.md", "9.md", "B.md"])
    row = replace(row, diagnosis=(Diagnosis("B.md", "outranked", "it is at rank 11"),))
    mended, low = miss_findings.next_steps(make_run([row], depth=20))
    assert "1 query (other pages match the query better)" in mended
    assert low.endswith("(a at rank 7)")


def test_a_negative_that_found_something_is_a_step_with_how_well_scores_tell_it_apart(found_at, make_row, make_run):
    rows = [found_at("a", 1), make_row("whales", "q", [], ["A.md"])]
    run = make_run(rows)
    (plain,) = miss_findings.next_steps(replace(run, metrics={**run.metrics, "no_result_auroc": findings._NO_DATA}))
    assert (
        plain == "add what was found to the label, if it does answer: 1 query without an expected page found something (whales)"
    )
    figure = replace(run.metrics["no_result_accuracy"], value=0.9375, status="ok")
    (told,) = miss_findings.next_steps(replace(run, metrics={**run.metrics, "no_result_auroc": figure}))
    assert told.startswith(f"{plain}; if not, ")
    assert "(no-result AUROC 0.938: 1 is wholly, 0.5 not at all)" in told


def test_without_any_scored_query_labels_are_asked_for_and_the_negatives_named(make_row, make_run):
    steps = miss_findings.next_steps(make_run([make_row("n", "q", [], ["A.md"])]))
    assert [step.partition(": ")[0] for step in steps][1:] == ["add what was found to the label, if it does answer"]


def test_a_step_that_quotes_a_note_is_no_markup_in_markdown(make_row, make_run, make_report):
    page = "[x](http://a.b) <b>.md"
    one = Diagnosis(page, "outranked", "it is at rank 14", ("neap",), (), counterfactuals=(Counterfactual("neap", 3, 2.0, 9),))
    rendered = markdown_report(make_report(make_run([make_row("a", "neap", [page], ["B.md"], diagnosis=(one,))])))
    step = rendered.split("## What to do next")[1].split("## ")[0]
    assert "[x](http" not in step
    assert "<b>" not in step
    assert page in unescape(step.replace("<wbr>", ""))


# --- words that are not there --------------------------------------------------------------------------------------


@each_rendering
def test_what_a_note_lacks_is_shown_as_the_query_says_it_and_kept_as_terms_in_the_report(render, make_row, make_run, make_report):
    terms = ("飞", "美", "国", "飞美", "美国", "飞美国", "lag")
    one = Diagnosis("A.md", "outranked", "it is at rank 14", terms, terms[:2])
    rendered = render(make_report(make_run([make_row("a", "飞美国 lag", ["A.md"], ["B.md"], diagnosis=(one,))])))
    if render is not text:  # whose one line on a miss is the cause
        assert "words that are not there: 飞美国, lag; in no note at all: 飞美" in rendered
    assert "美国," not in rendered.replace("飞美国,", "")


def test_a_word_that_would_not_bring_a_page_among_the_first_ten_is_said_not_to():
    from vault_eval.reports.evidence_findings import with_words

    def words(*ranks: int):
        return with_words(
            Diagnosis("A.md", "outranked", "", counterfactuals=tuple(Counterfactual("lag", rank, 1.0, 9) for rank in ranks))
        )

    assert words(20, 11) == (
        "with one word more: rank 11 with 'lag' after line 9, rank 20 with 'lag' after line 9; still not among the first 10"
    )
    assert "still" not in words(20, 10)


# --- pages that nobody judged --------------------------------------------------------------------------------------


def unjudged(run, *named: tuple[str, str], number=None):
    return replace(run, trust=Trust({}, tuple(Unjudged(name, (page, "Z.md")) for name, page in named), number or len(named)))


@pytest.mark.parametrize(
    ("name", "page"),
    [("phone-addiction", LONG), ("it's", 'It\'s $HOME `x` "y".md'), ("-a", "-b.md"), ("a=b", "C# tips=1.md"), ("老", "- 老.md")],
)
def test_the_command_that_judges_a_page_can_be_pasted(name, page, make_row, make_run, make_report):
    report = make_report(unjudged(make_run([make_row("a", "q", ["A.md"], ["A.md"])]), (name, page)))
    (command,) = label_trust.to_judge(report).commands
    assert command.startswith("python3 scripts/vault-eval.py labels add --vault DIR ")
    options = add.parser().parse_args(shlex.split(command)[4:])
    assert (options.id, options.grade) == (name, [f"{page}=0"])


@each_rendering
def test_the_command_is_whole_in_every_rendering(render, make_row, make_run, make_report):
    report = make_report(unjudged(make_run([make_row("a", "q", ["A.md"], ["A.md"])]), ("phone-addiction", LONG)))
    assert "label me" in render(report)
    assert f"labels add --vault DIR --id phone-addiction --grade '{LONG}=0'" in render(report)


@each_rendering
def test_few_commands_are_shown_and_the_rest_is_counted(render, make_row, make_run, make_report):
    pages = [(f"q{n}", f"{n}.md") for n in range(20)]
    rendered = render(make_report(unjudged(make_run([make_row("a", "q", ["A.md"], ["A.md"])]), *pages, number=31)))
    shown = 3 if render is text else 10
    assert rendered.count("--grade ") == shown
    assert f"and {31 - shown} " in rendered


def test_a_page_cannot_act_through_its_command(make_row, make_run, make_report):
    hostile = "a\x1b[2J\n\u202eb <script>.md"
    report = make_report(unjudged(make_run([make_row("a", "q", ["A.md"], ["A.md"])]), ("a", hostile)))
    assert r"a\x1b[2J\n\u202eb <script>.md=0" in text(report)
    assert "<script>" not in markdown_report(report)
    assert html_report(report).count("<script>") == 1


# --- what figures and runs are -------------------------------------------------------------------------------------


HASHED = "hashed words, no meaning: it checks the plumbing"


@each_rendering
@pytest.mark.parametrize("setting", ["model", "rerank_model"])
def test_hashed_words_are_said_to_know_no_meaning(render, setting, make_row, make_run, make_report):
    rows = [make_row("a", "q", ["A.md"], ["A.md"])]
    hashed = make_run(rows, name="vector", retriever=RetrieverDescription("vector", {setting: "hash", "dims": 4096}))
    other = make_run(rows, name="meaning", retriever=RetrieverDescription("meaning", {setting: "wordllama"}))
    assert HASHED in render(make_report(hashed))
    assert HASHED not in render(make_report(other))
    several = render(make_report(other, hashed))
    assert f"vector: {HASHED}" in several
    assert f"meaning, vector: {HASHED}" not in several


@each_rendering
def test_several_runs_point_to_the_command_that_has_the_verdict(render, make_row, make_run, make_report):
    run = make_run([make_row("a", "q", ["A.md"], ["A.md"])])
    assert "python3 scripts/vault-eval.py compare FOLDER" in render(make_report(run, run))
    assert "compare FOLDER" not in render(make_report(run))


def test_the_verdict_is_asked_of_the_saved_report_where_it_is_known_and_can_be_read_again(make_row, make_run, make_report):
    run = make_run([make_row("a", "q", ["A.md"], ["A.md"])])
    report = make_report(run, run)
    assert "compare '/my reports/2026'\n" in text(report, "/my reports/2026")
    assert "compare out.json\n" in text(report, "out.json")
    assert "compare FOLDER" in text(report, "out.md")
    assert "compare FOLDER" in text(report, "out.HTML")


@each_rendering
def test_a_category_of_negatives_alone_shows_how_many_came_back_empty(render, make_row, make_run, make_report):
    rows = [make_row("a", "q", ["A.md"], ["A.md"], category="plain")]
    rows += [make_row(f"n{place}", "q", [], ["B.md"] * place, category="unanswerable") for place in range(2)]
    run = make_run(rows)
    group = next(one for one in findings.categories(run) if one.name == "unanswerable")
    assert (group.values, group.n) == (("no-result accuracy 0.500", "–"), "2")
    assert "no-result accuracy 0.500" in " ".join(render(make_report(run)).split("By category")[1].split())


def test_a_category_with_no_answered_query_still_has_no_data(make_row, make_run):
    rows = [make_row("a", "q", ["A.md"], ["A.md"], category="plain")]
    rows.append(make_row("e", "q", ["A.md"], [], status="error", error="it timed out", category="broken"))
    group = next(one for one in findings.categories(make_run(rows)) if one.name == "broken")
    assert (group.values, group.n) == (("no data", "no data"), "0")


def test_the_readme_explains_figures_where_the_report_says_so():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (title,) = re.findall("“(.*)”", LEGEND[-1])
    assert f"\n## {title}\n" in readme
