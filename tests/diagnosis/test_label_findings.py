"""What makes labels worth less than they look, found by whole evaluations of small vaults."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import pytest

from vault_eval.diagnosis.label_findings import LISTED_MAX, LabelFinding, is_telling, listed, normalised, unjudged_above
from vault_eval.diagnosis.query_terms import idf_coverage, query_terms
from vault_eval.evaluation import clock, evaluate
from vault_eval.index.build import build_index
from vault_eval.index.options import IndexOptions
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.model import Label, RankedPage, Ranking, Target
from vault_eval.rankings.runner import without_pages
from vault_eval.reports.document import Report
from vault_eval.reports.json_report import report_text
from vault_eval.reports.label_trust import TITLE, easy_sentence, label_sentences
from vault_eval.reports.markdown_report import markdown_report
from vault_eval.reports.saved_report import read_report
from vault_eval.reports.text_report import text_report
from vault_eval.request import Request
from vault_eval.retrievers.protocol import PageEvidence
from vault_eval.vault.snapshot import open_snapshot

NOTES = {
    "Tides.md": "# Tides\n\nThe moon pulls the sea twice a day.\n",
    "Boat.md": "# Boat\n\nPaint the hull before winter comes.\n",
    "Rope.md": "# Rope\n\nSplice a rope with three strands.\n",
    "Knots.md": "# Knots\n\nA bowline holds and never slips.\n",
}
QUERIES = {"moon": ("moon sea", ["Tides.md"]), "hull": ("hull varnish", ["Boat.md"]), "none": ("zeppelin", [])}


@dataclass(frozen=True)
class Desk:
    folder: Path

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def write(self, notes: Mapping[str, str]) -> None:
        for page, text in notes.items():
            path = self.vault / page
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def index(self) -> None:
        with open_snapshot(str(self.vault)) as snapshot:
            place = str(self.folder / "index")
            build_index(
                snapshot.reader, snapshot.listing, IndexOptions(), place, snapshot.id, time.time_ns(), lambda _done, _all: None
            )

    def labels(self, queries: Mapping[str, tuple[str, list[str]]], **extra: Mapping[str, object]) -> str:
        rows = [
            {"id": name, "query": text, "expected_pages": pages, **extra.get(name, {})} for name, (text, pages) in queries.items()
        ]
        path = self.folder / "labels.json"
        path.write_text(json.dumps({"schema": "vault-eval.labels.v1", "queries": rows}), encoding="utf-8")
        return str(path)

    def report(self, *labels: str, specs: tuple[str, ...] = ("keyword",), index: bool = True) -> Report:
        place = str(self.folder / "index") if index else None
        request = Request(str(self.vault), labels, specs, data=str(self.folder / "data"), index=place, cold_samples=0)
        return evaluate(request, clock())


@pytest.fixture
def desk(tmp_path) -> Desk:
    made = Desk(tmp_path)
    made.write(NOTES)
    return made


def kinds(report: Report) -> dict[str, list[tuple[str, str | None]]]:
    found: dict[str, list[tuple[str, str | None]]] = {}
    for one in report.label_findings.findings:
        found.setdefault(one.kind, []).append((one.page, one.query))
    return found


def test_labels_in_other_words_leave_nothing_to_find(desk):
    desk.index()
    assert kinds(desk.report(desk.labels(QUERIES))) == {}


def test_a_query_that_stands_in_its_page_is_found_in_any_case_and_punctuation(desk):
    desk.index()
    queries = {
        "said": ("the Moon pulls: the SEA!", ["Tides.md"]),
        "two": ("twice a", ["Tides.md"]),
        "else": ("splice a rope", ["Boat.md"]),
    }
    assert kinds(desk.report(desk.labels(queries))) == {"query_in_text": [("Tides.md", "said")]}


def test_a_query_in_properties_is_told_apart_and_the_label_property_is_let_be(desk):
    front = '---\nquestion: "when is high water"\nanswers:\n  - "how often does it rise"\n---\nbody\n'
    desk.write({"High.md": front})
    desk.index()
    queries = {"asked": ("When is high water?", ["High.md"]), "kept": ("how often does it rise", ["High.md"])}
    assert kinds(desk.report(desk.labels(queries))) == {"query_in_properties": [("High.md", "asked")]}


def test_a_label_property_of_another_name_is_no_text_that_a_search_finds(desk):
    desk.write({"Zebra.md": "---\nfragen: [how do zebras sleep]\n---\nThey rest standing up.\n"})
    desk.index()
    report = desk.report("property:fragen", specs=("grep", "keyword"))
    assert [[one.page for one in run.rows[0].ranking] for run in report.runs] == [[], []]
    assert kinds(report) == {}


def test_a_label_written_into_a_property_of_another_name_makes_its_note_stale_and_the_report_says_so(desk):
    for name, stays in (("answers", True), ("fragen", False)):
        note = "---\n{}: [how do zebras sleep{}]\n---\nZebras rest standing up.\n"
        desk.write({"Zebra.md": note.format(name, "")})
        desk.index()
        assert not [line for line in desk.report(f"property:{name}").warnings if "stale" in line]
        desk.write({"Zebra.md": note.format(name, ", where zebras rest")})
        report = desk.report(f"property:{name}")
        assert [one.page for one in report.runs[0].rows[0].ranking] == ["Zebra.md"] * stays
        said = "a note of which only 'property:fragen' changed is stale too: an index leaves 'answers' alone aside"
        assert (said in report.warnings) == (not stays)


def test_a_query_without_blanks_is_found_inside_a_run_of_letters(desk):
    desk.write({"潮.md": "毎日のように月の引力で潮が満ちるのである。\n"})
    desk.index()
    assert kinds(desk.report(desk.labels({"ja": ("月の引力で潮が満ちる", ["潮.md"])}))) == {"query_in_text": [("潮.md", "ja")]}


def test_a_query_of_nothing_but_combining_marks_holds_no_word_and_is_no_leak(desk):
    marks = "\u0e34" * 6
    desk.write({"Marks.md": f"{marks}\n"})
    desk.index()
    assert kinds(desk.report(desk.labels({"marks": (marks, ["Marks.md"])}))) == {}
    assert not is_telling(marks)
    assert is_telling("\u0e01" + marks[:5])  # one letter among them


def test_a_copy_of_the_labels_is_named_and_a_page_that_quotes_one_is_not(desk):
    queries = {name: (f"{name} where is it kept", ["Boat.md"]) for name in ("oar", "mast", "sail", "keel", "deck", "bilge")}
    texts = [text for text, _ in queries.values()]
    desk.write({"Eval notes.md": "\n".join(f"- {text}" for text in texts), "One.md": f"{texts[0]}\n"})
    desk.index()
    assert kinds(desk.report(desk.labels(queries))) == {"label_copy": [("Eval notes.md", None)]}
    assert kinds(desk.report(desk.labels(queries), specs=("grep",), index=False)) == {"label_copy": [("Eval notes.md", None)]}


def test_saved_reports_among_the_notes_are_named(desk):
    desk.index()
    labels = desk.labels(QUERIES)
    desk.write({"Reports/report.md": markdown_report(desk.report(labels))})
    desk.index()
    assert kinds(desk.report(labels)) == {"saved_report": [("Reports/report.md", None)]}


def test_pages_of_the_shipped_example_are_named_but_not_in_their_own_vault(desk, tmp_path):
    shipped = Path(__file__).resolve().parents[2] / "fixtures" / "original" / "pages"
    text = (shipped / "Harbour rules.md").read_text(encoding="utf-8")
    desk.write({"Tools/vault-eval/Harbour rules.md": text})
    desk.index()
    assert kinds(desk.report(desk.labels(QUERIES))) == {"fixture_file": [("Tools/vault-eval/Harbour rules.md", None)]}
    own = Desk(tmp_path / "own")
    own.write({"Harbour rules.md": text})
    own.index()
    assert kinds(own.report(own.labels({"none": ("zeppelin", [])}))) == {}


def test_a_label_note_that_the_index_holds_is_named_and_its_hits_are_taken_out(desk):
    desk.write({"Labels.md": "moon sea tides moon sea\n"})
    desk.index()
    note = '---\nschema: claude-obsidian.retrieval-queries.v1\nqueries:\n  - id: moon\n    query: "moon sea"\n    expected_pages: [Tides.md]\n---\n'
    desk.write({"Labels.md": note})
    report = desk.report("note:Labels.md", specs=("keyword", "grep"))
    assert kinds(report) == {"label_note": [("Labels.md", None)]}
    assert [[one.page for one in run.rows[0].ranking] for run in report.runs] == [["Tides.md"], ["Tides.md"]]


def test_hits_on_label_notes_are_taken_out_counted_and_the_rest_ranked_anew():
    ranking = Ranking(tuple(RankedPage(rank, page, 5.0 - rank) for rank, page in enumerate(("L.md", "A.md", "B.md"), 1)))
    left = without_pages(ranking, frozenset({"L.md"}), 1)
    assert ([(one.rank, one.page, one.score) for one in left.pages], left.label_hits_removed) == ([(1, "A.md", 3.0)], 1)


def test_a_page_changed_by_writing_its_label_is_the_observer_effect(desk):
    desk.index()
    desk.write({"Tides.md": f'---\nanswers:\n  - "moon sea"\n---\n{NOTES["Tides.md"]}', "Boat.md": NOTES["Boat.md"] + "More.\n"})
    assert kinds(desk.report(desk.labels(QUERIES)))["stale_label_only"] == [("Tides.md", None)]  # the fences came with the label
    desk.write({"Tides.md": f"---\ntags: [a]\n---\n{NOTES['Tides.md']}"})
    desk.index()
    desk.write({"Tides.md": f'---\ntags: [a]\nanswers:\n  - "moon sea"\n---\n{NOTES["Tides.md"]}'})
    assert kinds(desk.report(desk.labels(QUERIES))) == {"stale_label_only": [("Tides.md", None)]}


def test_pages_edited_since_they_were_labelled_are_drift(desk):
    digests = {page: hashlib.sha256(text.encode()).hexdigest() for page, text in NOTES.items()}
    desk.write({"Boat.md": NOTES["Boat.md"] + "Varnish it.\n"})
    desk.index()
    labels = desk.labels(
        {**QUERIES, "gone": ("gone away", ["Gone.md"])},
        moon={"hashes": {"Tides.md": digests["Tides.md"]}},
        hull={"hashes": {"Boat.md": digests["Boat.md"]}},
        gone={"hashes": {"Gone.md": "0" * 64}},
    )
    assert kinds(desk.report(labels)) == {"edited_since_labelled": [("Boat.md", "hull")]}


def test_findings_are_listed_once_bounded_and_all_counted():
    found = [LabelFinding("query_in_text", f"{number:03}.md", "q") for number in range(50)] * 2
    made = listed([*found, LabelFinding("label_note", "L.md")])
    assert (made.counts, len(made.of("query_in_text"))) == ({"label_note": 1, "query_in_text": 50}, LISTED_MAX)
    assert made.findings[0] == LabelFinding("label_note", "L.md")


def test_what_is_compared_are_words_and_short_queries_stand_anywhere():
    assert normalised("The  Moon,\n(pulls)!") == " the moon pulls "
    assert [is_telling(text) for text in ("one two", "one two three", "月の引力", "月の引力で潮", "")] == [
        False,
        True,
        False,
        True,
        False,
    ]


def term(name: str, df: int, tf: int) -> TermEvidence:
    return TermEvidence(name, df, tf, 0.0)


def test_idf_coverage_weighs_rare_terms_more_and_counts_each_term_once():
    # N = 9: idf(4) = ln(1 + 5.5/4.5), idf(0) = ln(1 + 9.5/.5) = ln 20, the largest there is.
    held, lost = log(1 + 5.5 / 4.5), log(20)
    terms = (term("moon", 4, 2), term("moon", 4, 2), term("xyzzy", 0, 0))
    assert idf_coverage(terms, 9) == pytest.approx(held / (held + lost), abs=1e-15)
    assert idf_coverage((), 9) == 0.0


class Told:
    """A searcher that knows two pages."""

    def __init__(self, **pages: tuple[TermEvidence, ...]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    def evidence(self, query: str, page: str, *, exact_rank: bool) -> PageEvidence | None:  # noqa: ARG002
        self.asked.append(page)
        return PageEvidence(1.0, (), (1, 1), self.pages[page]) if page in self.pages and not exact_rank else None

    def is_stale(self, page: str) -> bool:  # noqa: ARG002
        return False


@pytest.mark.parametrize(
    ("gold", "expected"),
    [("a", "literal"), ("b", "partly"), ("c", "no shared term"), ("cba", "literal"), ("cb", "partly"), ("x", None), ("", None)],
)
def test_the_stratum_is_that_of_the_gold_page_which_holds_most(gold, expected):
    told = Told(a=(term("m", 1, 1), term("n", 1, 3)), b=(term("m", 1, 1), term("n", 1, 0)), c=(term("m", 1, 0),))
    assert query_terms("m n", tuple(gold), None, told, 9, with_coverage=False).stratum == expected


def test_coverage_is_of_the_first_page_and_zero_where_nothing_came_back():
    told = Told(a=(term("m", 1, 1), term("n", 1, 0)))
    found = query_terms("m n", ("a",), "a", told, 9, with_coverage=True)
    assert (found.coverage, told.asked) == (0.5, ["a"])  # the two terms are as rare as each other; asked once for both uses
    assert query_terms("m n", ("a",), None, told, 9, with_coverage=True).coverage == 0.0
    assert query_terms("m n", ("a",), "a", told, 9, with_coverage=False).coverage is None


def test_unjudged_are_the_pages_above_all_gold_that_nobody_graded():
    label = Label("q", "q", (Target("G.md"),), "f", "p", grades={"Z.md": 0})

    def above(*pages: str) -> tuple[str, ...]:
        return unjudged_above(label, Ranking(tuple(RankedPage(rank, page, None) for rank, page in enumerate(pages, 1))))

    assert above("A.md", "Z.md", "G.md", "B.md") == ("A.md",)
    assert above("A.md", "B.md", "C.md", "D.md", "G.md") == ("A.md", "B.md", "C.md")  # no more than three
    assert above("G.md", "A.md") == above() == ()


def test_strata_threshold_and_ties_come_back_from_a_saved_report(desk, tmp_path):
    desk.index()
    queries = {
        **QUERIES,
        **{f"d{n}": (text, pages) for n, (text, pages) in enumerate([("rope strands", ["Rope.md"]), ("airship", [])])},
        **{f"h{n}": (text, pages) for n, (text, pages) in enumerate([("bowline", ["Knots.md"]), ("balloon", [])])},
    }
    extra = {name: {"split": "dev" if name[0] == "d" else "holdout"} for name in queries if name[0] in "dh" and name != "hull"}
    report = desk.report(desk.labels(queries, **extra), specs=("keyword", "grep"))
    trust = report.runs[0].trust
    # literal: moon sea, rope strands, bowline; partly: hull varnish, of which the page lacks one word.
    assert {stratum: figures["recall@5"].n for stratum, figures in trust.strata.items()} == {"literal": 3, "partly": 1}
    assert trust.threshold is not None
    assert report.runs[0].metrics["false_answer_rate"].value == 0.0
    path = tmp_path / "report.json"
    path.write_text(report_text(report), encoding="utf-8")
    assert report_text(read_report(str(path))) == report_text(report)
    assert replace(read_report(str(path)), page_digests=report.page_digests) == report


def test_a_tie_at_a_cutoff_carries_what_a_lot_would_give(desk):
    desk.write({f"Same {n}.md": "buoy\n" for n in range(8)})
    desk.index()
    report = desk.report(desk.labels({"tie": ("buoy", ["Same 7.md"])}), specs=("grep",))
    ties = {tie.cutoff: tie for tie in report.runs[0].rows[0].ties}
    # Eight pages at ranks 1 to 8, one relevant: it is first in 1/8 of all orders and among the first five in 5/8.
    assert {cutoff: (tie.first, tie.last, tie.expected.hit) for cutoff, tie in ties.items()} == {
        1: (1, 8, 0.125),
        5: (1, 8, 0.625),
    }
    assert ties[5].expected.recall == 0.625
    said = label_sentences(report)
    assert any("recall@5 is 0.000 as returned, 0.625 on average" in sentence for sentence in said)


def test_baselines_run_without_any_index_and_beside_one(desk):
    labels = desk.labels(QUERIES)
    alone = desk.report(labels, specs=("title", "grep", "random"), index=False)
    assert [run.index for run in alone.runs] == [None] * 3
    assert (alone.coverage.gold_pages, alone.coverage.fresh) == (2, 2)
    assert ["cold" in timing.not_timed for timing in alone.timing.runs] == [True] * 3
    desk.index()
    beside = desk.report(labels, specs=("keyword", "title", "grep", "random"))
    assert ["cold" in timing.not_timed for timing in beside.timing.runs] == [False, True, True, True]
    grep = beside.runs[2].metrics
    assert (grep["recall@5"].value, grep["usable_candidate_recall"].status, grep["coverage_auroc"].status) == (
        1.0,
        "unavailable",
        "unavailable",
    )
    assert beside.runs[3].metrics["no_result_auroc"].status == "unavailable"


def test_a_baseline_within_the_interval_of_the_best_makes_the_labels_easy(desk):
    desk.index()
    report = desk.report(desk.labels(QUERIES), specs=("keyword", "grep", "title"))
    # keyword and grep find both at rank 1: MRR 1.000 each. title finds nothing.
    sentence = easy_sentence(report)
    assert sentence is not None
    assert sentence.startswith("easy labels: grep 1.000 in MRR@10, not below the interval of keyword 1.000 (")
    assert "easy labels: grep" in text_report(report, saved=None)
    assert "easy labels: grep" in markdown_report(report)
    assert easy_sentence(replace(report, runs=(report.runs[0], report.runs[2]))) is None
    assert easy_sentence(replace(report, runs=report.runs[1:])) is None


def test_the_section_is_short_in_text_whole_in_markdown_and_absent_without_findings(desk):
    desk.index()
    quiet = replace(desk.report(desk.labels({"none": ("zeppelin", [])})))
    assert TITLE not in text_report(quiet, saved=None)
    assert TITLE not in markdown_report(quiet)
    every = listed(
        [LabelFinding(kind, f"{'long ' * 40}{n}.md", "q" * 50) for n in range(9) for kind in ("label_copy", "saved_report")]
    )
    every = listed([*every.findings, *(LabelFinding("query_in_text", f"{n}.md", f"q{n}") for n in range(9))])
    loud = replace(desk.report(desk.labels(QUERIES)), label_findings=every)
    section = text_report(loud, saved=None).split(f"{TITLE}\n")[1].split("\n\n")[0].splitlines()
    assert len(section) <= 11
    assert markdown_report(loud).count("\n- ") >= 4


@pytest.mark.parametrize(("one", "other"), [("पानी की टंकी", "पाना की टंकी"), ("น้ำ", "นำ"), ("קָפֶה", "קפה")])
def test_words_that_differ_in_their_vowel_signs_are_different_words(one, other):
    assert normalised(one) != normalised(other)


def test_a_word_with_vowel_signs_is_one_word():
    assert normalised("पानी की टंकी").split() == ["पानी", "की", "टंकी"]
    assert not is_telling("पानी की")  # two words
