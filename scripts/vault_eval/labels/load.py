"""From the bytes of label files to one label set."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_eval.digests import sha256_hex
from vault_eval.errors import LabelError, UnreadableFileError
from vault_eval.labels.formats import LabelText, ReadLabels, label_formats
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import report_duplicates
from vault_eval.labels.wikilinks import PageNames
from vault_eval.limits import LABEL_FILE_MAX_BYTES
from vault_eval.model import LabelSet, LabelSource
from vault_eval.vault.note_text import decode, decode_utf8
from vault_eval.vault.paths import is_markdown


@dataclass(frozen=True, slots=True)
class LabelDocument:
    """One label file, read safely by whoever opened it.

    `name` is how messages call it. `path_in_vault` is set for a file inside the vault. `pages` lists the names of all
    pages of the vault; it is called only where a link must be resolved.
    """

    name: str
    data: bytes
    path_in_vault: str | None
    pages: Callable[[], Sequence[str]]


def load_labels(documents: Sequence[LabelDocument]) -> LabelSet:
    """The labels of all documents in the order given, each file in file order, and their sources.

    Raises LabelError with all problems of all files, bounded. Whether gold exists is not asked here.
    """
    if not documents:
        raise LabelError("no label file was named; name one with --queries FILE")
    problems = Problems()
    read = [(document, _read(document, Place(problems, document.name))) for document in documents]
    placed = [(label, Place(problems, document.name, label.place)) for document, found in read for label in found.labels]
    report_duplicates(placed)
    problems.raise_if_any()
    labels = tuple(label for label, _ in placed)
    return LabelSet(labels, tuple(_source(document, found) for document, found in read), problems.warnings)


def _read(document: LabelDocument, place: Place) -> ReadLabels:
    nothing = ReadLabels((), "unknown")
    if len(document.data) > LABEL_FILE_MAX_BYTES:
        size = f"{len(document.data):,} bytes"
        place.problem(f"{size} are too large; a label file has at most {LABEL_FILE_MAX_BYTES:,} bytes (1 MiB): split it")
        return nothing
    try:
        text = decode(document.data) if is_markdown(document.name) else decode_utf8(document.data)
    except UnreadableFileError as error:
        place.problem(str(error))
        return nothing
    reader = next((each for each in label_formats() if each.recognises(document.name, text)), None)
    if reader is None:
        place.problem(f"no label format is recognised; known are {', '.join(each.NAME for each in label_formats())}")
        return nothing
    folder = None if document.path_in_vault is None else document.path_in_vault.rpartition("/")[0]
    return reader.read(LabelText(document.name, text, folder, PageNames(document.pages)), place)


def _source(document: LabelDocument, found: ReadLabels) -> LabelSource:
    return LabelSource(os.path.basename(document.name), sha256_hex(document.data), found.format)
