"""A label set as JSON text that `load_labels` reads back."""

from __future__ import annotations

from vault_eval.labels.rules import EXTENDED_SCHEMA, PLAIN_SCHEMA
from vault_eval.model import Label, LabelSet
from vault_eval.strict_json import JsonValue, dumps
from vault_eval.vault.targets import target_text

_LEVELS_ON_LINES_OF_THEIR_OWN = 2


def native_json(label_set: LabelSet) -> str:
    """One query a line, under `claude-obsidian.retrieval-queries.v1`, or `vault-eval.labels.v1` where an extra is used.

    Sources, places and warnings are not in it. A set of more than 1,000 labels is more than one file may hold.
    """
    extras = [_extras(label) for label in label_set.labels]
    queries = [{**_plain(label), **extra} for label, extra in zip(label_set.labels, extras, strict=True)]
    document = {"schema": EXTENDED_SCHEMA if any(extras) else PLAIN_SCHEMA, "queries": queries}
    return dumps(document, spread=_LEVELS_ON_LINES_OF_THEIR_OWN) + "\n"


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
