"""Values of a JSON document, read as one type each; it may be damaged or hostile, so each value says where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from vault_eval.errors import UsageError
from vault_eval.limits import MESSAGE_TEXT_MAX_CHARACTERS
from vault_eval.strict_json import JsonValue

T = TypeVar("T")
W = TypeVar("W", bound=str)
# What was divided or added up in another order may differ by so much.
ROUNDING_MAX = 1e-9
_SHOWN_MAX_CHARACTERS = 60
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and where it stands; each method gives it as one type or raises UsageError that says what was found.

    `advice` closes each of these errors: what the document is not, and the next step.
    """

    value: JsonValue
    place: str
    advice: str

    def __getitem__(self, key: str) -> Node:
        if not isinstance(self.value, dict) or key not in self.value:
            raise self.refused(f"an object with the key {key!r}")
        name = key if key.isprintable() else repr(key[:MESSAGE_TEXT_MAX_CHARACTERS])
        return Node(self.value[key], f"{self.place}: {name}", self.advice)

    def optional(self, key: str, read: Callable[[Node], T], absent: T) -> T:
        """What `read` makes of the value under `key`, or `absent` where there is no such key."""
        return read(self[key]) if isinstance(self.value, dict) and key in self.value else absent

    def or_none(self, read: Callable[[Node], T]) -> T | None:
        """What `read` makes of the value; None for null."""
        return None if self.value is None else read(self)

    def refused(self, allowed: str) -> UsageError:
        """The error that says what was found here, what is allowed, and the next step."""
        found = str(self.value)[:_SHOWN_MAX_CHARACTERS]
        return UsageError(f"{self.place}: found {found!r}, allowed is {allowed}; {self.advice}")

    def text(self) -> str:
        """The value as text."""
        if not isinstance(self.value, str):
            raise self.refused("text")
        return self.value

    def one_of(self, allowed: tuple[W, ...]) -> W:
        """The one of these words that stands here."""
        found = next((word for word in allowed if word == self.value), None)
        if found is None:
            raise self.refused(", ".join(allowed))
        return found

    def whole(self) -> int:
        """The value as a whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.refused("a whole number")
        return self.value

    def count(self) -> int:
        """The value as a whole number, 0 or more."""
        number = self.whole()
        if number < 0:
            raise self.refused("a whole number, 0 or more")
        return number

    def rank(self) -> int:
        """The value as a place in a ranking."""
        number = self.whole()
        if number < 1:
            raise self.refused("a rank, 1 or more")
        return number

    def number(self) -> float:
        """The value as a number."""
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            raise self.refused("a number")
        return self.value

    def share(self) -> float:
        """The value as a number from 0 to 1."""
        number = self.number()
        if not -ROUNDING_MAX <= number <= 1 + ROUNDING_MAX:
            raise self.refused("a number from 0 to 1")
        return number

    def milliseconds(self) -> float:
        """The value as a duration."""
        number = self.number()
        if number < 0:
            raise self.refused("milliseconds, 0 or more")
        return number

    def moment(self) -> str:
        """The value as a time in UTC, to the second."""
        text = self.text()
        try:
            # Before Python 3.11 it reads no Z.
            is_time = _MOMENT.fullmatch(text) is not None and bool(datetime.fromisoformat(text[:-1]))
        except ValueError:
            is_time = False
        if not is_time:
            raise self.refused("a time such as 2026-03-01T09:30:00Z")
        return text

    def flag(self) -> bool:
        """The value as true or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def items(self) -> Iterator[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.refused("a list")
        return (Node(item, f"{self.place}[{place}]", self.advice) for place, item in enumerate(self.value))

    def texts(self) -> tuple[str, ...]:
        """The items of a list of texts."""
        items = self.value if isinstance(self.value, list) else ()
        texts = tuple(item for item in items if isinstance(item, str))
        # A node for each item is made only where one of them is to be named.
        return texts if texts and len(texts) == len(items) else tuple(item.text() for item in self.items())

    def members(self) -> Iterator[tuple[str, Node]]:
        """The keys of an object, each with its value."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        return ((key, self[key]) for key in self.value)

    def lines(self) -> tuple[int, int]:
        """A first and a last line."""
        numbers = [item.whole() for item in self.items()]
        if len(numbers) != 2:
            raise self.refused("a first and a last line")
        return numbers[0], numbers[1]
