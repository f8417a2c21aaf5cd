"""A saved report read again: the same report, or a sentence that says where it is damaged."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace

import pytest

from vault_eval import strict_json
from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.evaluation import clock
from vault_eval.fixture_mode import run_fixture
from vault_eval.reports.json_report import report_text
from vault_eval.reports.saved_report import read_report, read_report_without_rows
from vault_eval.request import Request


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    report, *_ = run_fixture(Request(vault="", cold_samples=0), clock())
    path = tmp_path_factory.mktemp("saved") / "report.json"
    path.write_bytes(strict_json.encode(report_text(report)))
    return path


def test_a_saved_report_read_and_written_again_is_the_same_text(saved):
    assert report_text(read_report(str(saved))) == saved.read_text(encoding="utf-8")


def test_the_folder_of_a_report_names_it_too(saved):
    assert read_report(str(saved.parent)) == read_report(str(saved))


def test_every_missing_or_mistyped_value_is_refused_with_its_place_or_changes_nothing(saved, tmp_path):
    whole = json.loads(saved.read_text(encoding="utf-8"))
    rng = random.Random(7)
    places = [place for place in _places(whole) if place[0] != "timing"]
    damaged = tmp_path / "damaged.json"
    refusals = []
    for place in rng.sample(places, 300):
        value = copy.deepcopy(whole)
        holder = value
        for key in place[:-1]:
            holder = holder[key]
        if isinstance(holder, dict) and rng.random() < 0.5:
            del holder[place[-1]]
        else:
            holder[place[-1]] = [{"unexpected": None}]
        damaged.write_text(json.dumps(value), encoding="utf-8")
        try:
            read_report(str(damaged))
        except UsageError as error:
            refusals.append(str(error))
    # Left over: entries of maps with free keys (settings, groups), where one fewer is still a report.
    assert len(refusals) > 200
    assert all(str(damaged) in refusal for refusal in refusals)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": "other"}', '{"schema": "vault-eval.report.v1"}'])
def test_what_is_no_report_is_said_so(tmp_path, text):
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VaultEvalError) as refused:
        read_report(str(path))
    assert refused.value.exit_code == 2


def _places(value, before=()):
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*before, key)
        yield from _places(item, (*before, key))


RUN = ("runs", 0)
ROW = (*RUN, "queries", 7)  # two pages are expected, found at ranks 1 and 7: recall@5 is 1/2
METRICS = (*RUN, "metrics")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        # Over the 12 scored rows recall@5 adds up to 7 + 1/2 + 1 + 0 + 1 + 0 = 9.5, and 9.5 / 12 = .7916666667.
        (
            (*METRICS, "recall@5", "value"),
            0.95,
            "recall@5: value: found '0.95', allowed is 0.7916666667, which follows from the rows",
        ),
        ((*METRICS, "mrr@10", "n"), 13, "metrics: mrr@10: n: found '13', allowed is 12, which follows from the rows"),
        ((*METRICS, "ndcg@10", "n"), 11, "metrics: ndcg@10: n: found '11', allowed is 12, which follows from the rows"),
        # Seven queries have 1, and (9/14 + 23/36 + 1/2 + 7) / 12 = .7318121693.
        ((*METRICS, "ap@10", "value"), 0.5, "metrics: ap@10: value: found '0.5', allowed is 0.7318121693, which follows"),
        # 10 of 12 queries have a page among the first ten.
        ((*METRICS, "hit@10", "value"), 1.0, "metrics: hit@10: value: found '1.0', allowed is 0.8333333333, which follows"),
        ((*METRICS, "section_hit", "n"), 15, "metrics: section_hit: n: found '15', allowed is 14 at most"),
        ((*METRICS, "ndcg@10", "value"), 1.5, "metrics: ndcg@10: value: found '1.5', allowed is a number from 0 to 1"),
        (
            (*METRICS, "ndcg@10", "value"),
            None,
            "metrics: ndcg@10: n: found '12', allowed is 0 where there is no value, and only there",
        ),
        ((*METRICS, "ndcg@10", "interval", "low"), 1.0, "ndcg@10: interval: low: found '1.0', allowed is 0."),
        (
            (*RUN, "groups", "category", "several-pages", "recall@5", "value"),
            1.0,
            "several-pages: recall@5: value: found '1.0', allowed is 0.75",
        ),
        (
            (*RUN, "groups", "tag", "french", "mrr@10", "n"),
            2,
            "french: mrr@10: n: found '2', allowed is 1, which follows from the rows",
        ),
        ((*RUN, "counts", "scored"), 13, "counts: scored: found '13', allowed is 12, which follows from the rows"),
        ((*RUN, "counts", "skipped"), -1, "counts: skipped: found '-1', allowed is a whole number, 0 or more"),
        ((*RUN, "depth"), 5, "depth: found '5', allowed is 10 to 1,000"),
        ((*ROW, "recall", "5"), 1.5, "queries[7]: recall: 5: found '1.5', allowed is a number from 0 to 1"),
        ((*ROW, "recall", "5"), 1.0, "queries[7]: recall: 5: found '1.0', allowed is 0.5, which follows from the ranking"),
        ((*ROW, "recall", "5"), None, "queries[7]: recall: 5: found 'None', allowed is 0.5"),
        ((*ROW, "rr"), 0.5, "queries[7]: rr: found '0.5', allowed is 1, which follows from the ranking"),
        ((*RUN, "queries", 12, "rr"), 1.0, "queries[12]: rr: found '1.0', allowed is null"),
        ((*ROW, "ranks", "Harbour rules.md"), 2, "queries[7]: ranks: found"),
        ((*ROW, "ranking", 0, "rank"), 0, "ranking[0]: rank: found '0', allowed is a rank, 1 or more"),
        ((*ROW, "ranking", 1, "rank"), 3, "ranking: found"),
        ((*ROW, "ranking", 1, "page"), "Harbour rules.md", "allowed is the ranks from 1 upwards, each with a page of its own"),
        ((*ROW, "ranking", 0, "page"), "Other.md", "allowed is the rank of each expected page in the ranking"),
        (
            (*RUN, "queries", 9, "diagnosis", 0, "exact_rank"),
            0,
            "diagnosis[0]: exact_rank: found '0', allowed is a rank, 1 or more",
        ),
        ((*ROW, "status"), "skipped", "queries[7]: ranks: found"),
        ((*ROW, "ranks"), {"Harbour rules.md": True, "Guests/Accueil des plaisanciers.md": 7}, "queries[7]: ranks: found"),
        ((*ROW, "ranks"), {"Harbour rules.md": 1.0, "Guests/Accueil des plaisanciers.md": 7}, "queries[7]: ranks: found"),
        ((*ROW, "ranks"), None, "queries[7]: ranks: found 'None'"),
        ((*ROW, "expected"), ["Harbour rules.md", "Guests/Accueil des plaisanciers.md", "Harbour rules.md"], "expected: found"),
        ((*ROW, "no_result"), True, "queries[7]: no_result: found 'True', allowed is true where nothing came back"),
        ((*ROW, "no_result"), None, "queries[7]: no_result: found 'None'"),
        ((*ROW, "misses"), 7, "queries[7]: misses: found '7', allowed is the expected pages that are not among the first"),
        # Found at ranks 1 and 7: missed among the first 1 and 5, not among the first 10.
        ((*ROW, "misses", "10"), ["Guests/Accueil des plaisanciers.md"], "queries[7]: misses: found"),
        ((*ROW, "id"), "french-shower", "queries[7]: id: found 'french-shower', allowed is an id that no other row has"),
        (METRICS, {}, "metrics: found '{}', allowed is an object with the key 'recall@1'"),
        (
            (*METRICS, "ndcg@10", "value"),
            0.77,
            "metrics: ndcg@10: value: found '0.77', allowed is 0.7651073304, which follows from the rows",
        ),
        ((*RUN, "more_gold_than_cutoff", "1"), 13, "more_gold_than_cutoff: 1: found '13', allowed is 12 at most"),
        ((*RUN, "trust", "unjudged_queries"), 10**9, "unjudged_queries: found '1000000000', allowed is 12 at most"),
        (
            (*RUN, "trust", "strata", "literal", "recall@5", "value"),
            0.1,
            "literal: recall@5: value: found '0.1', allowed is 0.364822",
        ),
        ((*RUN, "trust", "strata", "literal", "recall@5", "n"), 10**9, "literal: recall@5: n: found '1000000000', allowed is 14"),
        ((*ROW, "grades"), {"Harbour rules.md": 3}, "grades: Harbour rules.md: found '3', allowed is 0, 1, 2"),
        ((*ROW, "diagnostics", "query_coverage"), 1.2, "query_coverage: found '1.2', allowed is a number from 0 to 1"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_place_and_what_is_allowed(saved, tmp_path, place, value, said):
    doctored = _doctored(saved, tmp_path, place, value)
    with pytest.raises(UsageError) as refused:
        read_report(doctored)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{doctored}: runs[0]: ")
    assert str(refused.value).endswith("name an unchanged one, or measure again")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        # The labels of the fixture expect 9 pages, one of which is stale.
        (("coverage", "fresh"), 10**12, "coverage: fresh: found '1000000000000', allowed is 9 at most"),
        (("coverage", "gold_pages"), 8, "coverage: exist: found '9', allowed is 8 at most"),
        (("timing", "started"), "yesterday", "timing: started: found 'yesterday', allowed is a time such as 2026-"),
        (("timing", "started"), "2026-02-30T09:30:00Z", "timing: started: found '2026-02-30T09:30:00Z'"),
        (("timing", "started"), "2026-03-01 09:30:00", "timing: started: found '2026-03-01 09:30:00'"),
        (
            ("timing", "runs", 0, "queries", "new-treasurer", "warm_ms"),
            -0.5,
            "new-treasurer: warm_ms: found '-0.5', allowed is milliseconds, 0 or more",
        ),
        (("timing", "runs", 0, "warm", "p95"), -1, "warm: p95: found '-1', allowed is milliseconds, 0 or more"),
    ],
)
def test_coverage_and_times_that_cannot_be_are_refused(saved, tmp_path, place, value, said):
    with pytest.raises(UsageError) as refused:
        read_report(_doctored(saved, tmp_path, place, value))
    assert said in str(refused.value)


@pytest.mark.parametrize("metric", ["recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10"])
def test_a_headline_metric_that_was_taken_out_is_missed(saved, tmp_path, metric):
    whole = json.loads(saved.read_text(encoding="utf-8"))
    del whole["runs"][0]["metrics"][metric]
    doctored = tmp_path / "doctored.json"
    doctored.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(UsageError, match=rf"runs\[0\]: metrics: found .*, allowed is an object with the key '{metric}'"):
        read_report(str(doctored))


def test_a_number_that_is_none_is_told_with_its_line(saved, tmp_path):
    lines = saved.read_text(encoding="utf-8").splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if '"warm_ms": ' in line)
    lines[place] = lines[place].replace('"warm_ms": ', '"warm_ms": NaN, "was": ')
    damaged = tmp_path / "damaged.json"
    damaged.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(UsageError, match=f"is no saved report: line {place + 1:,}: NaN is not JSON"):
        read_report(str(damaged))


def test_a_report_is_the_same_without_its_rows_however_it_is_laid_out(saved, tmp_path):
    """Only our own layout is read without the evidence; of another, all is read, and the verdict is the same."""
    whole = read_report(str(saved))
    bare = replace(whole, runs=tuple(replace(run, rows=()) for run in whole.runs))
    assert read_report_without_rows(str(saved)) == bare
    compact = tmp_path / "compact.json"
    compact.write_text(json.dumps(json.loads(saved.read_text(encoding="utf-8"))), encoding="utf-8")
    assert read_report_without_rows(str(compact)) == bare


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((*METRICS, "mrr@10", "value"), 0.76),
        ((*METRICS, "ndcg@10", "value"), 0.01),
        (METRICS, {}),
        ((*ROW, "ranks", "Harbour rules.md"), 2),
        ((*ROW, "rr"), 0.5),
        ((*ROW, "status"), "skipped"),
        ((*ROW, "ranking", 0, "page"), "Other.md"),
        ((*ROW, "id"), "french-shower"),
        ((*RUN, "counts", "scored"), 13),
    ],
)
def test_without_rows_an_edited_report_is_refused_in_the_same_words(saved, tmp_path, place, value):
    doctored = _doctored(saved, tmp_path, place, value)
    refusals = []
    for read in (read_report, read_report_without_rows):
        with pytest.raises(UsageError) as refused:
            read(doctored)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]


def _doctored(saved, tmp_path, place, value):
    """The path of the report with one value other, laid out as it was."""
    whole = json.loads(saved.read_text(encoding="utf-8"))
    holder = whole
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    doctored = tmp_path / "doctored.json"
    doctored.write_bytes(strict_json.encode(strict_json.dumps(whole, spread=4) + "\n"))
    return str(doctored)


def test_a_row_that_was_left_out_is_missed(saved, tmp_path):
    whole = json.loads(saved.read_text(encoding="utf-8"))
    del whole["runs"][0]["queries"][3]
    doctored = tmp_path / "doctored.json"
    doctored.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(UsageError, match="counts: queries: found '14', allowed is 13"):
        read_report(str(doctored))


def test_a_report_without_runs_is_refused(saved, tmp_path):
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps({**json.loads(saved.read_text(encoding="utf-8")), "runs": []}), encoding="utf-8")
    with pytest.raises(UsageError, match="at least one run"):
        read_report(str(damaged))
