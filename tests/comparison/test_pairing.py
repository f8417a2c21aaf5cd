"""Which queries are subtracted from each other, and that none is lost without a word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vault_eval.comparison.pairing import paired
from vault_eval.errors import UsageError


def test_queries_are_joined_by_id_not_by_place(side, query):
    baseline = side([query("a", 1.0), query("b", 0.5)])
    candidate = side([query("b", 1.0), query("a", 0.5)])
    assert [(before.id, after.id) for before, after in paired(baseline, candidate).pairs] == [("a", "a"), ("b", "b")]


def test_another_text_or_gold_is_another_query(side, query):
    baseline = side([query("a", 1.0), query("b", 1.0), query("c", 1.0)])
    candidate = side([query("a", 1.0, query="other"), query("b", 1.0, gold=("z.md",)), query("c", 1.0)])
    found = paired(baseline, candidate)
    assert [before.id for before, _ in found.pairs] == ["c"]
    reasons = [one.reason for one in found.of("drifted")]
    assert reasons == ["the text differs: 'text of a' and 'other'", "the expected pages differ: 'b.md' and 'z.md'"]


def test_the_order_of_the_gold_pages_decides_nothing(side, query):
    baseline, candidate = (side([query("a", 1.0, gold=gold)]) for gold in (("a.md", "b.md"), ("b.md", "a.md")))
    assert len(paired(baseline, candidate).pairs) == 1


def test_a_heading_is_part_of_the_gold(side, query):
    baseline, candidate = (side([query("a", 1.0, gold=gold)]) for gold in (("a.md",), ("a.md#Part",)))
    assert [one.id for one in paired(baseline, candidate).of("drifted")] == ["a"]


@pytest.mark.parametrize(
    ("before", "after", "apart"),
    [
        ({"a.md": 2}, {"a.md": 2}, None),
        ({"a.md": 1}, {}, None),  # an expected page without a grade has 1
        ({"a.md": 2}, {"a.md": 1}, "the grades differ: 'a.md'"),
        ({"a.md": 2, "z.md": 0}, {"a.md": 2}, "the grades differ: 'z.md'"),  # judged@10 counts it
    ],
)
def test_another_grade_is_another_label(side, query, before, after, apart):
    found = paired(side([query("a", 1.0, grades=before)]), side([query("a", 1.0, grades=after)]))
    assert [one.reason for one in found.of("drifted")] == ([] if apart is None else [apart])
    assert len(found.pairs) == (apart is None)


@pytest.mark.parametrize("status", ["error", "skipped", "missing-gold"])
def test_a_row_without_an_answer_records_no_place_and_no_grade_and_is_lost_not_drifted(side, query, status):
    answered = query("a", 1.0, gold=("a.md#Part", "b.md"), grades={"a.md": 2})
    failed = query("a", 1.0, gold=("a.md", "b.md"), status=status, reason="why")
    for one, other in ((answered, failed), (failed, answered)):
        (unpaired,) = paired(side([one]), side([other])).unpaired
        assert (unpaired.kind, "('why')" in unpaired.reason) == ("lost", True)
    (unpaired,) = paired(side([answered]), side([query("a", 1.0, gold=("c.md",), status=status)])).unpaired
    assert unpaired.reason == "the expected pages differ: 'a.md, b.md' and 'c.md'"


def test_a_query_of_one_side_alone_is_named_with_that_side(side, query):
    found = paired(side([query("a", 1.0)]), side([query("b", 1.0)]))
    assert [(one.id, one.reason) for one in found.of("drifted")] == [
        ("a", "only the baseline has it"),
        ("b", "only the candidate has it"),
    ]


def test_what_ended_otherwise_on_one_side_is_lost_with_its_reason(side, query):
    baseline = side([query("a", 1.0), query("b", 1.0), query("c", 1.0, status="missing-gold", reason="c.md is gone", ranking=())])
    candidate = side(
        [query("a", 1.0, status="error", reason="timed out"), query("b", 1.0, status="skipped", reason="later"), query("c", 1.0)]
    )
    found = paired(baseline, candidate)
    assert found.pairs == ()
    assert [one.reason for one in found.of("lost")] == [
        "answered in the baseline, an error ('timed out') in the candidate",
        "answered in the baseline, skipped ('later') in the candidate",
        "excluded for missing gold ('c.md is gone') in the baseline, answered in the candidate",
    ]


def test_what_is_excluded_on_both_sides_alike_is_no_loss(side, query):
    skipped = side([query("a", 1.0, status="skipped", reason="later"), query("b", 1.0)])
    found = paired(skipped, skipped)
    assert [(one.kind, one.reason) for one in found.unpaired] == [("excluded", "skipped ('later') on both sides")]


def test_an_error_on_both_sides_is_lost_not_excluded(side, query):
    failed = side([query("a", 1.0, status="error", reason="timed out")])
    assert [one.kind for one in paired(failed, failed).unpaired] == ["lost"]


def test_every_query_stands_in_a_pair_or_among_the_unpaired(side, query):
    baseline = side([query(name, 1.0) for name in "abcd"])
    candidate = side([query("b", 0.5), query("c", 1.0, query="other"), query("d", 1.0, status="error"), query("e", 1.0)])
    found = paired(baseline, candidate)
    assert sorted([before.id for before, _ in found.pairs] + [one.id for one in found.unpaired]) == list("abcde")


def test_an_id_that_stands_twice_is_refused(side, query):
    twice = replace(side([query("a", 1.0)]), queries=(query("a", 1.0), query("a", 0.5)))
    with pytest.raises(UsageError, match="query id 'a' twice"):
        paired(twice, side([query("a", 1.0)]))


def test_text_of_a_report_is_shown_escaped_and_cut(side, query):
    found = paired(side([query("a", 1.0, query="\x1b[31m" + "x" * 500)]), side([query("a", 1.0)]))
    reason = found.of("drifted")[0].reason
    assert "\x1b" not in reason
    assert len(reason) < 200
