"""Labels more in a label file of any format: the text of the file is edited, and read again before anybody writes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields, replace

from vault_eval.authoring import json_edit
from vault_eval.authoring.frontmatter_edit import with_item
from vault_eval.errors import LabelError
from vault_eval.labels.formats import label_formats
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import EXTENDED_SCHEMA, query_id
from vault_eval.labels.write import label_entry, uses_extras
from vault_eval.model import Label, LabelSet
from vault_eval.strict_json import JsonValue, StrictJsonError, dumps, loads
from vault_eval.vault.note import parse_note
from vault_eval.vault.note_text import decode, decode_utf8
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import target_text


def with_labels(document: LabelDocument, labels: Sequence[Label]) -> bytes:
    """The bytes of a label file with `labels` as its last ones; everything else in it stays.

    Raises LabelError for a file that is not valid, that holds an id or a query already, or that has no place for a
    part of a label.
    """
    before = open_labels(document)
    data, schema = document.data, schema_of(document)
    for number, label in enumerate(labels):
        _refuse_twin((*before.labels, *labels[:number]), label, document.name)
        data = _WRITERS[label_format(document)](data, label, schema)
    after = load_labels([replace(document, data=data)]).labels
    lost = next(filter(None, map(_differing, after[len(before.labels) :], labels)), None)
    if lost:
        problem = f"a file of the format {before.sources[0].format!r} has no place for {' and '.join(lost)} of a label"
        raise LabelError(f"{document.name}: {problem}; leave that out, or name a JSON file with the schema {EXTENDED_SCHEMA!r}")
    if len(after) != len(before.labels) + len(labels) or any(map(_differing, before.labels, after)):
        raise LabelError(f"{document.name}: no label can be added without changing others; write it in by hand")
    return data


def as_negative(document: LabelDocument, label: Label, category: str | None) -> tuple[Label, bytes]:
    """A label of this file as a negative: without the reason for which it is skipped, of a category where it has none yet;
    and the bytes of the file with it. Everything else in it stays.

    Raises LabelError for a file that is no native JSON, and for a label of another category.
    """
    by_hand = f"take the skip_reason of {quoted(label.id)} out by hand"
    if label_format(document) != "native":
        raise LabelError(f"{document.name}: only in a JSON label file a label becomes a negative; {by_hand}")
    if category is not None and label.category not in (None, category):
        problem = f"{quoted(label.id)} has the category {quoted(label.category or '')}"
        raise LabelError(f"{document.name}: {problem}; leave --category out")
    negative = replace(label, skip_reason=None, category=category or label.category)
    before = load_labels([document]).labels
    place = next(number for number, one in enumerate(before) if one.id == label.id)
    data = _asked(document.data, place, category if label.category is None else None)
    after = load_labels([replace(document, data=data)]).labels
    if any(map(_differing, after, (*before[:place], negative, *before[place + 1 :]))):
        raise LabelError(f"{document.name}: the label cannot become a negative without changing more; {by_hand}")
    return negative, data


def _asked(data: bytes, place: int, category: str | None) -> bytes:
    """A native file in which the label at `place` is no longer skipped, and has this category beside what it has."""
    text = data.decode("utf-8")
    entry = json_edit.items(text, json_edit.members(text, json_edit.top(text))["queries"].start)[place]
    inserts = [json_edit.one_key_less(text, entry, "skip_reason")]
    inserts += [json_edit.one_key_more(text, entry, "category", category)] if category is not None else []
    return json_edit.applied(text, inserts).encode("utf-8")


def open_labels(document: LabelDocument) -> LabelSet:
    """The labels of a file that is to take more; none at all are no fault of a JSON file then. Raises LabelError."""
    if not _has_no_queries(document):
        return load_labels([document])
    any_label = Label("first", "first", (), "", "")
    data = _WRITERS[label_format(document)](document.data, any_label, "")
    return replace(load_labels([replace(document, data=data)]), labels=())


def _has_no_queries(document: LabelDocument) -> bool:
    if label_format(document) not in ("native", "schema_version 1"):
        return False
    try:
        top = loads(decode_utf8(document.data))
    except StrictJsonError:
        return False
    return isinstance(top, dict) and top.get("queries") == []


def label_format(document: LabelDocument) -> str:
    """The name of the format that reads this file."""
    text = decode_utf8(document.data)
    return next(form.NAME for form in label_formats() if form.recognises(document.name, text))


def named_by_query(document: LabelDocument) -> bool:
    """Whether the query makes the id in this file."""
    return label_format(document) == "schema_version 1"


def schema_of(document: LabelDocument) -> str:
    """The schema that a native file or a label note names, else the name of the file's format. Raises LabelError."""
    form = open_labels(document).sources[0].format
    return parse_note(decode(document.data)).schema or form if form == "note" else form


def without_place(label: Label) -> Label:
    """The label as it is compared: what it says, not where it stands."""
    return replace(label, source="", place="")


def _differing(one: Label, other: Label) -> list[str]:
    one, other = without_place(one), without_place(other)
    return [field.name for field in fields(Label) if getattr(one, field.name) != getattr(other, field.name)]


def _refuse_twin(labels: Sequence[Label], label: Label, name: str) -> None:
    twin = next((each for each in labels if each.query == label.query), None)
    if twin is not None:
        pages = ", ".join(quoted(target_text(target)) for target in twin.gold) or "no page"
        problem = f"the query {quoted(label.query)} is there already, as {quoted(twin.id)}, and expects {pages}"
        raise LabelError(f"{name}: {problem}; change that label, or ask in other words")
    if any(each.id == label.id for each in labels):
        raise LabelError(f"{name}: the id {quoted(label.id)} is taken; name another with --id")


def _into_native(data: bytes, label: Label, _schema: str) -> bytes:
    text = data.decode("utf-8")
    members = json_edit.members(text, json_edit.top(text))
    inserts = [json_edit.one_item_more(text, members["queries"], label_entry(label))]
    if uses_extras(label) and EXTENDED_SCHEMA not in text[members["schema"].start : members["schema"].end]:
        inserts.append(schema_insert(members))
    return json_edit.applied(text, inserts).encode("utf-8")


def schema_insert(members: dict[str, json_edit.Span]) -> json_edit.Insert:
    """The edit that lets a native file hold more than ids, queries, pages and categories."""
    return json_edit.Insert(members["schema"].start, members["schema"].end, json.dumps(EXTENDED_SCHEMA))


def _into_expect(data: bytes, label: Label, _schema: str) -> bytes:
    text = data.decode("utf-8")
    queries = json_edit.members(text, json_edit.top(text))["queries"]
    entry: dict[str, JsonValue] = {"query": label.query, "expect": [target_text(target) for target in label.gold]}
    return json_edit.applied(text, [json_edit.one_item_more(text, queries, entry)]).encode("utf-8")


def _into_lines(data: bytes, label: Label, _schema: str) -> bytes:
    entry: dict[str, JsonValue] = {} if label.id == query_id(label.query) else {"id": label.id}
    relevant: list[JsonValue] = [{"source": target_text(target)} for target in label.gold]
    entry |= {"query": label.query, "relevant": relevant}
    entry |= {"tags": list(label.tags)} if label.tags else {}
    line_end = b"\r\n" if data.endswith(b"\r\n") else b"\n"
    missing = b"" if data.endswith(b"\n") else line_end
    return data + missing + dumps(entry).encode("utf-8") + line_end


def _into_note(data: bytes, label: Label, schema: str) -> bytes:
    if uses_extras(label) and schema != EXTENDED_SCHEMA:
        raise LabelError(f"tags, grades and an origin need the property `schema: {EXTENDED_SCHEMA}`; change it in the note first")
    return with_item(data, "queries", label_entry(label))


_WRITERS: dict[str, Callable[[bytes, Label, str], bytes]] = {
    "native": _into_native,
    "schema_version 1": _into_expect,
    "jsonl": _into_lines,
    "note": _into_note,
}
