"""A label set as JSON text that `load_labels` reads back."""

from __future__ import annotations

from collections.abc import Sequence

from vault_eval.labels.rules import EXTENDED_SCHEMA, PLAIN_SCHEMA
from vault_eval.model import Label, LabelSet
from vault_eval.strict_json import JsonValue, dumps
from vault_eval.vault.targets import target_text

_LEVELS_ON_LINES_OF_THEIR_OWN = 2


def native_json(label_set: LabelSet) -> str:
    """One query a line, under `claude-obsidian.retrieval-queries.v1`, or `vault-eval.labels.v1` where an extra is used.

    Sources, places and warnings are not in it. A set of more than 1,000 labels is more than one file may hold.
    """
    document = native_value(label_set.labels)
    return dumps(document, spread=_LEVELS_ON_LINES_OF_THEIR_OWN) + "\n"


def native_value(labels: Sequence[Label]) -> dict[str, JsonValue]:
    """The labels as the JSON value that `native_json` writes."""
    schema = EXTENDED_SCHEMA if any(map(uses_extras, labels)) else PLAIN_SCHEMA
    return {"schema": schema, "queries": [label_entry(label) for label in labels]}


def label_entry(label: Label) -> dict[str, JsonValue]:
    """One label as it stands in a native file, without what it does not have."""
    return {**_plain(label), **_extras(label)}


def uses_extras(label: Label) -> bool:
    """Whether a label can only stand under `vault-eval.labels.v1`."""
    return bool(_extras(label))


def _plain(label: Label) -> dict[str, JsonValue]:
    gold: list[JsonValue] = [target_text(target) for target in label.gold]
    entry: dict[str, JsonValue] = {"id": label.id, "query": label.query, "expected_pages": gold}
    return {**entry, **_given({"category": label.category, "skip_reason": label.skip_reason})}


def _extras(label: Label) -> dict[str, JsonValue]:
    return _given(
        {
            "tags": list(label.tags) or None,
            "split": label.split,
            "origin": label.origin,
            "note": label.note,
            "collection": label.collection,
            "grades": dict(label.grades) or None,
            "hashes": dict(label.hashes) or None,
        }
    )


def _given(values: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: value for key, value in values.items() if value is not None}
