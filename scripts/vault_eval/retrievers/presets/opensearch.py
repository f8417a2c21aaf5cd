"""OpenSearch and Elasticsearch: a match query on one index, `http:opensearch http://localhost:9200/INDEX`."""

from __future__ import annotations

from vault_eval.limits import OPENSEARCH_RESULTS_MAX
from vault_eval.retrievers.answers import AnswerError, score_of
from vault_eval.retrievers.external_results import FoundPage
from vault_eval.retrievers.presets import HttpPreset, Question, Settings
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

_DOCUMENT_ID = "_id"


def ask(url: str, query: str, size: int, settings: Settings) -> Question:
    """`multi_match` over the text fields, all fields without any; an answer from a part of the index is refused."""
    fields = [field for field in settings["text"].split(",") if field]
    match: dict[str, JsonValue] = {"query": query, **({"fields": list(fields)} if fields else {})}
    source: list[JsonValue] = [] if settings["path"] == _DOCUMENT_ID else [settings["path"]]
    body: dict[str, JsonValue] = {"query": {"multi_match": match}, "size": size, "_source": source}
    return Question(f"{url}/_search?allow_partial_search_results=false", body)


def read(value: JsonValue, settings: Settings, vault_names: frozenset[str]) -> list[FoundPage]:  # noqa: ARG001 - it names none
    """The hits in their order. Raises AnswerError for a partial answer, and for a hit without the path field."""
    answer = _object(value)
    failed = _object(answer.get("_shards")).get("failed", 0)
    if answer.get("timed_out") is True or failed != 0:
        raise AnswerError("gave a partial answer: it ran out of time, or a part of the index failed")
    hits = _object(answer.get("hits")).get("hits")
    if not isinstance(hits, list):
        raise AnswerError("gave no hits.hits, so it is no answer of a search")
    return [_found(_object(hit), settings["path"]) for hit in hits]


def _found(hit: dict[str, JsonValue], field: str) -> FoundPage:
    path = hit.get(_DOCUMENT_ID) if field == _DOCUMENT_ID else _value(hit.get("_source"), field)
    if not isinstance(path, str):
        raise AnswerError(f"gave a hit without text in the field {quoted(field)}; name the field of the path with path=FIELD")
    return FoundPage(path, score_of(hit.get("_score"), path))


def _value(source: JsonValue, field: str) -> JsonValue:
    """A field by its dotted name, whether the document holds it flat or in objects."""
    members = _object(source)
    outer, dot, inner = field.partition(".")
    return members.get(field) if field in members or not dot else _value(members.get(outer), inner)


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


HTTP = HttpPreset(
    url=None,
    ask=ask,
    read=read,
    settings={"path": "path", "text": ""},
    results_max=OPENSEARCH_RESULTS_MAX,
    measures="multi_match with the defaults of the index",
)
