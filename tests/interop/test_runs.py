from __future__ import annotations

import json

import pytest

from vault_eval.errors import UsageError
from vault_eval.interop.runs import read_run

HITS = {"q": {"hits": [{"hit": {"_id": "b.md", "_score": 2.0}}, {"hit": {"_id": "a.md", "_score": 1.0}}]}}


@pytest.mark.parametrize(
    "text",
    [
        "q Q0 a.md 2 1.0 t\nq Q0 b.md 1 2.0 t\n",
        '{"q": {"a.md": 1.0, "b.md": 2}}',
        '\n{ "details": ' + json.dumps(HITS) + "}",
        json.dumps({"metric_score": 1.0, "details": HITS, "failures": {}}),
    ],
)
def test_run_of_any_format_is_known_by_its_text(text):
    found = read_run(text, "a.run")
    assert {qid: [one.page for one in ranking] for qid, ranking in found.rankings.items()} == {"q": ["b.md", "a.md"]}


def test_equal_scores_of_json_keep_the_order_of_the_file():
    (ranking,) = read_run('{"q": {"b.md": 1, "a.md": 1, "c.md": 2}}', "a.run").rankings.values()
    assert [(one.rank, one.page) for one in ranking] == [(1, "c.md"), (2, "b.md"), (3, "a.md")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": {"a.md": "high"}}', "a.run: query 'q': 'a.md' has a string; it must be a number"),
        ('{"q": {"é.md": 1, "e\u0301.md": 2}}', "is there twice, in two Unicode forms"),
        ('{"q": [', "a.run: line 1: not JSON"),
        ('{"q": {"a.md": NaN}}', "a.run: line 1: NaN is not JSON"),
        ('{"metric_score": 1.0}', "a.run: details is missing"),
    ],
)
def test_fault_of_a_json_run_names_file_and_query(text, message):
    with pytest.raises(UsageError) as refusal:
        read_run(text, "a.run")
    assert message in str(refusal.value)
