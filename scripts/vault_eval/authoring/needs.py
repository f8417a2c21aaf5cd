"""Queries without labels yet, one a line, as labels that expect nothing: what a first pool is made of."""

from __future__ import annotations

from vault_eval.authoring.new_label import free_id
from vault_eval.labels.entry import Entry, read_entries
from vault_eval.labels.formats.native import entry_shape
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import EXTENDED_SCHEMA, normalise_query
from vault_eval.model import Label
from vault_eval.strict_json import JsonValue


def read_needs(text: str, name: str) -> tuple[Label, ...]:
    """A label for each line `QUERY [TAB NEED]`, the need as its note; none for a query that stands there a second time.

    Raises LabelError with all problems, each with its line in the file `name`.
    """
    entries: dict[str, Entry] = {}
    ids: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        query, need = _query_and_need(line)
        if query and query not in entries:
            label_id = free_id(query, ids)
            ids.add(label_id)
            entries[query] = Entry(_as_entry(label_id, query, need), f"line {number}")
    problems = Problems()
    labels = read_entries(list(entries.values()), Place(problems, name), entry_shape(EXTENDED_SCHEMA))
    problems.raise_if_any()
    return labels


def _query_and_need(line: str) -> tuple[str, str]:
    query, _, need = line.partition("\t")
    return normalise_query(query), normalise_query(need)


def _as_entry(label_id: str, query: str, need: str) -> dict[str, JsonValue]:
    entry: dict[str, JsonValue] = {"id": label_id, "query": query, "expected_pages": []}
    return {**entry, "note": need} if need else entry
