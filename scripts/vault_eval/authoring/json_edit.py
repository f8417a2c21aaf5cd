"""Edits in the text of a JSON file that leave all other bytes: where its members stand, one entry more, one key more.

The text has been read by `strict_json` before, so that nothing here can meet a fault in it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from vault_eval.strict_json import JsonValue, dumps

_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_FIRST_ENTRY = ("\n  ", "\n")


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` is a value; for a member of an object `key` is its name, and `begin` where that name begins."""

    start: int
    end: int
    key: str = ""
    begin: int = 0


@dataclass(frozen=True, slots=True)
class Insert:
    """`text` instead of `[start:end]` of the file."""

    start: int
    end: int
    text: str


def members(text: str, start: int) -> dict[str, Span]:
    """The members of the object that begins at `start`."""
    found: dict[str, Span] = {}
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        found[key] = Span(value, _DECODER.raw_decode(text, value)[1], key, at)
        at = _after_comma(text, found[key].end)
    return found


def items(text: str, start: int) -> list[Span]:
    """The items of the array that begins at `start`."""
    found: list[Span] = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        found.append(Span(at, _DECODER.raw_decode(text, at)[1]))
        at = _after_comma(text, found[-1].end)
    return found


def top(text: str) -> int:
    """Where the one value of the file begins."""
    return _skip(text, text.startswith("\ufeff"))


def one_item_more(text: str, array: Span, value: dict[str, JsonValue]) -> Insert:
    """`value` as the last item of an array of objects, laid out as the item before it."""
    before = items(text, array.start)
    if not before:
        inner, outer = _FIRST_ENTRY
        return Insert(array.start, array.end, f"[{inner}{dumps(value)}{outer}]")
    last = before[-1]
    gap = text[before[-2].end : last.start] if len(before) > 1 else "," + text[array.start + 1 : last.start]
    return Insert(last.end, last.end, gap + _like(text, last, value))


def one_text_more(text: str, array: Span, value: str) -> Insert:
    """`value` as the last item of an array of texts, on a line of its own where the others are."""
    before = items(text, array.start)
    if not before:
        return Insert(array.start, array.end, dumps([value]))
    gap = _gap(text[array.start + 1 : before[0].start])
    return Insert(before[-1].end, before[-1].end, f",{gap}{dumps(value)}")


def one_key_more(text: str, item: Span, key: str, value: JsonValue) -> Insert:
    """`key` as the last member of an object, on a line of its own where the others are."""
    found = list(members(text, item.start).values())
    if not found:
        return Insert(item.start, item.end, dumps({key: value}))
    end = found[-1].end
    gap = _gap(text[item.start + 1 : found[0].begin])
    return Insert(end, end, f",{gap}{dumps(key)}: {dumps(value)}")


def one_key_less(text: str, item: Span, key: str) -> Insert:
    """An object without `key`, which is not its only member."""
    found = list(members(text, item.start).values())
    place = next(number for number, member in enumerate(found) if member.key == key)
    if place:
        return Insert(found[place - 1].end, found[place].end, "")
    return Insert(found[0].begin, found[1].begin, "")


def applied(text: str, inserts: list[Insert]) -> str:
    """The text with all inserts, which do not overlap."""
    for one in sorted(inserts, key=lambda insert: insert.start, reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


def _like(text: str, item: Span, value: dict[str, JsonValue]) -> str:
    """An object laid out as the one at `item`: on one line, or one member a line with its indentation."""
    found = list(members(text, item.start).values())
    opening, closing = text[item.start + 1 : found[0].begin], text[found[-1].end : item.end - 1]
    rows = f",{_gap(opening)}".join(f"{dumps(key)}: {dumps(one)}" for key, one in value.items())
    return f"{{{opening}{rows}{closing}}}"


def _gap(opening: str) -> str:
    return opening if "\n" in opening else " "


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _after_comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at
