from __future__ import annotations

import pytest

from vault_eval.diagnosis.causes import CAUSE_NAMES
from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.latency import LatencySummary
from vault_eval.metrics.score import MetricValue
from vault_eval.reports import findings, miss_findings, wording
from vault_eval.reports.document import Counts, Coverage
from vault_eval.significance.intervals import Interval


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("recall@5", "recall@5"),
        ("mrr@10", "MRR@10"),
        ("ndcg@20", "nDCG@20"),
        ("ap@10", "AP@10"),
        ("no_result_accuracy", "no-result accuracy"),
        ("something_new@5", "something new@5"),
    ],
)
def test_metric_labels_are_those_of_the_field(name, label):
    assert wording.metric_label(name) == label


def test_every_metric_has_a_label_without_underscores():
    assert not [metric.name for metric in metrics_for(20) if "_" in wording.metric_label(metric.name)]


def test_no_data_is_words_and_never_a_number():
    for status in ("no data", "unavailable"):
        nothing = MetricValue(None, 0, status)
        assert (wording.value_text(nothing), wording.interval_text(nothing)) == (status, "–")


def test_an_unreliable_mean_is_not_shown_as_a_number():
    metric = MetricValue(0.5, 3, "unreliable", Interval(0.1, 0.9, "abc"))
    assert (wording.value_text(metric), wording.interval_text(metric)) == ("unreliable", "–")


def test_numbers_have_three_decimals():
    metric = MetricValue(2 / 3, 3, "ok", Interval(0.2077, 0.9385, "wilson"))
    assert (wording.value_text(metric), wording.interval_text(metric)) == ("0.667", "0.208 – 0.939")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "< 0.01"), (0.0099, "< 0.01"), (0.125, "0.12"), (9.5, "9.50"), (12.34, "12.3"), (167.4, "167"), (1234.0, "1,234")],
)
def test_times_keep_about_three_digits_and_are_never_a_bare_zero(value, text):
    assert wording.milliseconds(value) == text


def test_p95_says_where_it_is_only_the_slowest():
    assert wording.p95_note(LatencySummary(19, 1, 2, 1, 2)) == "(= slowest of 19)"
    assert wording.p95_note(LatencySummary(20, 1, 2, 1, 3)) == ""


def test_a_cold_query_is_held_against_a_bare_start():
    cold, bare = LatencySummary(5, 90.0, 95, 90, 95), LatencySummary(5, 20.0, 21, 20, 21)
    assert wording.times_bare(cold, bare) == "4.5 times a bare Python start (20.0 ms)"  # 90 / 20
    assert wording.times_bare(cold, None) is None


def test_coverage_is_one_sentence():
    assert wording.coverage_sentence(Coverage(9, 9, 9, 9, 8)) == "9 gold pages: 9 exist, 9 in scope, 9 indexed, 8 fresh"
    assert "no gold pages" in wording.coverage_sentence(Coverage(0, 0, 0, 0, 0))


def test_each_kind_of_exclusion_is_named_only_where_it_occurs():
    assert wording.excluded_sentence(Counts(14, 12, 2, 0, 0, 0, 0, 0)) is None
    sentence = wording.excluded_sentence(Counts(14, 9, 2, 1, 2, 2, 0, 0))
    assert sentence == "1 for missing gold (2 pages), 2 skipped by a label. " + wording.EXCLUDED


def test_errors_are_counted_aloud():
    assert wording.counts_sentence(Counts(3, 1, 1, 0, 0, 0, 0, 1)).endswith(", 1 ended in an error")


@pytest.mark.parametrize("cause", CAUSE_NAMES)
def test_every_cause_is_told_in_words(cause):
    told = wording.why(Diagnosis("A.md", cause, "what was seen"))
    assert "what was seen" in told
    assert "_" not in told
    assert wording.why(Diagnosis("A.md", cause, "")) != ""


def test_remedies_are_ordered_by_the_queries_they_help(make_row, make_run):
    stale, words = (Diagnosis("A.md", cause, "x") for cause in ("stale", "vocabulary_mismatch"))
    rows = [make_row(str(number), "q", ["A.md"], ["B.md"], diagnosis=(one,)) for number, one in enumerate([words, stale, stale])]
    rows.append(make_row("gone", "q", ["C.md"], ["B.md"], diagnosis=(Diagnosis("C.md", "not_indexed", "x"),)))
    steps = miss_findings.next_steps(make_run(rows))
    # stale (2) and not_indexed (1) have the same remedy: 3 queries against 1
    assert steps[0].startswith("index the vault again: 2 queries (the gold page changed since it was indexed), 1 query (")
    assert steps[1].startswith("add the words people ask with")


def test_missing_gold_is_mended_but_no_cause_of_a_miss(small_report):
    run = small_report.runs[0]
    assert [one.name for one in miss_findings.causes(run)] == ["outranked"]
    assert any(step.startswith("correct the path in the label") for step in miss_findings.next_steps(run))


def test_there_is_always_a_next_step(make_row, make_run):
    assert miss_findings.next_steps(make_run([make_row("n", "q", [], [])])) != ()
    assert miss_findings.next_steps(make_run([make_row("n", "q", ["A.md"], ["A.md"])])) != ()


def test_what_came_instead_is_the_best_page_that_was_not_expected(make_row):
    assert miss_findings.instead(make_row("n", "q", ["A.md", "C.md"], ["A.md", "B.md"])) == "B.md at rank 2"
    assert miss_findings.instead(make_row("n", "q", ["A.md"], [])) == "nothing was found"
    assert miss_findings.instead(make_row("n", "q", ["A.md", "C.md"], ["A.md"])) == "nothing but expected pages was found"


def test_more_gold_than_places_is_said(make_row, make_run):
    gold = [f"{number}.md" for number in range(6)]
    notes = findings.notes(make_run([make_row("n", "q", gold, [gold[0], "other.md", *gold[1:5]])]))
    # The first is gold: 1 of 1 place. Of the first five, four are: 4 of 5 places.
    assert (
        "more gold pages than places, so that recall cannot reach 1: 1 query at cutoff 1 (over the places there are, recall is 1.000), "
        "1 query at cutoff 5 (over the places there are, recall is 0.800)"
    ) in notes


def test_a_single_category_is_not_compared(make_row, make_run):
    assert findings.categories(make_run([make_row("n", "q", ["A.md"], ["A.md"], category="one")])) == ()
