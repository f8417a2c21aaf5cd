"""JSON `{"schema_version": 1, "queries": [{"query": …, "expect": [path…]}]}`; the query makes the id."""

from __future__ import annotations

import functools
import re

from vault_eval.labels.entry import EntryShape
from vault_eval.labels.formats import LabelText, ReadLabels
from vault_eval.labels.formats.native import json_object, read_queries
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import path_targets, report_unknown_keys
from vault_eval.vault.targets import parse_target

NAME = "schema_version 1"
_VERSION = 1
# A quote inside a JSON string stands after a backslash, so query text cannot look like a key.
_VERSION_KEY = re.compile(r'"schema_version"\s*:')
_SCHEMA_KEY = re.compile(r'"schema"\s*:')


def recognises(name: str, text: str) -> bool:
    """Whether the text is JSON with the key `schema_version` and without `schema`."""
    if name.lower().endswith((".md", ".jsonl", ".ndjson")):
        return False
    return _VERSION_KEY.search(text) is not None and _SCHEMA_KEY.search(text) is None


def read(document: LabelText, place: Place) -> ReadLabels:
    """The labels of the document, named by the digest of their query."""
    top = json_object(document.text, place)
    if top is None:
        return ReadLabels((), NAME)
    report_unknown_keys(top, ("schema_version", "queries"), place)
    version = top.get("schema_version")
    if type(version) is not int or version != _VERSION:
        place.problem(f"schema_version is {version!r:.40}; queries are read under schema_version {_VERSION}")
    return ReadLabels(read_queries(top, place, _SHAPE), NAME)


_SHAPE = EntryShape(
    keys=("query", "expect"),
    gold_key="expect",
    targets=functools.partial(path_targets, key="expect", resolve=parse_target),
    id_from_query=True,
)
