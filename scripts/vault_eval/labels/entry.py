"""One query of a label file: how a format writes it, and what each of its values may be.

A format turns its file into entries, JSON objects of one query each, and says in an `EntryShape` how they are written;
`read_entries` holds them against the rules and makes labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os.path import basename

from vault_eval.labels.grades import GRADES
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import (
    SPLITS,
    kind_of,
    normalise_query,
    query_id,
    report_repeated_targets,
    report_unknown_keys,
    too_many,
    usable_target,
)
from vault_eval.limits import LABEL_QUERIES_MAX, LABEL_QUERY_MAX_CHARACTERS
from vault_eval.model import Label, Target
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import has_control_character, has_lone_surrogate, quoted
from vault_eval.vault.targets import TargetError, parse_target, target_text

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One query as it stands in a file; `where` is its line, or empty where only its id or number can tell."""

    value: JsonValue
    where: str = ""


@dataclass(frozen=True, slots=True)
class EntryShape:
    """How one format writes a query.

    `targets` reads the value under `gold_key`; it reports what is wrong at the place given. Without an id of its own a
    query is named by its text where `id_from_query` is set.
    """

    keys: tuple[str, ...]
    gold_key: str
    targets: Callable[[JsonValue, Place], tuple[Target, ...]]
    id_from_query: bool = False
    resolve: Callable[[str], Target] = parse_target


def read_entries(entries: Sequence[Entry], place: Place, shape: EntryShape) -> tuple[Label, ...]:
    """The labels of one file in file order. Entries with a fault are reported and left out."""
    if not entries:
        place.problem("there are no queries; a label file needs at least one")
    if len(entries) > LABEL_QUERIES_MAX:
        place.problem(f"{len(entries):,} queries; a label file has at most {LABEL_QUERIES_MAX:,}: split it")
        return ()
    read = (_read_entry(entry, number, place, shape) for number, entry in enumerate(entries, start=1))
    return tuple(label for label in read if label is not None)


def _read_entry(entry: Entry, number: int, place: Place, shape: EntryShape) -> Label | None:
    value = entry.value
    name = _name(value)
    here = place.at(", ".join(part for part in (entry.where, name) if part) or f"query number {number}")
    if not isinstance(value, dict):
        here.problem(f"it is {kind_of(value)}; a query is an object with {', '.join(shape.keys)}")
        return None
    before = place.problems.count
    fields = _Fields(value, here, shape)
    label = fields.label()
    return label if place.problems.count == before else None


def _name(value: JsonValue) -> str:
    name = value.get("id") if isinstance(value, dict) else None
    return f"query {quoted(name)}" if isinstance(name, str) else ""


class _Fields:
    """The values of one entry, each checked as it is asked for."""

    def __init__(self, entry: Mapping[str, JsonValue], place: Place, shape: EntryShape) -> None:
        self._entry = entry
        self._place = place
        self._shape = shape

    def label(self) -> Label:
        report_unknown_keys(self._entry, self._shape.keys, self._place)
        query = self._query()
        gold = self._gold()
        tags = self._tags()
        return Label(
            id=self._id(query),
            query=query,
            gold=gold,
            source=basename(self._place.file),
            place=self._place.where,
            category=self._text("category"),
            tags=tags,
            skip_reason=self._text("skip_reason"),
            split=self._split(),
            origin=self._text("origin"),
            note=self._text("note"),
            collection=self._text("collection"),
            grades=self._grades(gold),
            hashes=self._hashes(),
        )

    def _query(self) -> str:
        text = self._text("query", required=True) or ""
        query = normalise_query(text)
        if "\0" in query:
            self._place.problem("query holds a NUL character, which no searcher can be given")
        if len(query) > LABEL_QUERY_MAX_CHARACTERS:
            self._place.problem(f"query has {len(query):,} characters; at most {LABEL_QUERY_MAX_CHARACTERS:,} are allowed")
        return query

    def _id(self, query: str) -> str:
        if "id" not in self._entry and self._shape.id_from_query:
            return query_id(query) if not has_lone_surrogate(query) else ""
        name = self._text("id", required=True) or ""
        if has_control_character(name):
            self._place.problem("id holds a control character or line break; use letters, digits and signs")
        return name

    def _text(self, key: str, *, required: bool = False) -> str | None:
        """The string under `key`, not empty; None where it is absent or faulty."""
        if key not in self._entry:
            if required:
                self._place.problem(f"{key} is missing")
            return None
        value = self._entry[key]
        if not isinstance(value, str):
            self._place.problem(f"{key} is {kind_of(value)}; it must be a string in quotes{'' if required else ', or left out'}")
        elif not value.strip():
            self._place.problem(f"{key} is empty{'' if required else '; give it a text or leave it out'}")
        elif has_lone_surrogate(value):
            self._place.problem(f"{key} {quoted(value)} holds half a character (a lone surrogate, not valid Unicode)")
        else:
            return value
        return None

    def _gold(self) -> tuple[Target, ...]:
        key = self._shape.gold_key
        if key not in self._entry:
            self._place.problem(f"{key} is missing; write [] if no page is expected")
            return ()
        targets = self._shape.targets(self._entry[key], self._place)
        if too_many(len(targets), self._place, key):
            return ()
        report_repeated_targets(targets, self._place, key)
        return targets

    def _tags(self) -> tuple[str, ...]:
        value = self._entry.get("tags", [])
        if not isinstance(value, list):
            self._place.problem(f"tags is {kind_of(value)}; it must be a list of strings")
            return ()
        tags = [tag for tag in value if isinstance(tag, str) and tag.strip() and not has_lone_surrogate(tag)]
        if len(tags) != len(value):
            self._place.problem("tags holds something that is no text; it must be a list of strings, none empty")
        return tuple(dict.fromkeys(tags))

    def _split(self) -> str | None:
        split = self._text("split")
        if split is not None and split not in SPLITS:
            self._place.problem(f"split is {quoted(split)}; allowed are {' and '.join(SPLITS)}")
        return split

    def _grades(self, gold: Sequence[Target]) -> dict[str, int]:
        grades: dict[str, int] = {}
        for target, value in self._by_target("grades"):
            name = target_text(target)
            fault = self._grade_fault(target, value, gold)
            if isinstance(value, int) and fault is None:
                grades[name] = value
            else:
                self._place.problem(f"grades: {quoted(name)} {fault}")
        return grades

    def _grade_fault(self, target: Target, value: JsonValue, gold: Sequence[Target]) -> str | None:
        key = self._shape.gold_key
        if not isinstance(value, int) or isinstance(value, bool) or value not in GRADES:
            return f"has {quoted(str(value))}; allowed are 0, 1 and 2"
        if value and target.page not in {each.page for each in gold}:
            return f"has {value} but is not in {key}; add it there, or grade it 0"
        if not value and target in gold:
            return f"has 0 but is in {key}; take it out there, or grade it 1 or 2"
        return None

    def _hashes(self) -> dict[str, str]:
        hashes: dict[str, str] = {}
        for target, value in self._by_target("hashes"):
            if isinstance(value, str) and _SHA256.fullmatch(value):
                hashes[target_text(target)] = value
            else:
                self._place.problem(f"hashes: {quoted(target_text(target))} needs a SHA-256 of 64 lower-case hexadecimal digits")
        return hashes

    def _by_target(self, key: str) -> Iterable[tuple[Target, JsonValue]]:
        value = self._entry.get(key, {})
        if not isinstance(value, dict):
            self._place.problem(f"{key} is {kind_of(value)}; it must be an object of paths")
            return
        for text, item in value.items():
            try:
                yield usable_target(text, self._shape.resolve), item
            except TargetError as error:
                self._place.problem(f"{key}: {error}")
