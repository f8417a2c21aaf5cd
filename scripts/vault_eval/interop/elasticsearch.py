"""The ranking evaluation of Elasticsearch and OpenSearch: the body of `_rank_eval` in and out, and the details of its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_eval.interop.carried import Part, best_grades, kept, left_out
from vault_eval.interop.fields import Fields, FirstFault, top_object
from vault_eval.interop.records import ForeignRun, Judgment, Topic, Written
from vault_eval.labels.problems import Place
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.model import RankedPage
from vault_eval.strict_json import JsonValue, dumps
from vault_eval.vault.paths import page_name, quoted

NAME = "elasticsearch"
CARRIES = frozenset({Part.QUERY, Part.GRADES, Part.REFUSED})
# What stands for the index and the field of whoever uses the file; both are to be edited.
INDEX = "vault"
FIELD = "content"
_METRIC: dict[str, JsonValue] = {"mean_reciprocal_rank": {"k": METRIC_CUTOFF_PAGES, "relevant_rating_threshold": 1}}
# Queries that hold the text by field, `{"match": {"content": "heap"}}`, and those that hold it beside their fields.
_BY_FIELD = ("match", "match_phrase", "match_bool_prefix", "match_phrase_prefix")
_BESIDE_FIELDS = ("multi_match", "combined_fields", "query_string", "simple_query_string", "semantic")
_PARAMETERS = ("query_string", "query")


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The rated requests; the text of a query is the one text that its full-text queries hold, or its template's parameters.

    Where there is none, or several, it stays empty. The index of a rated document is not kept.
    """
    top = top_object(text, place)
    return () if top is None else tuple(_topic(request) for request in top.objects("requests"))


def write_labels(topics: Sequence[Topic]) -> Written:
    """The body of a `_rank_eval` request: a match query for each text, to be edited, ratings with grades, and MRR@10."""
    requests: list[JsonValue] = [
        {
            "id": topic.id,
            "request": {"query": {"match": {FIELD: {"query": topic.query}}}},
            "ratings": [{"_index": INDEX, "_id": page, "rating": max(grade, 0)} for page, grade in best_grades(topic).items()],
        }
        for topic in kept(topics, CARRIES)
    ]
    body = dumps({"requests": requests, "metric": _METRIC}, spread=2) + "\n"
    return Written({"rank_eval.json": body}, left_out(topics, CARRIES))


def read_run(text: str, name: str) -> ForeignRun:
    """The hits of each request in the order of the answer, and the requests that failed, with the reason given.

    Raises UsageError that names file and query for an answer without details, and for a document that is there twice.
    """
    top = top_object(text, Place(FirstFault(), name))
    if top is None:
        return ForeignRun("", {})
    rankings = {query: _hits(details) for query, details in top.members("details")}
    failures = top.members("failures") if "failures" in top.values else ()
    return ForeignRun("", rankings, {query: dumps(dict(failure.values)) for query, failure in failures})


def _topic(request: Fields) -> Topic:
    judgments = [
        Judgment(rating.text("_id"), rating.whole("rating"), str(rating.place.where)) for rating in request.objects("ratings")
    ]
    return Topic(request.text("id"), _query_text(request), tuple(judgments), request.place.where)


def _query_text(request: Fields) -> str:
    if "template_id" not in request.values:
        found = dict.fromkeys(_texts(request.values.get("request")))
        return next(iter(found)) if len(found) == 1 else ""
    parameters = request.values.get("params")
    texts = {name: value for name, value in parameters.items() if isinstance(value, str)} if isinstance(parameters, dict) else {}
    named = [texts[name] for name in _PARAMETERS if name in texts] or list(texts.values())
    return named[0] if len(named) == 1 else ""


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text that is searched for, at any depth of a query."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    for kind, query in value.items() if isinstance(value, dict) else ():
        if kind in _BY_FIELD and isinstance(query, dict):
            yield from (one for each in query.values() for one in [_text(each)] if one is not None)
        elif kind in _BESIDE_FIELDS and _text(query) is not None:
            yield str(_text(query))
        else:
            yield from _texts(query)


def _text(query: JsonValue) -> str | None:
    text = query.get("query") if isinstance(query, dict) else query
    return text if isinstance(text, str) else None


def _hits(details: Fields) -> tuple[RankedPage, ...]:
    ranking: dict[str, RankedPage] = {}
    for hit in details.objects("hits"):
        document = hit.member("hit")
        page, score = page_name(document.text("_id")), document.values.get("_score")
        if page in ranking:
            details.place.problem(f"the document {quoted(page)} is there twice; a ranking names a page once")
        known = float(score) if isinstance(score, (int, float)) and not isinstance(score, bool) else None
        ranking[page] = RankedPage(len(ranking) + 1, page, known)
    return tuple(ranking.values())
