"""Where labels come from: a file, a note of the vault, or what a vault offers by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from vault_eval.errors import LabelError, UsageError
from vault_eval.labels.load import LabelDocument
from vault_eval.limits import LABEL_FILE_MAX_BYTES
from vault_eval.vault.reader import FileRefusedError, FolderReader, read_outside

NOTE_PREFIX = "note:"
PROPERTY_PREFIX = "property:"
_SCHEMAS = (b"claude-obsidian.retrieval-queries.v1", b"vault-eval.labels.v1")
# A label may be one byte over its limit to be told so; more is not read.
_READ_MAX_BYTES = LABEL_FILE_MAX_BYTES + 1


def open_sources(
    sources: Sequence[str], reader: FolderReader, vault_as_named: str, pages: Callable[[], Sequence[str]]
) -> list[LabelDocument]:
    """The bytes of every label source, read without following a link.

    `note:Eval/Labels.md` is vault-relative; a file below the vault, by whatever spelling of the vault's own path, is
    opened from the vault. Raises LabelError naming the source and the reason.
    """
    return [_open(source, reader, vault_as_named, pages) for source in sources]


def reread(document: LabelDocument, reader: FolderReader) -> bytes:
    """The bytes of a label source as they are now. Raises FileRefusedError."""
    if document.path_in_vault is not None:
        return reader.read(document.path_in_vault, _READ_MAX_BYTES)
    return read_outside(document.name, _READ_MAX_BYTES)


def discover(remembered: Sequence[str], reader: FolderReader, notes: Sequence[str]) -> tuple[str, ...]:
    """The label sources of a vault when none is named: the remembered ones, else the one note that carries the schema,
    else `NAME.queries.json` beside the vault folder. Raises UsageError that lists what was looked for.
    """
    if remembered:
        return tuple(remembered)
    carriers = [note for note in notes if _carries_schema(reader, note)]
    if len(carriers) == 1:
        return (NOTE_PREFIX + carriers[0],)
    beside = reader.root.rstrip(os.sep) + ".queries.json"
    if not carriers and os.path.isfile(beside):
        return (beside,)
    found = f"{len(carriers)} notes carry labels ({', '.join(map(repr, carriers[:5]))})" if carriers else "no note carries labels"
    raise UsageError(
        f"no labels were named with --queries, none are remembered, {found}, and there is no {beside!r}; "
        "name a file, note:FOLDER/NOTE.md, or write a label file first (README, 'Write labels')"
    )


def _open(source: str, reader: FolderReader, vault_as_named: str, pages: Callable[[], Sequence[str]]) -> LabelDocument:
    if source.startswith(PROPERTY_PREFIX):
        raise UsageError(f"--queries {source!r}: labels kept in a property of the gold notes are not read yet; name a file or a note")
    inside = source[len(NOTE_PREFIX) :] if source.startswith(NOTE_PREFIX) else _path_in_vault(source, reader.root, vault_as_named)
    try:
        if inside is not None:
            return LabelDocument(inside, reader.read(inside, _READ_MAX_BYTES), inside, pages)
        return LabelDocument(source, read_outside(source, _READ_MAX_BYTES), None, pages)
    except FileRefusedError as refusal:
        limit = f"a label file has at most {LABEL_FILE_MAX_BYTES:,} bytes" if "bytes" in refusal.reason else "name a regular file"
        raise LabelError(f"the label source {str(source)!r} cannot be used: {refusal}; {limit}") from None


def _path_in_vault(source: str, root: str, vault_as_named: str) -> str | None:
    absolute = os.path.abspath(source)
    for base in (root, os.path.abspath(vault_as_named)):
        if os.path.commonpath([absolute, base]) == base:
            return os.path.relpath(absolute, base).replace(os.sep, "/")
    return None


def _carries_schema(reader: FolderReader, note: str) -> bool:
    try:
        head = reader.read(note)
    except FileRefusedError:
        return False
    return head.lstrip(b"\xef\xbb\xbf").startswith(b"---") and any(schema in head for schema in _SCHEMAS)
