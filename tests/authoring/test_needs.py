from __future__ import annotations

import pytest

from vault_eval.authoring.needs import read_needs
from vault_eval.errors import LabelError


def test_each_query_is_a_label_that_expects_nothing_yet_with_its_need_as_note():
    labels = read_needs("where  is it\tto find it\n\nwhere is it\ttwice\nWhere is it?\n\tno query\n", "needs.txt")
    assert [(label.id, label.query, label.note) for label in labels] == [
        ("where-is-it", "where is it", "to find it"),
        ("where-is-it-2", "Where is it?", None),
    ]
    assert all((label.gold, label.skip_reason) == ((), None) for label in labels)


def test_all_faulty_lines_are_named_together():
    with pytest.raises(LabelError) as refused:
        read_needs("good\n" + "x" * 8001 + "\nbad\0\n", "needs.txt")
    head, first, second = str(refused.value).split("\n")
    assert head == "2 problems in the labels:"
    assert first.startswith("needs.txt: line 2, query 'x")
    assert first.endswith("query has 8,001 characters; at most 8,000 are allowed")
    assert second.startswith("needs.txt: line 3, query 'bad'")
