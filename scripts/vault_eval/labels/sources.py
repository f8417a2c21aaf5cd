"""Where labels come from: a file, a note of the vault, or what a vault offers by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from vault_eval.errors import LabelError, UsageError
from vault_eval.labels.load import LabelDocument
from vault_eval.labels.rules import EXTENDED_SCHEMA, PLAIN_SCHEMA
from vault_eval.labels.write import native_json
from vault_eval.limits import LABEL_FILE_MAX_BYTES
from vault_eval.vault.note_text import LABEL_PROPERTY, frontmatter_block, readable_text
from vault_eval.vault.paths import is_markdown, quoted
from vault_eval.vault.reader import FolderReader, read_outside
from vault_eval.vault.refusal import ABSENT, LINK, NOT_BELOW, FileRefusedError, physical_advice, plain_absolute

NOTE_PREFIX = "note:"
PROPERTY_PREFIX = "property:"
_CARRIERS_SHOWN_MAX = 5
_SCHEMAS = "|".join(map(re.escape, (PLAIN_SCHEMA, EXTENDED_SCHEMA)))
_SCHEMA_LINE = re.compile(rf"""^(["']?)schema\1[ \t]*:[ \t]*(["']?)(?:{_SCHEMAS})\2[ \t]*(?:[ \t]#.*)?$""", re.MULTILINE)


class NoLabelsError(UsageError):
    """No label source was named or remembered, and none was found."""


def open_sources(
    sources: Sequence[str], reader: FolderReader, vault_as_named: str, pages: Callable[[], Sequence[str]]
) -> list[LabelDocument]:
    """The bytes of every label source, read without following a link.

    `note:Eval/Labels.md` is vault-relative; a file below the vault, by its physical path or the one it was named with, is
    opened from the vault. Raises LabelError naming the source and the reason, for a link the physical path to use.
    """
    return [_open(source, reader, vault_as_named, pages) for source in sources]


def reread(document: LabelDocument, reader: FolderReader) -> bytes:
    """The bytes of a label source as they are now. Raises FileRefusedError."""
    if document.name.startswith(PROPERTY_PREFIX):
        return _answers(document.name, reader, document.pages())
    if document.path_in_vault is not None:
        return reader.read(document.path_in_vault, LABEL_FILE_MAX_BYTES)
    return read_outside(document.name, LABEL_FILE_MAX_BYTES)


def label_properties(documents: Iterable[LabelDocument]) -> tuple[str, ...]:
    """The properties in which notes may keep their questions: the usual one, then those that label sources name."""
    named = (one.name[len(PROPERTY_PREFIX) :] for one in documents if one.name.startswith(PROPERTY_PREFIX))
    return tuple(dict.fromkeys([LABEL_PROPERTY, *named]))


def discover(remembered: Sequence[str], reader: FolderReader, notes: Sequence[str]) -> tuple[str, ...]:
    """The label sources of a vault when none is named: the remembered ones, else the one note that carries the schema,
    else `NAME.queries.json` beside the vault folder. Raises UsageError that lists what was looked for, NoLabelsError where
    there is nothing at all.
    """
    if remembered:
        return tuple(remembered)
    carriers = [note for note in notes if is_markdown(note) and is_label_note(reader.read, note)]
    if len(carriers) == 1:
        return (NOTE_PREFIX + carriers[0],)
    sidecar = beside(reader.root)
    if os.path.isfile(sidecar):
        return (sidecar,)
    kind = UsageError if carriers else NoLabelsError
    raise kind(
        f"no labels were named with --queries, none are remembered, {_named(carriers)}, and there is no {sidecar!r}; "
        "name a file, note:FOLDER/NOTE.md, or write a label file first (labels init makes one; README, 'Write labels')"
    )


def beside(root: str) -> str:
    """Where the label file of a vault is looked for when none is named: `NAME.queries.json` beside its folder."""
    return os.path.join(os.path.dirname(root), f"{os.path.basename(root)}.queries.json")


def _open(source: str, reader: FolderReader, vault_as_named: str, pages: Callable[[], Sequence[str]]) -> LabelDocument:
    if source.strip() == PROPERTY_PREFIX:
        usual = PROPERTY_PREFIX + LABEL_PROPERTY
        raise LabelError(f"the label source {source!r} cannot be used: it names no property; write {usual}")
    if source.startswith(PROPERTY_PREFIX):
        return LabelDocument(source, _answers(source, reader, pages()), None, pages)
    inside = None
    try:
        inside = _path_in_vault(source, reader.root, vault_as_named)
        if inside is not None:
            return LabelDocument(inside, reader.read(inside, LABEL_FILE_MAX_BYTES), inside, pages)
        return LabelDocument(source, read_outside(source, LABEL_FILE_MAX_BYTES), None, pages)
    except FileRefusedError as refusal:
        physical = source if inside is None else os.path.join(reader.root, inside)
        problem = f"the label source {source!r} cannot be used: {refusal.reason}"
        raise LabelError(f"{problem}; {_next_step(refusal, physical)}") from None


def _answers(source: str, reader: FolderReader, pages: Sequence[str]) -> bytes:
    """The questions that notes hold in one property, as a native label file: the same notes give the same bytes."""
    from vault_eval.labels.property import gather_answers

    texts = ((page, readable_text(reader.read, page)) for page in pages if is_markdown(page))
    labels = gather_answers(((page, text) for page, text in texts if text is not None), source[len(PROPERTY_PREFIX) :])
    return native_json(labels).encode("utf-8")


def _next_step(refusal: FileRefusedError, path: str) -> str:
    if refusal.reason == LINK:
        return physical_advice(path)
    if refusal.reason == ABSENT:
        return f"nothing is at {path!r}: name a file that exists"
    if "bytes" in refusal.reason:
        return "split it into several files, and name each with --queries"
    if refusal.reason == NOT_BELOW:
        return "write note:FOLDER/NOTE.md, relative to the vault, or name a file outside it"
    return refusal.advice or "name a regular file"


def _path_in_vault(source: str, root: str, vault_as_named: str) -> str | None:
    if source.startswith(NOTE_PREFIX):
        return source[len(NOTE_PREFIX) :]
    absolute = plain_absolute(source)
    for base in (root, os.path.abspath(vault_as_named)):
        if absolute == base:
            return ""
        if absolute.startswith(os.path.join(base, "")):
            return os.path.relpath(absolute, base).replace(os.sep, "/")
    return None


def _named(carriers: Sequence[str]) -> str:
    if not carriers:
        return "no note carries labels"
    rest = len(carriers) - _CARRIERS_SHOWN_MAX
    more = f" and {rest} more" if rest > 0 else ""
    return f"{len(carriers)} notes carry labels ({', '.join(map(quoted, carriers[:_CARRIERS_SHOWN_MAX]))}{more})"


def is_label_note(read: Callable[[str], bytes], note: str) -> bool:
    """Whether a note's frontmatter names our schema, as far as that is told without reading YAML."""
    text = readable_text(read, note)
    block = None if text is None else frontmatter_block(text)
    return block is not None and _SCHEMA_LINE.search(block) is not None
