"""References that outlive edits: a pattern of documents with a heading or a quoted sentence, found again in today's notes.

    {"schema": "vault-eval.references.v1", "queries": [
      {"id": "tide-table", "query": "when is high water", "references": [
        {"document": "Sea/*.md", "heading": "High water"},
        {"document": "Log/2025-*.md", "quote": "The tide turned at noon", "until": "and we were aground"}]}]}

A document alone stands for its whole note; `until` ends a span that may cover several sections. In a PDF, which has no
headings here, a quotation is found on its page, or on several.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from vault_eval.diagnosis.sections import lies_under
from vault_eval.errors import UnreadableFileError
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.pdf_text import page_texts, reader_name
from vault_eval.labels.entry import Entry, EntryShape, read_entries
from vault_eval.labels.formats.native import json_object
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import EXTRA_KEYS, PLAIN_KEYS, kind_of, report_duplicates, report_unknown_keys, too_many
from vault_eval.model import Label, Target
from vault_eval.strict_json import JsonValue
from vault_eval.vault.excluded import glob_problem, glob_rule
from vault_eval.vault.note import parse_note
from vault_eval.vault.note_text import decode
from vault_eval.vault.paths import is_pdf, page_name, quoted
from vault_eval.vault.snapshot import VaultSnapshot

SCHEMA = "vault-eval.references.v1"
_GOLD_KEY = "references"
_KEYS = ("id", "query", _GOLD_KEY, *(key for key in (*PLAIN_KEYS, *EXTRA_KEYS) if key not in ("id", "query", "expected_pages")))
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that no note answers to today: the label's place in the file, and what was looked for."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class BuiltLabels:
    """The labels with today's places, and the references that were skipped; a label of which nothing is left is marked."""

    labels: tuple[Label, ...]
    unresolved: tuple[Unresolved, ...]


@dataclass(frozen=True, slots=True)
class _Document:
    """A text in NFC, and the places in it by the offset where each begins; the first begins at 0."""

    text: str
    offsets: tuple[int, ...]
    targets: tuple[Target, ...]

    def covering(self, start: int, end: int) -> tuple[Target, ...]:
        """The places that `text[start:end]` lies in."""
        first, last = bisect_right(self.offsets, start) - 1, bisect_right(self.offsets, max(end - 1, start)) - 1
        return tuple(dict.fromkeys(self.targets[first : last + 1]))


def build_labels(name: str, text: str, vault: VaultSnapshot) -> BuiltLabels:
    """The labels of a file of references. Raises LabelError with all problems of the file."""
    problems = Problems()
    place = Place(problems, name)
    top = json_object(text, place)
    resolver = _Resolver(vault)
    labels: tuple[Label, ...] = ()
    if top is not None:
        report_unknown_keys(top, ("schema", "queries"), place)
        if top.get("schema") != SCHEMA:
            place.problem(f"there is no key 'schema' with the value {SCHEMA!r}; references are read under it")
        queries = top.get("queries")
        if isinstance(queries, list):
            shape = EntryShape(keys=_KEYS, gold_key=_GOLD_KEY, targets=resolver.targets)
            labels = read_entries([Entry(query) for query in queries], place, shape)
        else:
            place.problem(f"queries is {kind_of(queries) if 'queries' in top else 'missing'}; it must be a list of queries")
    report_duplicates((label, place.at(label.place)) for label in labels)
    problems.raise_if_any()
    lost = {one.place for one in resolver.unresolved}
    return BuiltLabels(tuple(_marked(label, lost) for label in labels), tuple(resolver.unresolved))


def _marked(label: Label, lost: set[str]) -> Label:
    if label.gold or label.place not in lost or label.skip_reason is not None:
        return label
    return replace(label, skip_reason="none of its references was found in the vault")


class _Resolver:
    """Finds references in the notes of one vault; each note is read once."""

    def __init__(self, vault: VaultSnapshot) -> None:
        self._vault = vault
        self._blocks = BlockReader()
        self._document = functools.cache(self._read)
        self.unresolved: list[Unresolved] = []

    def targets(self, value: JsonValue, place: Place) -> tuple[Target, ...]:
        if not isinstance(value, list):
            place.problem(f"{_GOLD_KEY} is {kind_of(value)}; it must be a list of references: write [] if no page is expected")
            return ()
        if too_many(len(value), place, _GOLD_KEY):
            return ()
        return tuple(dict.fromkeys(target for item in value for target in self._places(item, place)))

    def _places(self, item: JsonValue, place: Place) -> tuple[Target, ...]:
        fields = _reference(item, place)
        if fields is None:
            return ()
        matches = glob_rule(page_name(fields["document"]))
        pages = [page for page in self._vault.names if matches(page)]
        found = tuple(target for page in pages for target in self._in_document(page, fields))
        if not found:
            what = " and ".join(f"{key} {quoted(text)}" for key, text in fields.items() if key != "document")
            no_page = f"no note fits {quoted(fields['document'])}"
            reason = f"{what} is in no note that fits {quoted(fields['document'])} ({len(pages)} fit)" if pages else no_page
            self.unresolved.append(Unresolved(place.where, reason))
        return found

    def _in_document(self, page: str, fields: dict[str, str]) -> tuple[Target, ...]:
        document = self._document(page)
        if document is None:
            return ()
        if "heading" in fields:
            wanted = fields["heading"]
            return tuple(target for target in document.targets if target.heading and lies_under(wanted, [target.heading]))[:1]
        if "quote" not in fields:
            return (Target(page),)
        start = _find(document.text, fields["quote"], 0)
        end = _find(document.text, fields["until"], start.end()) if start and "until" in fields else start
        return document.covering(start.start(), end.end()) if start and end else ()

    def _read(self, page: str) -> _Document | None:
        try:
            data = self._vault.read(page)
            return _pdf_document(page, data) if is_pdf(page) else self._note_document(page, decode(data))
        except UnreadableFileError:
            return None

    def _note_document(self, page: str, text: str) -> _Document:
        note = parse_note(text)
        body = text.split("\n")[note.body_line :]
        headings = self._blocks.blocks("\n".join(body), need_starts=False).headings
        compared = page_name(text)  # which has the same line breaks
        ends = [0, *(found.end() for found in re.finditer("\n", compared))]
        places = [(0, Target(page)), *((ends[note.body_line + one.first], _section(page, one.text)) for one in headings)]
        return _Document(compared, tuple(offset for offset, _ in places), tuple(target for _, target in places))


def _pdf_document(page: str, data: bytes) -> _Document:
    reader_name()  # raises MissingPackageError
    texts = tuple(map(page_name, page_texts(data)))
    offsets = accumulate((len(text) + 1 for text in texts[:-1]), initial=0)
    return _Document("\n".join(texts), tuple(offsets), tuple(Target(page, pdf_page=number + 1) for number in range(len(texts))))


def _section(page: str, heading: str) -> Target:
    return Target(page, heading=heading or None)


def _reference(item: JsonValue, place: Place) -> dict[str, str] | None:
    """The fields of one reference, all texts; None where it is faulty, which is reported."""
    allowed = ("document", "heading", "quote", "until")
    if not isinstance(item, dict):
        place.problem(f'{_GOLD_KEY} holds {kind_of(item)}; write {{"document": "Folder/*.md", "quote": "a sentence"}}')
        return None
    report_unknown_keys(item, allowed, place)
    fields = {key: value for key, value in item.items() if isinstance(value, str) and value.strip()}
    problem = next(_reference_problems(item, fields, allowed), None)
    if problem is not None:
        place.problem(f"{_GOLD_KEY}: {problem}")
        return None
    return fields


def _reference_problems(item: dict[str, JsonValue], fields: dict[str, str], allowed: Sequence[str]) -> Iterator[str]:
    if "document" not in fields:
        yield "a reference needs a document, the path of a note or a pattern such as 'Log/*.md'"
    yield from (f"{key} must be a text that is not empty" for key in item if key in allowed and key not in fields)
    if "heading" in fields and ("quote" in fields or "until" in fields):
        yield "name a heading or a quoted sentence, not both"
    if "until" in fields and "quote" not in fields:
        yield "until ends a span that quote begins; give both"
    problem = glob_problem(fields.get("document", ""))
    if problem is not None:
        yield f"document {quoted(fields['document'])}: {problem}"
    yield from (f"{key} holds no word" for key in ("quote", "until") if key in fields and not _WORD.search(fields[key]))


def _find(text: str, quote: str, start: int) -> re.Match[str] | None:
    """The first place of a quotation: the same words in the same order, whatever stands between them as blanks or marks."""
    words = _WORD.findall(page_name(quote))
    return re.compile(r"[\W_]+".join(map(re.escape, words)), re.IGNORECASE).search(text, start)
