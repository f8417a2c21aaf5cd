"""Lines of notes: which are shown, that they are shown as text, and that they stand in report.html and nowhere else."""

from __future__ import annotations

import re
import stat
import time
from dataclasses import replace

import pytest

from vault_eval.cli import main
from vault_eval.diagnosis.misses import Diagnosis, Rival
from vault_eval.evaluation import clock, evaluate
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.reports.html_report import html_report
from vault_eval.reports.json_report import report_text
from vault_eval.reports.markdown_report import markdown_report
from vault_eval.reports.save import save_report
from vault_eval.reports.saved_report import read_report
from vault_eval.reports.snippets import SNIPPET_MAX_CHARACTERS, in_reading_order, snippets_of
from vault_eval.reports.text_report import text_report
from vault_eval.request import Request
from vault_eval.retrievers.protocol import PageEvidence
from vault_eval.vault.note_text import decode

GOLD, WINNER = "Sea/Gold.md", "Sea/Winner.md"


def evidence(lines, **idf):
    """The best chunk at these lines, with query terms and how rare each is."""
    return PageEvidence(1.0, (), lines, tuple(TermEvidence(term, 1, 1, 1.0, rare, 1.0, 1.0) for term, rare in idf.items()))


@pytest.fixture
def shown(make_row, make_run):
    """`shown(query, text, lines, term=idf, …)`: the snippet of a missed page as (number, text with [words] marked)."""

    def show(query, text, lines=None, moved=(), stem=None, **idf):
        told = evidence(lines, **idf) if lines else None
        row = make_row("a", query, [GOLD], [], diagnosis=(Diagnosis(GOLD, "outranked", "", evidence=told),))
        run = make_run([row])
        run = replace(run, retriever=replace(run.retriever, settings={"stem": stem}))
        snippet = snippets_of(run, {GOLD: text}.get, moved).get(("a", GOLD), ())
        lines = in_reading_order(snippet, SNIPPET_MAX_CHARACTERS)
        return [(line.number, "".join(f"[{one.text}]" if one.is_asked else one.text for one in line.parts)) for line in lines]

    return show


def test_the_lines_in_which_words_of_the_query_stand_are_shown_with_their_numbers(shown):
    text = "# Tides\n\nThe moon pulls.\n\nHigh water comes twice, high as the quay.\nNothing here.\n\tlow WATER  \n"
    assert shown("high water", text, (1, 7)) == [(5, "[High] [water] comes twice, [high] as the quay."), (7, "low [WATER]")]


def test_only_the_best_section_is_looked_at(shown):
    assert shown("water", "water\n# A\nwater here\n# B\nwater\n", (2, 3)) == [(3, "[water] here")]


def test_lines_with_rare_words_come_before_lines_with_common_ones(shown):
    """`the` weighs .1, `neap` 5: of 20 lines with `the` and one with `neap` the latter is there, and what room is left is filled."""
    text = "\n".join([*("the " + "x" * 96 for _ in range(20)), "a neap tide"])
    found = shown("the neap", text, (1, 21), the=0.1, neap=5.0)
    assert [number for number, _ in found] == [1, 2, 21]  # 11 + 100 + 100 characters; a third hundred would pass 300
    assert found[-1] == (21, "a [neap] tide")


def test_the_whole_note_below_its_properties_is_looked_through_where_the_section_is_not_known(shown):
    text = "---\nanswers: [where is water]\n---\nno\nwater\n"
    assert shown("water", text) == [(5, "[water]")]
    assert shown("water", text, (4, 4), moved={GOLD}) == [(5, "[water]")]


def test_the_first_lines_are_shown_where_no_word_stands(shown):
    assert shown("whales", "\n# Tides\n\nThe moon pulls.\n", (2, 4)) == [(2, "# Tides"), (4, "The moon pulls.")]


def test_a_long_line_is_cut_around_its_rarest_word(shown):
    line = "the " * 500 + "neap " + "x " * 500
    ((number, text),) = shown("the neap", line, (1, 1), the=0.1, neap=5.0)
    assert number == 1
    assert text.startswith("…")
    assert text.endswith("…")
    assert "[neap]" in text
    assert len(text.replace("[", "").replace("]", "")) == 182  # 180 characters and two ellipses
    assert shown("first", "first " + "x" * 500, (1, 1))[0][1].startswith("[first] x")


def test_a_pasted_file_is_not_looked_through_to_its_end_and_data_are_no_text(shown):
    started = time.process_time()
    assert shown("neap", "x" * 5_000_000 + " neap", (1, 1))[0][1] == "x" * 180 + "…"
    assert time.process_time() - started < 1
    assert shown("a", "![pic](data:image/png;base64,a+a+a)\nthe end a\n", (1, 2)) == [(2, "the end [a]")]
    assert shown("a", "", (1, 1)) == shown("a", " \n\t\n") == shown("a", "short", (7, 9)) == []


@pytest.mark.parametrize(
    ("query", "line", "expected"),
    [
        ("备份数据", "如何备份我的数据，数", "如何[备份]我的[数据]，数"),
        ("份", "备份", "备[份]"),
        ("backup plan", "my-backup.md: planB and PLANS", "my-[backup].md: [planB] and PLANS"),
        ("v2.0", "since v2.0 and v2", "since [v2].[0] and [v2]"),
        ("straße", "STRASSE, Stra\u00adße", "[STRASSE], [Stra\u00adße]"),
        ("हिन्दी", "यह हिन्दी है", "यह [हिन्दी] है"),
        ("don't", "I don’t", "I [don]’[t]"),
    ],
)
def test_words_are_marked_as_the_index_takes_them(shown, query, line, expected):
    assert shown(query, line, (1, 1)) == [(1, expected)]


def test_words_are_stemmed_where_the_index_is(shown):
    pytest.importorskip("snowballstemmer")
    assert shown("tides", "a tide", (1, 1), stem="english") == [(1, "a [tide]")]
    assert shown("tides", "a tide", (1, 1)) == [(1, "a tide")]


def test_the_pages_that_came_before_are_shown_too_and_missing_or_unreadable_ones_are_not(make_row, make_run):
    won = (Rival(1, WINNER, evidence((2, 2), water=1.0)),)
    rows = [
        make_row("a", "water", [GOLD], [WINNER], diagnosis=(Diagnosis(GOLD, "outranked", "", rivals=won),)),
        make_row("b", "water", [GOLD], ["Other.md"], diagnosis=(Diagnosis(GOLD, "unexplained", ""),)),
        make_row(
            "c",
            "water",
            ["Gone.md"],
            [],
            status="missing-gold",
            missing={"Gone.md": ""},
            diagnosis=(Diagnosis("Gone.md", "label_invalid", ""),),
        ),
        make_row("d", "water", [WINNER], [WINNER]),
        make_row("e", "water", ["Unreadable.md"], ["Unread too.md"], diagnosis=(Diagnosis("Unreadable.md", "not_indexed", ""),)),
    ]
    texts = {GOLD: "gold water", WINNER: "water 1\nwater 2", "Other.md": "other water", "Gone.md": "water"}
    asked = []
    found = snippets_of(make_run(rows), lambda page: asked.append(page) or texts.get(page))
    assert {place: [line.number for line in lines] for place, lines in found.items()} == {
        ("a", GOLD): [1],
        ("a", WINNER): [2],
        ("b", GOLD): [1],
        ("b", "Other.md"): [1],
    }
    assert sorted(asked) == sorted(set(asked))  # each page is read once


HOSTILE = (
    "water </script><script>alert(1)</script>",
    'water <img src=x onerror="alert(1)"> <mark>',
    "water [x](javascript:alert(1)) {{x}} {% raw %}",
    "water \u202eright to left\u2066 \x1b[2J \x00 \ud83d",
    "</td></tr></table></details> water",
)


def hostile_case(make_row, make_run, make_report):
    row = make_row("a", "water", [GOLD], [WINNER], diagnosis=(Diagnosis(GOLD, "outranked", ""),))
    report = make_report(make_run([row]))
    texts = {GOLD: "\n".join(HOSTILE[:3]), WINNER: "\n".join(HOSTILE[3:])}
    return report, snippets_of(report.runs[0], texts.get)


def test_text_of_notes_is_shown_as_text(make_row, make_run, make_report):
    report, snippets = hostile_case(make_row, make_run, make_report)
    page = html_report(report, snippets)
    (own, rival) = re.findall(r'<table class="source">.*?</table>', page, flags=re.DOTALL)
    allowed = {"table", "caption", "tbody", "tr", "th", "td", "bdi", "mark"}
    assert set(re.findall(r"</?(\w+)", own + rival)) == allowed
    for piece in ("&lt;/script&gt;", "&lt;img src=x onerror=&#34;alert(1)&#34;&gt; &lt;mark&gt;", "{{x}} {% raw %}"):
        assert piece in own
    for piece in (r"\u202eright to left\u2066 \x1b[2J \x00 \ud83d", "&lt;/td&gt;&lt;/tr&gt;"):
        assert piece in rival
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\u2066]", page)
    assert own.count("<mark>water</mark>") == 3
    assert "lines of rank 1: Sea/Winner.md" in rival


def test_a_report_without_lines_of_notes_says_why(make_row, make_run, make_report):
    report, snippets = hostile_case(make_row, make_run, make_report)
    said = "A saved report holds no text of notes"
    assert said in html_report(report)
    assert said not in html_report(report, snippets)
    assert said not in html_report(make_report(make_run([make_row("a", "q", [GOLD], [GOLD])])))


PLANTED = {
    "Gold.md": "# Moorings\n\nthe quay of Zanzibar-7788 floats\n",
    "Winner.md": "quay quay\n\nquay of Madagascar-9911 sinks\n",
}
SECRETS = ("Zanzibar-7788", "Madagascar-9911", "zanzibar", "madagascar", "floats", "sinks")


@pytest.fixture
def measured(tmp_path):
    """A vault with ten notes that win over the gold one, its report and its snippets; and where things lie."""
    vault, data = tmp_path / "vault", tmp_path / "data"
    vault.mkdir()
    texts = {"Gold.md": PLANTED["Gold.md"], **{f"Winner {n}.md": PLANTED["Winner.md"] for n in range(12)}}
    for page, text in texts.items():
        (vault / page).write_text(text, encoding="utf-8")
    labels = tmp_path / "labels.json"
    labels.write_text(
        '{"schema": "claude-obsidian.retrieval-queries.v1", "queries": '
        '[{"id": "moor", "query": "quay", "expected_pages": ["Gold.md"]}]}',
        encoding="utf-8",
    )
    assert main(["index", "--vault", str(vault), "--data", str(data)], script="vault-eval.py") == 0
    report = evaluate(Request(str(vault), (str(labels),), data=str(data), cold_samples=0), clock())
    snippets = snippets_of(report.runs[0], lambda page: decode((vault / page).read_bytes()))
    return report, snippets, vault, tmp_path


def test_text_of_notes_stands_in_the_html_and_nowhere_else(measured, capsys):
    report, snippets, vault, place = measured
    out = save_report(report, str(place / "out"), str(vault), snippets)
    files = {path.name: path for path in (place / "out").iterdir()}
    assert set(files) == {"report.json", "report.md", "report.html", "pages.json"}
    page = files.pop("report.html").read_text(encoding="utf-8")
    assert "Zanzibar-7788" in page
    assert "Madagascar-9911" in page
    capsys.readouterr()
    for arguments in ([], ["--format", "markdown"], ["--format", "html"], ["--miss", "moor", "--format", "json"]):
        assert main(["report", out, *arguments], script="vault-eval.py") == 0
    outputs = [capsys.readouterr().out, report_text(report), markdown_report(report), text_report(report, saved=out)]
    outputs += [path.read_text(encoding="utf-8") for path in files.values()]
    assert "quay" in outputs[0]
    assert [secret for secret in SECRETS for text in outputs if secret in text] == []


def test_the_page_is_its_owners_alone_and_the_saved_report_is_the_same_with_and_without(measured):
    report, snippets, vault, place = measured
    for name, given in (("with", snippets), ("without", {})):
        save_report(report, str(place / name), str(vault), given)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (place / "with").iterdir()}
    assert set(modes.values()) == {0o600}
    for name in ("report.json", "report.md", "pages.json"):
        assert (place / "with" / name).read_bytes() == (place / "without" / name).read_bytes()
    assert replace(report, page_digests={}) == read_report(str(place / "with"))
    save_report(report, str(place / "alone.html"), str(vault), snippets)
    assert (place / "alone.html").read_bytes() == (place / "with" / "report.html").read_bytes()


def test_a_thousand_misses_fit_two_megabytes_and_two_seconds(make_row, make_run, make_report):
    words = [f"word{number}" for number in range(8)]
    told = evidence((1, 12), **dict.fromkeys(words, 1.0))
    note = "\n".join(f"{' '.join(words[place % 8 :])} <b>&\"潮の高さ' {place} of it" for place in range(100))
    won = tuple(Rival(rank, f"Winner {rank}.md", told) for rank in (1, 10))
    rows = [
        make_row(
            f"query {number}",
            " ".join(words),
            [f"Gold {number}.md"],
            [f"Winner {rank}.md" for rank in range(1, 11)],
            diagnosis=(Diagnosis(f"Gold {number}.md", "outranked", "", evidence=told, rivals=won),),
        )
        for number in range(1000)
    ]
    report = make_report(make_run(rows))
    started = time.process_time()
    snippets = snippets_of(report.runs[0], lambda _: note)
    page = html_report(report, snippets)
    assert time.process_time() - started < 4  # about 1.5 on a machine that does nothing else
    assert len(page.encode()) < 2_000_000
    assert len(snippets) == 3000
    longest = max(sum(len(part.text) for line in one for part in line.parts) for one in snippets.values())
    assert longest < SNIPPET_MAX_CHARACTERS + 182
    assert page.count('<table class="source">') >= 1000


def test_a_snippet_shortened_keeps_the_line_that_says_most(make_row, make_run):
    row = make_row("a", "high water", [GOLD], [], diagnosis=(Diagnosis(GOLD, "outranked", ""),))
    text = "low water\n" + "water " * 20 + "\nhigh water"
    snippet = snippets_of(make_run([row]), {GOLD: text}.get)["a", GOLD]
    assert [line.number for line in snippet] == [3, 1, 2]
    assert [[line.number for line in in_reading_order(snippet, room)] for room in (1, 19, 200)] == [[3], [1, 3], [1, 2, 3]]
