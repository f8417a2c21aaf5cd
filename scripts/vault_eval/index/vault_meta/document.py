"""The index file of this format as typed records. A file that contradicts itself is refused whole, as its own product does."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_eval import strict_json
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

SCHEMA_VERSION = 2
FORMAT = f"claude-obsidian.bm25.schema-{SCHEMA_VERSION}"

_COUNT_MAX = 2**31 - 1
_K1_MAX = 100.0
_MEAN_TOLERANCE = 1e-12


class OtherSchemaError(ValueError):
    """The file is of a schema that is not read; `str(error)` says which."""


class CorruptIndexError(ValueError):
    """The file contradicts itself, or lacks what a search needs; `str(error)` says what."""


class IndexedChunk(NamedTuple):
    """One chunk as the index knows it; `path` is that of its record as written, not to be trusted. Digests may be absent."""

    id: str
    path: str
    length: int  # in terms
    text_sha256: str | None
    page_sha256: str | None


class ChunkCounts(NamedTuple):
    """The chunks that hold one term, ascending, and how often each does."""

    chunks: Sequence[int]
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """Everything in the index file; chunks are numbered in the order of the file."""

    k1: float
    b: float
    updated_at: str
    mean_length: float
    chunks: Sequence[IndexedChunk]
    postings: Mapping[str, ChunkCounts]


def parse_index(data: bytes) -> IndexDocument:
    """The content of an index file. Raises OtherSchemaError, CorruptIndexError."""
    try:
        root = _members(strict_json.loads(data.decode("utf-8")), "the file")
    except UnicodeDecodeError as error:
        raise CorruptIndexError(f"it is not UTF-8 at byte {error.start}") from None
    except strict_json.StrictJsonError as error:
        raise CorruptIndexError(f"line {error.line}: {error}" if error.line else str(error)) from None
    _refuse_other_schema(root.get("schema_version"))
    parameters = _members(root.get("params"), "params")
    chunks = tuple(_chunk(name, value) for name, value in _members(root.get("docs"), "docs").items())
    if _whole(root, "doc_count", "", 0) != len(chunks):
        raise CorruptIndexError(f"doc_count is {root.get('doc_count')}, but docs has {len(chunks):,} entries")
    mean = sum(chunk.length for chunk in chunks) / len(chunks) if chunks else 0.0
    told = _number(root, "avg_dl", 0.0, _COUNT_MAX)
    if not math.isclose(told, mean, rel_tol=_MEAN_TOLERANCE, abs_tol=_MEAN_TOLERANCE):
        raise CorruptIndexError(f"avg_dl is {told}, but the mean of the lengths in docs is {mean}")
    numbers = {chunk.id: number for number, chunk in enumerate(chunks)}
    vocabulary = _members(root.get("vocab"), "vocab")
    postings = {term: _postings(term, entry, numbers) for term, entry in vocabulary.items()}
    k1 = _number(parameters, "k1", 0.0, _K1_MAX)
    if not k1:
        raise CorruptIndexError("params: k1 is 0")
    return IndexDocument(k1, _number(parameters, "b", 0.0, 1.0), _text(root, "updated_at"), told, chunks, postings)


def _refuse_other_schema(found: JsonValue) -> None:
    if found != SCHEMA_VERSION or type(found) is not int:
        shown = "no schema_version" if found is None else f"schema_version {quoted(str(found))}"
        raise OtherSchemaError(f"it is of another version: {shown} where {SCHEMA_VERSION} is read")


def _chunk(name: str, value: JsonValue) -> IndexedChunk:
    place = f"docs: {quoted(name)}"
    entry = _members(value, place)
    path, text_hash, page_hash = (entry.get(key) for key in ("path", "body_hash", "page_body_hash"))
    if not name:
        raise CorruptIndexError("docs: an entry without a name")
    return IndexedChunk(
        name,
        path if isinstance(path, str) else "",
        _whole(entry, "dl", place, 0),
        text_hash if isinstance(text_hash, str) else None,
        page_hash if isinstance(page_hash, str) else None,
    )


def _postings(term: str, value: JsonValue, numbers: Mapping[str, int]) -> ChunkCounts:
    place = f"vocab: {quoted(term)}"
    entry = _members(value, place)
    rows = entry.get("postings")
    if not (term and isinstance(rows, list) and rows):
        raise CorruptIndexError(f"{place}: its postings are no list that holds any")
    try:
        names, counts = zip(*rows, strict=True)
        chunks = list(map(numbers.__getitem__, names))
    except (TypeError, ValueError, KeyError):
        raise CorruptIndexError(f"{place}: a posting that names no chunk of docs and its count") from None
    if set(map(type, counts)) != {int} or min(counts) < 1 or max(counts) > _COUNT_MAX:
        raise CorruptIndexError(f"{place}: a posting whose count is no number from 1")
    by_chunk = dict(zip(chunks, counts, strict=True))
    if not len(by_chunk) == len(chunks) == _whole(entry, "df", place, 1):
        raise CorruptIndexError(f"{place}: df is {entry.get('df')}, but its postings name {len(by_chunk):,} chunks")
    ordered = sorted(by_chunk)
    return ChunkCounts(array("I", ordered), array("I", map(by_chunk.__getitem__, ordered)))


def _members(value: JsonValue, place: str) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise CorruptIndexError(f"{place} is no JSON object")
    return value


def _whole(entry: Mapping[str, JsonValue], key: str, place: str, low: int) -> int:
    value = entry.get(key)
    if type(value) is not int or not low <= value <= _COUNT_MAX:
        raise CorruptIndexError(f"{place + ': ' if place else ''}{key} is no whole number from {low}")
    return value


def _number(entry: Mapping[str, JsonValue], key: str, low: float, high: float) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise CorruptIndexError(f"{key} is no number from {low:g} to {high:g}")
    return float(value)


def _text(entry: Mapping[str, JsonValue], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise CorruptIndexError(f"{key} is no text")
    return value
