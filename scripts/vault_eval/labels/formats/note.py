"""A note whose frontmatter holds `schema` and `queries` as the JSON formats do; paths may be `"[[wikilinks]]"`.

Text in YAML is what was written, or it is refused: a value that YAML would read as a number, a date or true needs quotes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vault_eval.labels.entry import Entry, EntryShape, read_entries
from vault_eval.labels.formats import LabelText, ReadLabels
from vault_eval.labels.formats.native import entry_shape, known_schema
from vault_eval.labels.grades import GRADES
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import path_targets
from vault_eval.labels.wikilinks import LinkResolver
from vault_eval.nearest import nearest
from vault_eval.strict_json import JsonValue
from vault_eval.vault.note import frontmatter_tree, unsafe_values
from vault_eval.vault.paths import quoted
from vault_eval.vault.yaml_tree import INTEGER_TAG, TEXT_TAG, NoteError, YamlList, YamlMap, YamlNode, YamlScalar

NAME = "note"
_READ_AS = {
    INTEGER_TAG: "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:timestamp": "a date",
}


def recognises(name: str, text: str) -> bool:  # noqa: ARG001 - a note without labels is told so by name
    """Whether the file is a note, by its suffix."""
    return name.lower().endswith(".md")


def read(document: LabelText, place: Place) -> ReadLabels:
    """The labels in the frontmatter; other properties are ignored, but for a warning where no program could load one."""
    try:
        top = frontmatter_tree(document.text)
    except NoteError as error:
        place.at(f"line {error.line}").problem(str(error))
        return ReadLabels((), NAME)
    for warning in unsafe_values(document.text):
        place.warn(warning)
    schema = _schema(top, place)
    if schema is None:
        return ReadLabels((), NAME)
    queries = _queries(top, place)
    if queries is None:
        return ReadLabels((), NAME)
    lines = document.text.split("\n")
    entries = [_entry(item, place, lines) for item in queries.items]
    return ReadLabels(read_entries(entries, place, _shape(schema, document)), NAME)


def _schema(top: YamlMap, place: Place) -> str | None:
    for name in _repeated(top):
        place.problem(f"the property {quoted(name)} is there twice; write it once")
    value = _property(top, "schema")
    here = place if value is None else place.at(f"line {value.line}")
    return known_schema(value.text if isinstance(value, YamlScalar) and not value.is_null else None, here)


def _queries(top: YamlMap, place: Place) -> YamlList | None:
    value = _property(top, "queries")
    if isinstance(value, YamlList):
        return value
    near = nearest("queries", [name for name, _ in _named(top)])
    hint = f" (is {quoted(near[0])} meant to be it?)" if value is None and near else ""
    found = "there is no property 'queries'" if value is None else "queries is no list"
    (place if value is None else place.at(f"line {value.line}")).problem(f"{found}{hint}; it must be a list of queries")
    return None


def _shape(schema: str, document: LabelText) -> EntryShape:
    resolve = LinkResolver(document.pages, document.folder).target
    targets = functools.partial(path_targets, key="expected_pages", resolve=resolve)
    return replace(entry_shape(schema), targets=targets, resolve=resolve)


def _entry(node: YamlNode, place: Place, lines: Sequence[str]) -> Entry:
    """One query as JSON would hold it. Values that lose their text in YAML are reported here, and kept as text."""
    where = f"line {node.line}"
    if not isinstance(node, YamlMap):
        return Entry(_value(node, "queries", place.at(where)), where)
    name = _property(node, "id")
    here = place.at(f"{where}, query {quoted(name.text)}" if isinstance(name, YamlScalar) and not name.is_null else where)
    for key, value in _named(node):
        if isinstance(value, YamlScalar):
            _warn_of_comment(key, value, here, lines)
    return Entry(_object(node, "", here), where)


def _object(node: YamlMap, inside: str, place: Place) -> dict[str, JsonValue]:
    for name in _repeated(node):
        place.problem(f"the key {quoted(name)} is there twice; write it once")
    if any(not isinstance(key, YamlScalar) for key, _ in node.pairs):
        place.problem("a key is a list or a mapping; keys are plain words")
    return {name: _value(value, inside or name, place) for name, value in _named(node)}


def _value(node: YamlNode, key: str, place: Place) -> JsonValue:
    if isinstance(node, YamlMap):
        return _object(node, key, place)
    if isinstance(node, YamlList):
        return [_value(item, key, place) for item in node.items]
    if node.is_null:
        return None
    if node.plain and node.tag == INTEGER_TAG and key == "grades" and node.text in map(str, GRADES):
        return int(node.text)
    if node.tag != TEXT_TAG:
        kind = _READ_AS.get(node.tag, "no text")
        place.problem(f"{key} is {quoted(node.text)}, which YAML reads as {kind} (line {node.line}); quote the text")
    return node.text


def _warn_of_comment(key: str, value: YamlScalar, place: Place, lines: Sequence[str]) -> None:
    """YAML ends a plain value at ` #`; a person who writes tags in a query does not expect that."""
    line = lines[value.line - 1]
    if value.plain and f"{value.text} #" in line:
        place.warn(f'{key} ends before " #", the rest of line {value.line} is a comment; quote the text if that belongs to it')


def _named(node: YamlMap) -> Iterator[tuple[str, YamlNode]]:
    """The pairs whose key is a scalar, by the text of that key."""
    return ((key.text, value) for key, value in node.pairs if isinstance(key, YamlScalar))


def _property(node: YamlMap, name: str) -> YamlNode | None:
    return next((value for key, value in _named(node) if key == name), None)


def _repeated(node: YamlMap) -> tuple[str, ...]:
    names = [name for name, _ in _named(node)]
    return tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
