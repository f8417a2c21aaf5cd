"""JSON Lines: `{"id"?, "query", "relevant": [{"source", "page" | "pages"}], "collection"?, "tags"?}`, `//` lines are comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vault_eval.labels.entry import Entry, EntryShape, read_entries
from vault_eval.labels.formats import LabelText, ReadLabels
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import kind_of, path_targets, report_unknown_keys, too_many, usable_target
from vault_eval.model import Target
from vault_eval.strict_json import JsonValue, StrictJsonError, loads
from vault_eval.vault.paths import is_markdown, quoted
from vault_eval.vault.targets import TargetError, parse_target

NAME = "jsonl"
_SUFFIXES = (".jsonl", ".ndjson")
# White space that JSON allows between values and that may end a line; U+2028 and its like are text.
_BLANKS = " \t\r"


def recognises(name: str, text: str) -> bool:
    """Whether the file is named as JSON Lines, or its first line of substance is one whole label of this format."""
    lowered = name.lower()
    if lowered.endswith(_SUFFIXES):
        return True
    lines = (line.strip(_BLANKS) for line in text[:_PEEK_MAX_CHARACTERS].split("\n"))
    first = next((line for line in lines if line and not line.startswith("//")), "")
    return not lowered.endswith(".md") and first.startswith("{") and first.endswith("}") and '"relevant"' in first


_PEEK_MAX_CHARACTERS = 65_536


def read(document: LabelText, place: Place) -> ReadLabels:
    """The labels of the file, one a line. Lines end at LF only, since JSON strings may hold every other line end but CR."""
    before = place.problems.count
    entries = list(json_lines(document.text, place))
    if not entries and place.problems.count > before:
        return ReadLabels((), NAME)
    return ReadLabels(read_entries(entries, place, _shape()), NAME)


def json_lines(text: str, place: Place) -> Iterator[Entry]:
    """The JSON values of a text, one a line, without blank lines and `//` comments; what is no JSON is reported at its line."""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip(_BLANKS)
        if not line or line.startswith("//"):
            continue
        where = f"line {number}"
        try:
            yield Entry(loads(line), where)
        except StrictJsonError as error:
            place.at(where).problem(str(error))


def _shape() -> EntryShape:
    return EntryShape(
        keys=("id", "query", "relevant", "collection", "tags"),
        gold_key="relevant",
        targets=_targets,
        id_from_query=True,
    )


def _targets(value: JsonValue, place: Place) -> tuple[Target, ...]:
    if not isinstance(value, list):
        return path_targets(value, place, "relevant", parse_target)
    return () if too_many(len(value), place, "relevant") else tuple(target for item in value for target in _places(item, place))


def _places(item: JsonValue, place: Place) -> tuple[Target, ...]:
    if not isinstance(item, dict):
        place.problem(f'relevant holds {kind_of(item)}; write {{"source": "Folder/Note.md"}}')
        return ()
    report_unknown_keys(item, ("source", "page", "pages"), place)
    source = item.get("source")
    if not isinstance(source, str):
        place.problem(f"source is {kind_of(source) if 'source' in item else 'missing'}; it must be a string, the path of a note")
        return ()
    pages = _pages(item, place)
    try:
        if pages and is_markdown(source):
            place.problem(f"the path {quoted(source)} is a note, which has no page numbers; leave 'page' and 'pages' out")
            return ()
        target = usable_target(source)
    except TargetError as error:
        place.problem(f"relevant: {error}")
        return ()
    return tuple(replace(target, pdf_page=page) for page in pages) or (target,)


def _pages(item: dict[str, JsonValue], place: Place) -> tuple[int, ...]:
    """The page numbers of a PDF, any of which counts; empty where none is given."""
    if "page" in item and "pages" in item:
        place.problem("both 'page' and 'pages' are given; write one of them")
        return ()
    pages = item.get("pages", [item["page"]] if "page" in item else [])
    if isinstance(pages, list):
        numbers = tuple(page for page in pages if type(page) is int and page > 0)
        if len(numbers) == len(pages) and (pages or "pages" not in item):
            return numbers
    place.problem("'page' must be a number from 1, 'pages' a list of them, not empty")
    return ()
