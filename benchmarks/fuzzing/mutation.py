"""Random damage to text and bytes: the moves that broke readers of labels and notes elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

# Begins a line of its own wherever text of a vault or label file is printed as it is.
FORGED = "FORGED"

# Pieces that mean something to one of the readers, and letters that other programs stumbled over.
TOKENS = (
    "---",
    "---\n",
    "\n---\n",
    "\r\n",
    "\r",
    "\x00",
    "\x1b[31m",
    "\u2028",
    "\u0085",
    "\ufeff",
    "\u202e",
    "\u200b",
    "\u00ad",
    "e\u0301",
    "é",
    "İ",
    "ı",
    "ﬁ",
    "ß",
    "潮門の手順",
    "ทดสอบ",
    "🏴\U000e0067\U000e0062\U000e007f",
    "\ud83d",
    "\U0010ffff",
    f"\n{FORGED}",
    f"\r{FORGED}",
    "# ",
    "## a\n",
    "- [ ] ",
    "> ",
    "```\n",
    "~~~",
    "| a | b |\n|---|---|\n",
    "[[",
    "]]",
    "[[Tides#^a|b]]",
    "![[x.png]]",
    "](data:image/png;base64,AAAA",
    "^block",
    "<!--",
    "%%",
    "$$",
    "\t",
    " ",
    "    ",
    ": ",
    "null",
    "~",
    "true",
    "14:30",
    "2025-02-30",
    "0o17",
    "1e999",
    "-0",
    "NaN",
    "9" * 30,
    "!!python/object:os.system",
    "&a",
    "*a",
    "<<: *a",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "//",
    ",",
    "#",
    "../",
    "./",
    "/",
    "C:",
    "\\\\host\\share",
    ".md",
    ".MD",
    ".pdf#page=1",
    ".md#",
    ".md#^",
    "Tides.md",
    "Sea/Tides.md",
    "Sea/Tides.md#Neap tides",
    "schema",
    "claude-obsidian.retrieval-queries.v1",
    "vault-eval.labels.v1",
    "schema_version",
    "queries",
    "expected_pages",
    "expect",
    "relevant",
    "source",
    "pages",
    "grades",
    "hashes",
    "split",
    "holdout",
    "skip_reason",
    "tags",
    "aliases",
    "answers:",
    "title:",
    "queries: []",
)
_MOVES_MAX = 6
_PIECE_MAX_CHARACTERS = 40
_REPEATS_MAX = 3_000


def mutated(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """`data` after none to six random moves; `others` are documents that pieces are taken from."""
    if rng.random() < 0.35:
        data = _other_json(rng, data)
    for _ in range(rng.randrange(_MOVES_MAX + 1)):
        data = rng.choice(_MOVES)(rng, data, others)
    return data


def random_text(rng: Random, length: int) -> str:
    """Text of about `length` pieces: tokens, words, and letters of every plane."""
    pieces = []
    for _ in range(rng.randrange(length + 1)):
        kind = rng.random()
        if kind < 0.4:
            pieces.append(rng.choice(TOKENS))
        elif kind < 0.8:
            pieces.append(rng.choice(("tide", "heap ", "bud ", "spring_tide-7b", "SpringTide", "a.b@c", " ", "the ", "x")))
        else:
            pieces.append(chr(rng.randrange(rng.choice((0x80, 0x800, 0x3000, 0x10000, 0x110000)))))
    return "".join(pieces)


def as_bytes(text: str) -> bytes:
    """Text as bytes, half characters too, as a damaged file holds them."""
    return text.encode("utf-8", "surrogatepass")


def _flip(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _insert_token(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + as_bytes(rng.choice(TOKENS)) + data[at:]


def _insert_bytes(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.randrange(1, 5)) + data[at:]


def _cut(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.randrange(1, _PIECE_MAX_CHARACTERS) :]


def _truncate(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _repeat(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    piece = data[at : at + rng.randrange(1, _PIECE_MAX_CHARACTERS)]
    return data[:at] + piece * rng.choice((2, 3, 50, _REPEATS_MAX)) + data[at:]


def _splice(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    start = rng.randrange(len(other) + 1)
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[start : start + rng.randrange(200)] + data[at:]


def _replace_line(rng: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    lines[rng.randrange(len(lines))] = as_bytes(random_text(rng, 4))
    return b"\n".join(lines)


_Move: TypeAlias = "Callable[[Random, bytes, Sequence[bytes]], bytes]"
_MOVES: tuple[_Move, ...] = (_flip, _insert_token, _insert_token, _insert_bytes, _cut, _truncate, _repeat, _splice, _replace_line)


def _other_json(rng: Random, data: bytes) -> bytes:
    """The document with one value replaced, where it is JSON: damage that keeps the syntax goes deeper."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return json.dumps(_graft(rng, value), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _graft(rng: Random, value: JsonValue) -> JsonValue:
    if isinstance(value, (dict, list)) and value and rng.random() < 0.85:
        return _graft_inside(rng, value)
    return _scrap(rng)


def _graft_inside(rng: Random, value: dict[str, JsonValue] | list[JsonValue]) -> JsonValue:
    if isinstance(value, list):
        at = rng.randrange(len(value))
        return [*value[:at], _graft(rng, value[at]), *value[at + rng.randrange(2) :]]
    key = rng.choice(list(value))
    inside = _graft(rng, value[key])
    if rng.random() < 0.2:
        return {**{name: item for name, item in value.items() if name != key}, random_text(rng, 2): inside}
    return {**value, key: inside}


def _scrap(rng: Random) -> JsonValue:
    nested: JsonValue = "x"
    for _ in range(rng.choice((1, 5, 99, 101, 900))):
        nested = [nested] if rng.random() < 0.5 else {"a": nested}
    small: tuple[JsonValue, ...] = (None, True, 0, -1, 1e308, 10**90, "", "x" * 9_000, [], {}, [[]], {"": None})
    texts: list[JsonValue] = [random_text(rng, 5) for _ in range(3)]
    return rng.choice((*small, *texts, nested, texts, "Sea/Tides.md"))
