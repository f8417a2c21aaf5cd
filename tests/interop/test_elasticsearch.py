from __future__ import annotations

import json

import pytest
from foreign_sets import reading

from vault_eval.errors import UsageError
from vault_eval.interop import elasticsearch
from vault_eval.model import RankedPage

ANSWER = {
    "metric_score": 0.25,
    "details": {
        "leak": {
            "metric_score": 0.5,
            "unrated_docs": [{"_index": "notes", "_id": "Sea/Tides.md"}],
            "hits": [
                {"hit": {"_index": "notes", "_id": "Sea/Tides.md", "_score": 7.5}, "rating": None},
                {"hit": {"_index": "notes", "_id": "Garden/Hose.md", "_score": None}, "rating": 1},
            ],
            "metric_details": {"mean_reciprocal_rank": {"first_relevant": 2}},
        },
        "nothing": {"metric_score": 0.0, "unrated_docs": [], "hits": []},
    },
    "failures": {"broken": {"error": {"type": "parsing_exception", "reason": "unknown query [mtch]"}}},
}


def request(**query):
    return json.dumps({"requests": [{"id": "q", "ratings": [], **query}]})


def test_hits_are_the_ranking_and_failures_are_errors():
    run = elasticsearch.read_run(json.dumps(ANSWER), "answer.json")
    assert run.rankings == {"leak": (RankedPage(1, "Sea/Tides.md", 7.5), RankedPage(2, "Garden/Hose.md", None)), "nothing": ()}
    assert list(run.errors) == ["broken"]
    assert "unknown query [mtch]" in run.errors["broken"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"details": None}, "answer.json: details is null; it must be an object"),
        ({"details": {"q": {"hits": [{"hit": {}}]}}}, "answer.json: query 'q', hits number 1: _id is missing"),
        ({"details": {"q": {"hits": [{"rating": 1}]}}}, "answer.json: query 'q', hits number 1: hit is missing"),
        (
            {"details": {"q": {"hits": [{"hit": {"_id": "a.md"}}, {"hit": {"_id": "a.md"}}]}}},
            "answer.json: query 'q': the document 'a.md'",
        ),
        ({"details": {"q": 1}}, "answer.json: query 'q'"),
        ({"failures": []}, "answer.json: failures is a list"),
    ],
)
def test_answer_that_is_none_is_refused_with_its_place(change, message):
    with pytest.raises(UsageError) as refusal:
        elasticsearch.read_run(json.dumps({**ANSWER, **change}), "answer.json")
    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(
    "query",
    [
        {"request": {"query": {"match_all": {}}}},
        {"request": {"query": {"bool": {"should": [{"match": {"a": "one"}}, {"match": {"a": "two"}}]}}}},
        {"request": {"query": {"knn": {"field": "v", "query_vector": [1.0]}}}},
        {"template_id": "t", "params": {"a": "one", "b": "two"}},
        {"template_id": "t"},
        {},
    ],
)
def test_query_without_one_text_is_left_without(query):
    ((topic,), _) = reading(elasticsearch.read_labels, request(**query))
    assert topic.query == ""


@pytest.mark.parametrize(
    "query",
    [
        {"request": {"query": {"match": {"a": "text"}}}},
        {
            "request": {
                "query": {"bool": {"must": {"query_string": {"query": "text"}}, "should": [{"match": {"b": {"query": "text"}}}]}}
            }
        },
        {"request": {"query": {"function_score": {"query": {"simple_query_string": {"query": "text"}}}}}},
        {"template_id": "t", "params": {"query": "text", "field": "a"}},
        {"template_id": "t", "params": {"words": "text", "size": 3}},
    ],
)
def test_the_one_text_that_is_searched_for_is_the_query(query):
    ((topic,), _) = reading(elasticsearch.read_labels, request(**query))
    assert topic.query == "text"
