"""What is said after every evaluation of the one before: the right one is found, quickly, and nothing can go wrong of it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from vault_eval.limits import LAST_REPORTS_TRIED_MAX
from vault_eval.metrics.judged_query import JudgedPlace
from vault_eval.model import LabelSource
from vault_eval.reports.document import snapshot_digest
from vault_eval.reports.kept_reports import kept_reports
from vault_eval.reports.markdown_report import markdown_report
from vault_eval.reports.save import save_to_history
from vault_eval.reports.since_last import since_last
from vault_eval.reports.text_report import text_report

BEGIN = datetime(2026, 3, 1, 9, 30, tzinfo=timezone.utc)


def keep(report, folder, hours=0):
    return Path(save_to_history(report, str(folder), BEGIN + timedelta(hours=hours)))


def said(found):
    return [found.title, *found.sentences()]


def test_gained_lost_and_the_word_are_said(make_side, tmp_path):
    keep(make_side(0), tmp_path)
    found = since_last(make_side(1), str(tmp_path))
    lines = said(found)
    assert lines[0] == f"Since the last report (2026-03-01 09:30 UTC): {found.comparison.verdict.word}"
    assert lines[1].startswith("MRR@10 +0.274 (95 % interval ")
    assert lines[2] == (
        "gained 5: lock (rank 5 → 1), pilot (rank 4 → 1), tide (rank 3 → 1), neap (rank none → 2), berth (rank 2 → 1)"
    )
    assert lines[3] == "lost 2: logbook (rank 1 → 2), charter (rank 2 → 4)"
    assert len(lines) == 4


@pytest.mark.parametrize("render", [lambda *one, since: text_report(*one, saved=None, since=since), markdown_report])
def test_it_stands_in_the_renderings_only_where_it_is_given(make_side, tmp_path, render):
    report = make_side(1)
    alone = render(report, since=None)
    keep(make_side(0), tmp_path)
    rendered = render(report, since=since_last(report, str(tmp_path)))
    assert "Since the last report" not in alone
    assert "Since the last report" in rendered
    assert "gained 5" in rendered
    assert set(alone.splitlines()) <= set(rendered.splitlines())


def test_without_an_earlier_report_nothing_is_said(make_side, tmp_path):
    assert since_last(make_side(1), str(tmp_path)) is None
    assert since_last(make_side(1), str(tmp_path / "missing")) is None


def test_the_newest_report_counts_whatever_order_the_folder_gives(make_side, tmp_path):
    for hours in (26, 2, 14):
        keep(replace(make_side(1), timing=replace(make_side(1).timing, started=f"2026-03-0{1 + hours // 24}")), tmp_path, hours)
    keep(make_side(0), tmp_path, 26)
    keep(make_side(0), tmp_path, 26)
    names = [Path(path).name for path in kept_reports(str(tmp_path))]
    assert names == [f"2026-03-0{day}Z" for day in ("1T11-30-00", "1T23-30-00", "2T11-30-00")] + [
        "2026-03-02T11-30-00Z-2",
        "2026-03-02T11-30-00Z-3",
    ]
    assert since_last(make_side(1), str(tmp_path)).comparison.change.delta > 0


def test_the_tenth_report_of_a_second_stands_behind_the_ninth(tmp_path):
    for number in ("", "-2", "-9", "-10"):
        (tmp_path / f"2026-03-01T09-30-00Z{number}").mkdir()
    assert [Path(path).name.partition("Z")[2] for path in kept_reports(str(tmp_path))] == ["", "-2", "-9", "-10"]


@pytest.mark.parametrize(
    "other",
    [
        {"label_sources": (LabelSource("questions.json", "ef" * 32, "native"),)},
        {"label_sources": (LabelSource("questions.json", "cd" * 32, "native"), LabelSource("more.json", "cd" * 32, "native"))},
        {"split": "dev"},
        {"collection": "sea"},
    ],
)
def test_reports_of_other_labels_are_passed_over(make_side, tmp_path, other):
    keep(make_side(0), tmp_path)
    keep(replace(make_side(1), **other), tmp_path, 1)
    assert since_last(make_side(1), str(tmp_path)).comparison.change.delta > 0


def test_of_two_collections_in_turn_each_is_held_against_its_own_last(make_side, tmp_path):
    keep(make_side(0, collection="sea"), tmp_path)
    keep(make_side(1, collection="land"), tmp_path, 1)
    assert since_last(make_side(1, collection="sea"), str(tmp_path)).comparison.change.delta > 0
    assert since_last(make_side(1), str(tmp_path)) is None


def test_reports_of_other_searchers_and_depths_are_passed_over(make_side, tmp_path):
    report = make_side(0)
    keep(make_side(0, name="title"), tmp_path)
    keep(replace(report, runs=(replace(report.runs[0], depth=20),)), tmp_path, 1)
    assert since_last(make_side(1), str(tmp_path)) is None


def test_the_same_run_is_found_among_several(make_side, tmp_path):
    report = make_side(0)
    keep(replace(report, runs=(make_side(1, name="title").runs[0], report.runs[0])), tmp_path)
    assert since_last(make_side(1), str(tmp_path)).comparison.change.delta > 0


def test_equal_rankings_are_identical(make_side, tmp_path):
    keep(make_side(0), tmp_path)
    found = since_last(make_side(0), str(tmp_path))
    assert said(found)[0].endswith(": identical")
    assert not any(line.startswith(("gained", "lost")) for line in said(found))


def test_grades_and_places_are_read_as_the_same_labels(make_row, make_run, make_report, tmp_path):
    def report(pages):
        judged = {"grades": {"A.md": 2}, "places": (JudgedPlace("B.md#Tides", "B.md", "section", is_hit=None),)}
        return make_report(make_run([make_row("a", "q", ["A.md", "B.md"], pages, **judged)]))

    keep(report(["X.md", "A.md"]), tmp_path)
    found = since_last(report(["A.md"]), str(tmp_path)).comparison
    assert (found.change.delta, found.findings, found.unpaired) == (0.5, (), ())


def test_no_text_of_a_label_or_a_note_is_taken_for_a_part_of_the_report(make_row, make_run, make_report, tmp_path):
    """Only parts of each row are parsed, found by their keys; here texts, names and grades look like these keys."""
    keys = ', "ranks": {}, "ranking": [], "no_result": null, "places": [], "diagnosis": '
    pages = (f"{keys}.md", 'a "page": "B.md", "score": .md', "back\\slash\\.md", 'end\\".md', "ranking.md")
    row = make_row("a", f"what of {keys}", pages[:2], pages[1:], category=f"{keys}\\", grades={pages[0]: 2, "ranking": 1})
    place = JudgedPlace(f"{pages[1]}#{keys}", pages[1], "section", is_hit=True)
    hit = replace(row.ranking[0], heading=(keys, '"page": "X.md", "score": 1'))
    report = make_report(make_run([replace(row, places=(place,), ranking=(hit, *row.ranking[1:]))]))
    keep(report, tmp_path)
    (before,) = since_last(report, str(tmp_path)).comparison.baseline.queries
    (after,) = since_last(report, str(tmp_path)).comparison.candidate.queries
    assert before == after
    assert before.ranking == pages[1:]


def test_diagnoses_of_the_last_report_are_not_even_parsed(make_side, tmp_path):
    file = keep(make_side(0), tmp_path) / "report.json"
    file.write_bytes(file.read_bytes().replace(b'"diagnosis": []', b'"diagnosis": [no JSON'))
    assert since_last(make_side(1), str(tmp_path)).comparison.change.delta > 0


def test_a_query_that_failed_then_is_in_no_difference(make_side, tmp_path):
    before = make_side(0)
    rows = (replace(before.runs[0].rows[0], status="error", error="it timed out", ranking=()), *before.runs[0].rows[1:])
    keep(replace(before, runs=(replace(before.runs[0], rows=rows),)), tmp_path)
    found = since_last(make_side(1), str(tmp_path))
    assert said(found)[1:] == ["the baseline failed on 1 of 11 queries"]
    assert "tide" not in [change.id for change in found.comparison.changes]
    assert found.comparison.baseline.queries[0].values == {"mrr@10": None}


def test_where_the_searcher_failed_that_is_said_and_no_difference(make_side, tmp_path):
    keep(make_side(0), tmp_path)
    after = make_side(1)
    rows = (replace(after.runs[0].rows[0], status="error", error="it timed out", ranking=()), *after.runs[0].rows[1:])
    lines = said(since_last(replace(after, runs=(replace(after.runs[0], rows=rows),)), str(tmp_path)))
    assert lines[0].endswith(": not comparable")
    assert lines[1:] == ["the candidate failed on 1 of 11 queries"]


def test_changed_notes_are_said(make_side, tmp_path):
    pages = {"A.md": "1" * 64, "B.md": "2" * 64}
    before = make_side(0, page_digests=pages, snapshot_sha256=snapshot_digest(pages))
    keep(before, tmp_path)
    after = make_side(1, page_digests={**pages, "B.md": "3" * 64}, snapshot_sha256="f" * 64)
    assert said(since_last(after, str(tmp_path)))[-1] == "confounded: 1 page changed: B.md"


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "link", "huge", "no text", "rows", "one line", "absent"])
def test_what_is_damaged_or_foreign_is_passed_over(make_side, tmp_path, damage, monkeypatch):
    keep(make_side(0), tmp_path)
    newest = keep(make_side(1), tmp_path, 1) / "report.json"
    whole = newest.read_bytes()
    damaged = {
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "other": b'{"schema": "other", "labels": "' + b"cd" * 32 + b'"}',
        "huge": whole + b" " * len(whole),
        "no text": whole.replace(b"tide", b"\xff\xfe"),
        "one line": json.dumps(json.loads(whole)).encode(),
        "rows": whole.replace(b'"expected": ["tide.md"]', b'"expected": {"tide.md": [1]}'),
    }
    newest.unlink()
    monkeypatch.setattr("vault_eval.reports.last_report.KEPT_REPORT_MAX_BYTES", 2 * len(whole) - 1)
    if damage == "link":
        (tmp_path / "elsewhere.json").write_bytes(whole)
        newest.symlink_to(tmp_path / "elsewhere.json")
    elif damage != "absent":
        newest.write_bytes(damaged[damage])
    assert since_last(make_side(1), str(tmp_path)).comparison.change.delta > 0


def test_an_old_report_that_names_a_query_twice_is_no_reason_to_fail(make_side, tmp_path):
    before = make_side(0)
    keep(replace(before, runs=(replace(before.runs[0], rows=before.runs[0].rows * 2),)), tmp_path)
    assert since_last(make_side(1), str(tmp_path)) is None


def test_foreign_names_beside_the_reports_are_no_reports(make_side, tmp_path):
    for name in ("notes", "2026-03-09", "2026-03-09T09-30-00Z.bak", "~2026-03-09T09-30-00Z"):
        (tmp_path / name).mkdir()
    (tmp_path / "2026-03-09T09-30-01Z").write_text("a file", encoding="utf-8")
    (tmp_path / "2026-03-09T09-30-02Z").symlink_to(tmp_path / "notes")
    assert kept_reports(str(tmp_path)) == ()


def test_only_the_newest_few_are_read(make_side, tmp_path):
    keep(make_side(0), tmp_path)
    other = replace(make_side(0), split="dev")
    for hours in range(1, LAST_REPORTS_TRIED_MAX):
        keep(other, tmp_path, hours)
    assert since_last(make_side(1), str(tmp_path)) is not None
    keep(other, tmp_path, LAST_REPORTS_TRIED_MAX)
    assert since_last(make_side(1), str(tmp_path)) is None


def test_it_takes_little_time_among_hundreds_of_reports(make_side, tmp_path):
    place = keep(make_side(0), tmp_path)
    for hours in range(1, 400):
        (tmp_path / f"2026-04-{1 + hours // 24:02}T{hours % 24:02}-00-00Z").mkdir()
    place.rename(tmp_path / "2026-05-01T00-00-00Z")
    since_last(make_side(1), str(tmp_path))
    began = time.process_time()
    assert since_last(make_side(1), str(tmp_path)) is not None
    assert time.process_time() - began < 0.5  # about 0.02 on an idle machine


def test_many_changes_are_cut_and_counted(make_row, make_run, make_report, tmp_path):
    def report(place):
        return make_report(make_run([make_row(f"q{n}", "q", ["A.md"], ["A.md", "B.md"][:: 1 - 2 * place]) for n in range(9)]))

    keep(report(1), tmp_path)
    gained = next(line for line in said(since_last(report(0), str(tmp_path))) if line.startswith("gained 9: "))
    assert gained.endswith("q5 (rank 2 → 1) and 3 more")
