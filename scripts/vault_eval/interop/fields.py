"""The values of JSON that another tool wrote, each checked as it is asked for; what is wrong is reported at its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vault_eval.errors import UsageError
from vault_eval.labels.formats.jsonl import json_lines
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import kind_of
from vault_eval.strict_json import JsonValue, StrictJsonError, loads
from vault_eval.vault.paths import quoted


class FirstFault(Problems):
    """For a run, which a program wrote: the first fault raises UsageError, since nobody mends such a file line by line."""

    def add(self, sentence: str) -> None:
        """Raises UsageError."""
        raise UsageError(sentence)


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object of a file and where it stands. Keys that nobody asks for mean nothing to us."""

    values: Mapping[str, JsonValue]
    place: Place

    def text(self, key: str) -> str:
        """The text under `key`; empty, and reported, where there is none."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            self.place.problem(f"{key} is {self._found(key)}; it must be a text in quotes")
            return ""
        return value

    def text_or_none(self, key: str) -> str | None:
        """The text under `key`, None where it is absent, null or blank."""
        value = self.values.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        return self.text(key)

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of the list under `key`, which must be there."""
        items = self.items(key)
        found = tuple(item for item in items if isinstance(item, str))
        if len(found) < len(items):
            self.place.problem(f"{key} holds something that is no text; it must be a list of texts")
        return found

    def texts_or_none(self, key: str) -> tuple[str, ...]:
        """The texts of the list under `key`, none where it is absent or null."""
        return () if self.values.get(key) is None else self.texts(key)

    def whole(self, key: str) -> int:
        """The whole number under `key`; 0, and reported, where there is none."""
        value = self.values.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            self.place.problem(f"{key} is {self._found(key)}; it must be a whole number")
            return 0
        return value

    def items(self, key: str) -> list[JsonValue]:
        """The list under `key`; empty, and reported, where there is none."""
        value = self.values.get(key)
        if not isinstance(value, list):
            self.place.problem(f"{key} is {self._found(key)}; it must be a list")
            return []
        return value

    def objects(self, key: str) -> Iterator[Fields]:
        """The objects of the list under `key`, each placed at its number, a query at its id."""
        return objects(self.items(key), self.place, key)

    def member(self, key: str) -> Fields:
        """The object under `key`; an empty one, and reported, where there is none."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            self.place.problem(f"{key} is {self._found(key)}; it must be an object")
            return Fields({}, self.place)
        return Fields(value, self.place)

    def members(self, key: str) -> Iterator[tuple[str, Fields]]:
        """The objects of the object under `key` by their names, which are those of queries."""
        inner = self.member(key)
        for name in inner.values:
            place = self.place.at(f"query {quoted(name)}")
            yield name, Fields(inner.values, place).member(name)

    def _found(self, key: str) -> str:
        if key not in self.values:
            return "missing"
        value = self.values[key]
        return "empty" if isinstance(value, str) and not value.strip() else kind_of(value)


def objects(items: list[JsonValue], place: Place, name: str) -> Iterator[Fields]:
    """The objects of a list that is called `name`, each placed at its number, a query at its id; anything else is reported."""
    for number, item in enumerate(items, start=1):
        found = _object(item, place.at(", ".join(filter(None, (place.where, f"{name} number {number}")))))
        identity = found.values.get("id") if found is not None and not place.where else None
        if found is not None:
            yield Fields(found.values, place.at(f"query {quoted(identity)}")) if isinstance(identity, str) else found


def lines_of_objects(text: str, place: Place) -> Iterator[Fields]:
    """The objects of JSON Lines, each placed at its line; anything else is reported."""
    found = (_object(entry.value, place.at(entry.where)) for entry in json_lines(text, place))
    return (each for each in found if each is not None)


def list_of_objects(text: str, place: Place) -> Iterator[Fields]:
    """The objects of a JSON list, which the whole text is; anything else is reported."""
    before = place.problems.count
    value = json_value(text, place)
    if isinstance(value, list):
        return objects(value, place, "query")
    if place.problems.count == before:
        place.problem(f"it is {kind_of(value)}; it must be a list of queries")
    return iter(())


def json_value(text: str, place: Place) -> JsonValue:
    """The JSON value that the whole text is; null, and reported, where it is none."""
    try:
        return loads(text)
    except StrictJsonError as error:
        (place if error.line is None else place.at(f"line {error.line}")).problem(str(error))
        return None


def top_object(text: str, place: Place) -> Fields | None:
    """The JSON object that the whole text is, or None, with the fault reported."""
    before = place.problems.count
    value = json_value(text, place)
    return _object(value, place) if place.problems.count == before else None


def _object(value: JsonValue, place: Place) -> Fields | None:
    if isinstance(value, dict):
        return Fields(value, place)
    place.problem(f"it is {kind_of(value)}; it must be an object")
    return None
