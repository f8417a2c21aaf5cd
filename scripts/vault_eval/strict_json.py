"""JSON that is refused rather than guessed, and written in one stable form.

`json.loads` takes the last of two equal keys, NaN, and numbers that overflow to infinity; each of those
turns one label file into another without a word, so each is an error here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import chain
from typing import NoReturn, TypeAlias, Union

JsonValue: TypeAlias = Union[bool, int, float, str, list["JsonValue"], dict[str, "JsonValue"], None]

# CPython refuses longer integers with a bare ValueError; no label or report holds one this long.
_INTEGER_MAX_DIGITS = 100
# Interpreters stop at depths of their own, from 1,000 to 10,000; nothing that we read or write comes near this one.
_DEPTH_MAX_LEVELS = 100
_ESCAPED_TEXT_MAX_CHARACTERS = 40
# JSON lets them stand in a text, and a terminal obeys them: DEL, the controls beyond it, turns of direction.
_OBEYED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_DEL = "\x7f"  # the only one of them in ASCII
_TEXT_OR_NUMBER = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?', re.DOTALL
)


class StrictJsonError(ValueError):
    """Text that is no JSON, or is JSON with two readings; `line` counts from 1, or is None where unknown."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class _NumberError(StrictJsonError):
    """A number that is refused, in the digits it is written with; the reader does not tell where it stands."""

    def __init__(self, message: str, digits: str) -> None:
        super().__init__(message)
        self.digits = digits


def loads(text: str) -> JsonValue:
    """The value of one JSON document.

    Raises StrictJsonError for bad syntax, a repeated key, NaN or Infinity, a number too large, and more than 100 levels
    of nesting.
    """
    try:
        value: JsonValue = _DECODER.decode(text)
    except _NumberError as error:
        raise StrictJsonError(str(error), _line(text, error.digits)) from None
    except json.JSONDecodeError as error:
        raise _not_json(text, error) from None
    except RecursionError:
        raise _too_deep() from None
    _refuse_depth(value)
    return value


def dumps(value: object, *, spread: int = 0, ascii_only: bool = False, end: str = "") -> str:
    """`value` as JSON text in the order given, one line an entry for the outer `spread` levels, compact below; then `end`.

    Raises ValueError for NaN and infinity, TypeError for anything that JSON has no form for, a key that is no text among it.
    """
    return "".join(chain(_pieces(value, spread, ascii_only), (end,)))  # once: a report of many queries is megabytes


def encode(text: str) -> bytes:
    """JSON text as UTF-8; a lone surrogate becomes its JSON escape, so that any file name can be written."""
    return text.encode("utf-8", "backslashreplace")


def _pieces(value: object, spread: int, ascii_only: bool) -> Iterator[str]:
    if not (spread and value and isinstance(value, (dict, list, tuple))):
        yield _compact(value, ascii_only)
        return
    separator, last = ("{\n", "\n}") if isinstance(value, dict) else ("[\n", "\n]")
    for entry in value:
        yield separator
        separator = ",\n"
        if isinstance(value, dict):
            yield f"{_key(entry, ascii_only)}: "
        yield from _pieces(value[entry] if isinstance(value, dict) else entry, spread - 1, ascii_only)
    yield last


def _compact(value: object, ascii_only: bool) -> str:
    text = (_ASCII if ascii_only else _UTF8).encode(value)
    if text.isascii() and _DEL not in text:
        return text
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _key(key: object, ascii_only: bool) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of an object is text, not {type(key).__name__}")
    return _compact(key, ascii_only)


def _refuse_depth(value: JsonValue) -> None:
    level: list[list[JsonValue] | dict[str, JsonValue]] = [value] if isinstance(value, (list, dict)) else []
    depth = 0
    while level:
        depth += 1
        if depth > _DEPTH_MAX_LEVELS:
            raise _too_deep()
        inner = (item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer))
        level = [item for item in inner if isinstance(item, (list, dict))]


def _not_json(text: str, error: json.JSONDecodeError) -> StrictJsonError:
    """The refusal of bad syntax; what people write most is a comma after the last entry, which the reader finds too late."""
    before = text[: error.pos].rstrip()
    if before.endswith(",") and text[error.pos : error.pos + 1] in ("]", "}"):
        line = before.count("\n") + 1
        return StrictJsonError("not JSON: there is a comma after the last entry; remove it", line)
    return StrictJsonError(f"not JSON: {error.msg} at column {error.colno}", error.lineno)


def _line(text: str, digits: str) -> int | None:
    """The line of the first number with these digits; texts before it are stepped over, since they may hold them too."""
    place = next((found.start() for found in _TEXT_OR_NUMBER.finditer(text) if found[0] == digits), None)
    return None if place is None else text.count("\n", 0, place) + 1


def _too_deep() -> StrictJsonError:
    return StrictJsonError(f"not usable JSON: nested deeper than {_DEPTH_MAX_LEVELS} levels")


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        name = members.get("id")
        where = f" in the object with id {name[:_ESCAPED_TEXT_MAX_CHARACTERS]!r}" if isinstance(name, str) else ""
        raise StrictJsonError(f"the key {repeated[:_ESCAPED_TEXT_MAX_CHARACTERS]!r} is repeated{where}; write it once")
    return members


def _integer(digits: str) -> int:
    count = len(digits.lstrip("-"))
    if count > _INTEGER_MAX_DIGITS:
        raise _NumberError(f"an integer of {count} digits; at most {_INTEGER_MAX_DIGITS} are read", digits)
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NumberError(f"the number {digits[:_ESCAPED_TEXT_MAX_CHARACTERS]} is too large", digits)
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise _NumberError(f"{name} is not JSON", name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_int=_integer, parse_float=_finite, parse_constant=_refuse_constant
)
_ASCII, _UTF8 = (json.JSONEncoder(ensure_ascii=only, allow_nan=False, separators=(", ", ": ")) for only in (True, False))
