"""PDFs from the command line to the report: recall, section-hit and page-hit over labels that name pages of PDFs."""

from __future__ import annotations

import json
import sys

import pytest

from vault_eval.cli import main
from vault_eval.evaluation import clock, evaluate
from vault_eval.reports.text_report import text_report
from vault_eval.request import Request

LABELS = {
    # The page is named and is the best of its PDF.
    "right-page": ("neap low", ["Sea/Almanac.pdf#page=3"]),
    # `spring` stands on page 1 alone: the PDF is found, its page is not.
    "wrong-page": ("spring high", ["Sea/Almanac.pdf#page=3"]),
    # One of several pages is enough.
    "any-page": ("spring high", ["Sea/Almanac.pdf#page=1", "Sea/Almanac.pdf#page=3"]),
    # No word of it is anywhere: neither PDF nor page is found.
    "no-page": ("xylophone", ["Engine.PDF#page=1"]),
    "whole-pdf": ("oil", ["Engine.PDF"]),
    "right-section": ("moon pulls", ["Sea/Tides.md#Moon"]),
    "wrong-section": ("moon pulls", ["Sea/Tides.md#Sun"]),
    "both": ("neap low", ["Sea/Almanac.pdf#page=3", "Sea/Tides.md#Moon"]),
}


@pytest.fixture
def harbour(make_vault, make_pdf, tmp_path):
    made = make_vault(
        **{"Sea/Tides.md": "# Moon\n\nThe moon pulls, spring and neap.\n\n# Sun\n\nThe sun warms.\n", "Boat.md": "A boat.\n"}
    )
    made.write("Sea/Almanac.pdf", make_pdf(["Spring tides are high.", "", "Neap tides\nare low."]))
    made.write("Engine.PDF", make_pdf(["Change the oil."]))
    write_labels(tmp_path / "labels.json", LABELS)
    return made, tmp_path / "labels.json", str(tmp_path / "data")


def run(*argv: str) -> int:
    return main(list(argv), script="vault-eval.py")


def report_of(harbour, *specs: str):
    vault, labels, data = harbour
    return evaluate(Request(str(vault.root), (str(labels),), specs or ("keyword",), data=data, cold_samples=0), clock())


def write_labels(path, labels):
    queries = [{"id": name, "query": query, "expected_pages": gold} for name, (query, gold) in labels.items()]
    path.write_text(json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": queries}), encoding="utf-8")


def figures(run_report):
    return {name: (value.value, value.n) for name, value in run_report.metrics.items()}


def test_page_hit_stands_beside_section_hit_each_over_its_own_labels(harbour):
    vault, _, data = harbour
    assert run("index", "--vault", str(vault.root), "--data", data, "--pdf") == 0
    report = report_of(harbour)
    found = figures(report.runs[0])
    # right-page, any-page and both hit; wrong-page and no-page do not.
    assert found["page_hit"] == (3 / 5, 5)
    # right-section hits, wrong-section does not; in `both` Tides.md is at rank 2 with the section Moon: `neap` stands there.
    assert found["section_hit"] == (2 / 3, 3)
    # All but no-page, of the seven that name a place.
    assert found["doc_hit"] == (6 / 7, 7)
    # no-page alone has nothing: 7 of 8.
    assert found["recall@10"] == (7 / 8, 8)
    rows = {row.id: row for row in report.runs[0].rows}
    assert [(place.target, place.is_hit) for place in rows["any-page"].places] == [
        ("Sea/Almanac.pdf#page=1", True),
        ("Sea/Almanac.pdf#page=3", False),
    ]
    (cause,) = rows["wrong-page"].diagnosis
    assert (cause.cause, cause.detail) == ("section_only", "it is at rank 1 with page 1, lines 1–1, not with '#page=3'")
    assert report.vault_pages == 4
    assert set(report.page_digests) == {"Boat.md", "Engine.PDF", "Sea/Almanac.pdf", "Sea/Tides.md"}
    assert report.coverage.indexed == report.coverage.gold_pages == 3
    assert report.runs[0].retriever.settings["pdf"] is True
    assert "page-hit" in text_report(report, saved=None)


def test_baselines_and_a_single_query_know_the_pdfs_too(harbour, capsys):
    vault, labels, data = harbour
    run("index", "--vault", str(vault.root), "--data", data, "--pdf")
    write_labels(labels, {"a": ("the engine moon", ["Engine.PDF#page=1"])})
    title, grep, random = (
        [one.page for one in run.rows[0].ranking] for run in report_of(harbour, "title", "grep", "random").runs
    )
    assert title == ["Engine.PDF"]
    assert grep == ["Sea/Tides.md"]  # to grep a PDF is no text
    assert sorted(random) == ["Boat.md", "Engine.PDF", "Sea/Almanac.pdf", "Sea/Tides.md"]
    capsys.readouterr()
    assert run("retrieve", "--vault", str(vault.root), "--data", data, "engine oil") == 0
    (first, *_) = json.loads(capsys.readouterr().out)["ranking"]
    assert (first["page"], first["heading"]) == ("Engine.PDF", ["page 1"])


def test_the_choice_is_remembered_and_can_be_taken_back(harbour, capsys):
    vault, _, data = harbour
    place = ("--vault", str(vault.root), "--data", data)
    assert run("index", *place, "--pdf") == 0
    assert "Indexed: 4 notes and PDFs, 6 chunks" in capsys.readouterr().out
    assert run("index", *place) == 0
    assert "Nothing changed: 4 notes and PDFs" in capsys.readouterr().out
    assert run("index", *place, "--check") == 0
    assert run("index", *place, "--no-pdf") == 0
    assert "Indexed: 2 notes, 3 chunks" in capsys.readouterr().out
    assert run("index", *place, "--check") == 0


def test_gold_in_a_pdf_that_the_index_leaves_out_is_a_miss_with_that_cause(harbour):
    vault, _, data = harbour
    assert run("index", "--vault", str(vault.root), "--data", data) == 0
    report = report_of(harbour)
    rows = {row.id: row for row in report.runs[0].rows}
    assert rows["whole-pdf"].status == "scored"
    (cause,) = rows["whole-pdf"].diagnosis
    assert cause.cause == "not_indexed"
    assert "run index --pdf" in cause.detail
    assert figures(report.runs[0])["page_hit"] == (0.0, 5)


def test_a_pdf_that_does_not_exist_is_missing_gold_and_a_page_beyond_its_end_a_miss(harbour):
    vault, labels, data = harbour
    run("index", "--vault", str(vault.root), "--data", data, "--pdf")
    gold = {"beyond": "Engine.PDF#page=9", "gone": "Gone.pdf#page=1", "case": "Engine.pdf"}
    write_labels(labels, {name: (f"oil {name}", [page]) for name, page in gold.items()})
    rows = {row.id: row for row in report_of(harbour).runs[0].rows}
    assert rows["beyond"].status == "scored"
    assert [place.is_hit for place in rows["beyond"].places] == [False]
    assert rows["gone"].missing["Gone.pdf"].startswith("no PDF of that name is in the vault")
    assert "in other letter case there is 'Engine.PDF'" in rows["case"].missing["Engine.pdf"]


def test_without_the_extra_gold_in_a_pdf_is_exit_2_saying_so(harbour, monkeypatch, capsys):
    vault, labels, data = harbour
    place = ("--vault", str(vault.root), "--data", data)
    assert run("index", *place) == 0
    monkeypatch.setitem(sys.modules, "pypdf", None)
    assert run("bench", *place, "--queries", str(labels), "--cold-samples", "0") == 2
    assert "'Sea/Almanac.pdf' is a PDF, which needs the extra [pdf]" in capsys.readouterr().err
    assert run("index", *place, "--pdf") == 2
    assert "index --pdf needs pypdf" in capsys.readouterr().err
    assert run("index", *place) == 0  # a refusal is not remembered


def test_a_changed_pdf_is_stale_and_no_result(harbour, make_pdf):
    vault, _, data = harbour
    run("index", "--vault", str(vault.root), "--data", data, "--pdf")
    vault.write("Engine.PDF", make_pdf(["Change the oil, twice."]))
    report = report_of(harbour)
    row = next(row for row in report.runs[0].rows if row.id == "whole-pdf")
    assert [one.cause for one in row.diagnosis] == ["stale"]
    assert "Engine.PDF" in " ".join(report.warnings)
