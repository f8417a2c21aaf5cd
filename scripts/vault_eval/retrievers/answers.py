"""What searchers print, in the forms that are common: JSON, JSON lines, or paths, one a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vault_eval import strict_json
from vault_eval.retrievers.external_results import FoundPage
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

# The first that is there counts.
PATH_KEYS = ("path", "file", "page", "file_path", "filepath", "filename", "source", "uri", "docno")
SCORE_KEYS = ("score", "similarity", "_score")
LIST_KEYS = ("results", "result", "hits", "documents", "items", "files", "data")
_JSON_STARTS = ("[", "{")
_PATH_LINE = re.compile(r".*\.\w+")


class AnswerError(ValueError):
    """An answer that cannot be read; `str(error)` says what was found, as the end of a sentence about the searcher."""


def found_in_text(text: str) -> list[FoundPage]:
    """The results in what a program printed, in its order; nothing printed is nothing found.

    Text that begins with `[` or `{` is JSON, or JSON with an object a line; any other text is a path a line.
    Raises AnswerError for anything else, such as a sentence.
    """
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith(_JSON_STARTS):
        return found_in_json(_json(text))
    lines = [line.removesuffix("\r") for line in text.split("\n") if line.strip()]
    if lines and not any(map(_PATH_LINE.fullmatch, lines)):
        raise AnswerError(f"gave neither JSON nor paths, but {quoted(lines[0])}")
    return [FoundPage(line) for line in lines]


def found_in_json(value: JsonValue) -> list[FoundPage]:
    """The results in a list, in an object that holds one, or in one object. Raises AnswerError."""
    return [_found(record, place) for place, record in enumerate(_records(value), 1)]


def score_of(value: JsonValue, path: str) -> float | None:
    """A score as a number, or None where it is null. Raises AnswerError for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise AnswerError(f"gave {quoted(path)} the score {quoted(strict_json.dumps(value))}; a score is a number")
    return float(value)


def json_of(text: str) -> JsonValue:
    """One JSON document. Raises AnswerError with line and reason."""
    try:
        return strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        place = "" if error.line is None else f" (line {error.line})"
        raise AnswerError(f"gave no usable answer: {error}{place}: {quoted(text)}") from None


def _json(text: str) -> JsonValue:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and all(line.startswith("{") and line.rstrip().endswith("}") for line in lines):
        return [json_of(line) for line in lines]
    return json_of(text)


def _records(value: JsonValue) -> Sequence[JsonValue]:
    if isinstance(value, dict):
        inner = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
        return inner if isinstance(inner, list) else [value]
    if isinstance(value, list):
        return value
    raise AnswerError(f"gave no list of results, but {quoted(strict_json.dumps(value))}")


def _found(record: JsonValue, place: int) -> FoundPage:
    if isinstance(record, str):
        return FoundPage(record)
    members = record if isinstance(record, dict) else {}
    path = next((value for key in PATH_KEYS if isinstance(value := members.get(key), str)), None)
    if path is None:
        raise AnswerError(f"gave a result without a path, number {place}; a path is text under {', '.join(PATH_KEYS)}")
    score = next((members[key] for key in SCORE_KEYS if key in members), None)
    return FoundPage(path, score_of(score, path))
