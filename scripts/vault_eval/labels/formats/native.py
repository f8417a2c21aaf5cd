"""JSON with the schema `claude-obsidian.retrieval-queries.v1`, or its superset `vault-eval.labels.v1`."""

from __future__ import annotations

import functools

from vault_eval.labels.entry import Entry, EntryShape, read_entries
from vault_eval.labels.formats import LabelText, ReadLabels
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import (
    EXTENDED_SCHEMA,
    EXTRA_KEYS,
    PLAIN_KEYS,
    PLAIN_SCHEMA,
    kind_of,
    path_targets,
    report_unknown_keys,
)
from vault_eval.model import Label
from vault_eval.strict_json import JsonValue, StrictJsonError, loads
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import parse_target

NAME = "native"
_OTHER_SUFFIXES = (".md", ".jsonl", ".ndjson")
_KEYS_BY_SCHEMA = {PLAIN_SCHEMA: PLAIN_KEYS, EXTENDED_SCHEMA: PLAIN_KEYS + EXTRA_KEYS}


def recognises(name: str, text: str) -> bool:  # noqa: ARG001 - every JSON file that is no other format is held against this one
    """Whether the file is none of the formats that have a suffix of their own."""
    return not name.lower().endswith(_OTHER_SUFFIXES)


def read(document: LabelText, place: Place) -> ReadLabels:
    """The labels of a JSON document `{"schema": …, "queries": […]}`."""
    top = json_object(document.text, place)
    if top is None:
        return ReadLabels((), NAME)
    report_unknown_keys(top, ("schema", "queries"), place)
    schema = known_schema(top.get("schema"), place)
    if schema is None:
        return ReadLabels((), NAME)
    return ReadLabels(read_queries(top, place, entry_shape(schema)), schema)


def json_object(text: str, place: Place) -> dict[str, JsonValue] | None:
    """The JSON object that the whole text is, or None, with the fault reported."""
    if not text.strip():
        place.problem("it is empty; a label file needs at least one query")
        return None
    try:
        top = loads(text)
    except StrictJsonError as error:
        (place if error.line is None else place.at(f"line {error.line}")).problem(str(error))
        return None
    if not isinstance(top, dict):
        place.problem(f"it is {kind_of(top)}; a label file is an object with the keys 'schema' and 'queries'")
        return None
    return top


def known_schema(value: JsonValue, place: Place) -> str | None:
    """The schema's name if it is one of ours, or None, with the fault reported."""
    if isinstance(value, str) and value in _KEYS_BY_SCHEMA:
        return value
    found = f"schema is {quoted(value)}" if isinstance(value, str) else "there is no key 'schema' with a name in it"
    place.problem(f"{found}; queries are read under {' or '.join(repr(name) for name in _KEYS_BY_SCHEMA)}")
    return None


def entry_shape(schema: str) -> EntryShape:
    """How a query is written under one of the two schemas, in JSON."""
    return EntryShape(keys=_KEYS_BY_SCHEMA[schema], gold_key="expected_pages", targets=_targets)


def read_queries(top: dict[str, JsonValue], place: Place, shape: EntryShape) -> tuple[Label, ...]:
    """The labels under the key `queries`."""
    queries = top.get("queries")
    if not isinstance(queries, list):
        place.problem(f"queries is {kind_of(queries) if 'queries' in top else 'missing'}; it must be a list of queries")
        return ()
    return read_entries([Entry(query) for query in queries], place, shape)


_targets = functools.partial(path_targets, key="expected_pages", resolve=parse_target)
