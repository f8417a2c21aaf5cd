from __future__ import annotations

import pytest

from vault_eval.authoring.judged_labels import NOTHING_FOUND, ORIGIN, UNFINISHED
from vault_eval.authoring.merging import merged
from vault_eval.model import Label, Target


def label(name, *gold: str, query=None, skip=None):
    return Label(name, query or f"about {name}", tuple(map(Target, gold)), "", "", skip_reason=skip, origin=ORIGIN)


def test_only_queries_that_are_not_there_and_judged_to_the_end_are_added():
    known = [label("a", "A.md"), label("b", "B.md")]
    judged = [label("b", "B.md"), label("c", "C.md"), label("d", "D.md", skip=UNFINISHED), label("e", skip=NOTHING_FOUND)]
    found = merged(known, judged)
    assert [[one.id for one in ones] for ones in (found.added, found.there, found.unfinished, found.nothing_found)] == [
        ["c", "e"],
        ["b"],
        ["d"],
        ["e"],
    ]
    assert found.refused == ()


@pytest.mark.parametrize(
    ("known", "judged", "said"),
    [
        (label("a", "A.md"), label("a", "B.md"), "'about a' is there as 'a' with 'A.md', judged: 'B.md'"),
        (label("a", "A.md"), label("a", skip=NOTHING_FOUND), "'about a' is there as 'a' with 'A.md', judged: no page"),
        (label("a"), label("a", "A.md"), "'about a' is there as 'a' with no page, judged: 'A.md'"),
        (
            label("a", "A.md", skip="later"),
            label("a", "A.md"),
            "'about a' is there as 'a' with 'A.md', skipped ('later'), judged: 'A.md'",
        ),
    ],
)
def test_query_that_is_there_with_other_gold_is_refused_and_named(known, judged, said):
    found = merged([known], [judged])
    assert (found.added, found.there, found.refused) == ((), (), (said,))


def test_order_of_gold_and_the_negative_that_was_made_of_nothing_found_are_no_contradiction():
    assert len(merged([label("a", "A.md", "B.md")], [label("a", "B.md", "A.md")]).there) == 1
    assert len(merged([label("a")], [label("a", skip=NOTHING_FOUND)]).there) == 1


def test_id_that_another_query_has_is_made_anew_and_all_stay_apart():
    known = [label("boat", query="boat, please")]
    judged = [label("boat", query="boat"), label("boat-2", query="boat?"), label("boat-3", query="boat!")]
    assert [one.id for one in merged(known, judged).added] == ["boat-4", "boat-2", "boat-3"]
    assert [one.query for one in merged(known, judged).added] == ["boat", "boat?", "boat!"]
