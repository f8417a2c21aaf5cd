"""The one explicit step that makes an index: notes and PDFs in, an index file and its seal out, what did not change reused."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vault_eval.atomic_file import write_atomically
from vault_eval.digests import sha256_hex
from vault_eval.errors import IndexUnusableError, UnreadableFileError
from vault_eval.index.chunk_text import chunk_texts, pdf_chunk_texts
from vault_eval.index.chunker import Chunk
from vault_eval.index.layout import index_bytes
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.options import IndexOptions
from vault_eval.index.pdf_text import page_texts, reader_name
from vault_eval.index.seal import install, open_index
from vault_eval.index.sections import Sections
from vault_eval.index.states import STATES_NAME, NoteStates, read_states, states_text
from vault_eval.index.store import LABEL_NOTE, IndexFile
from vault_eval.index.terms import Analyzer
from vault_eval.vault.note import parse_note
from vault_eval.vault.note_text import LABEL_PROPERTY, body_digest, decode
from vault_eval.vault.paths import is_pdf, page_max_bytes
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError
from vault_eval.vault.walk import NoteFile, Skipped, VaultListing

LABEL_SCHEMAS = ("claude-obsidian.retrieval-queries.v1", "vault-eval.labels.v1")
Progress = Callable[[int, int], None]  # notes done, notes in all


def no_progress(_done: int, _total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What one run of `index` did; `unchanged` means that the index on disk was already this one."""

    unchanged: bool
    pages: int
    chunks: int
    reused: int
    skipped: tuple[Skipped, ...]
    warnings: tuple[tuple[str, str], ...]  # page and what is odd about it
    sha256: str
    path: str


def build_index(
    reader: FolderReader,
    listing: VaultListing,
    options: IndexOptions,
    folder: str,
    vault: str,
    started_ns: int,
    progress: Progress,
) -> BuildResult:
    """Make or refresh the index of one vault in `folder`. `started_ns` is the time before the vault was listed.

    Raises MissingPackageError where PDFs are to be indexed and cannot be read, VaultEvalError where the folder cannot be
    written; the old index then stays as it was.
    """
    header = options.as_json() | ({"pdf_reader": reader_name()} if options.pdf else {})
    with contextlib.ExitStack() as stack:
        old = _usable_old(folder, vault, header)
        states: NoteStates = {}
        if old is not None:
            stack.enter_context(old[0])
            states = read_states(folder, old[1])
            if _is_current(listing, old[0], states):
                return _unchanged(*old)
        work = _Build(reader, options, old[0] if old else None, states)
        work.take(listing.pages, progress)
        skipped = tuple(sorted((*listing.skipped, *work.skipped), key=lambda one: one.path))
        if old is not None and work.same_as_old(skipped):
            _save_states(folder, old[1], work.states, started_ns)
            return _result(work, skipped, old[1], old[0].path, unchanged=True)
        sections = work.sections.named(work.remarks(skipped))
        parts = list(index_bytes(header, sum(sections["chunk_lengths"]), sections))
    sha256, path = install(folder, vault, parts, started_ns)
    _save_states(folder, sha256, work.states, started_ns)
    return _result(work, skipped, sha256, path, unchanged=False)


def _is_current(listing: VaultListing, old: IndexFile, states: NoteStates) -> bool:
    """Whether file states alone tell that the old index has every note as it is: the common case, in no time."""
    left_out = dict(old.skipped())
    if any(states.get(one.page) != one.state for one in listing.pages):
        return False
    listed = {one.page for one in listing.pages}
    searched = [one.page for one in listing.pages if one.page not in left_out]
    not_listed = {path: why for path, why in left_out.items() if path not in listed}
    return searched == old.page_names() and not_listed == {one.path: one.reason for one in listing.skipped}


def _unchanged(old: IndexFile, sha256: str) -> BuildResult:
    skipped = tuple(Skipped(path, why) for path, why in old.skipped())
    warnings = tuple((page, warning) for page, found in old.warnings().items() for warning in found)
    pages = old.page_count
    return BuildResult(
        unchanged=True,
        pages=pages,
        chunks=old.chunks,
        reused=pages,
        skipped=skipped,
        warnings=warnings,
        sha256=sha256,
        path=old.path,
    )


def _result(work: _Build, skipped: tuple[Skipped, ...], sha256: str, path: str, *, unchanged: bool) -> BuildResult:
    pages, chunks = len(work.sections.pages), work.sections.chunks
    return BuildResult(unchanged, pages, chunks, work.reused, skipped, tuple(work.warnings), sha256, path)


class _Build:
    """One pass over the notes in path order."""

    def __init__(self, reader: FolderReader, options: IndexOptions, old: IndexFile | None, old_states: NoteStates) -> None:
        self._reader = reader
        self._options = options
        self._old = old
        self._old_states = old_states
        self._old_warnings = old.warnings() if old else {}
        self._old_unusable = old.unusable() if old else {}
        self._old_reasons = dict(old.skipped()) if old else {}
        self._blocks = BlockReader()
        self._unusable: dict[str, str] = {}
        self.sections = Sections(old, Analyzer(options.stem))
        self.states: dict[str, tuple[int, int, int, int]] = {}
        self.skipped: list[Skipped] = []
        self.warnings: list[tuple[str, str]] = []
        self.reused = 0

    def take(self, notes: Sequence[NoteFile], progress: Progress) -> None:
        for done, note in enumerate(notes):
            progress(done, len(notes))
            ordinal = self._old.page_ordinal(note.page) if self._old else None
            if ordinal is not None and self._old_states.get(note.page) == tuple(note.state):
                self._reuse(note, ordinal)
            else:
                self._read(note, ordinal)
        progress(len(notes), len(notes))

    def same_as_old(self, skipped: Sequence[Skipped]) -> bool:
        """Nothing was added, changed, removed, and the same notes are left out for the same reasons."""
        old = self._old
        return (
            old is not None
            and self.reused == len(self.sections.pages) == old.page_count
            and old.skipped() == [(one.path, one.reason) for one in skipped]
            and old.unusable() == self._unusable
        )

    def remarks(self, skipped: Sequence[Skipped]) -> dict[str, object]:
        """What the index file says of notes beside what is searched."""
        return {
            "skipped": [(one.path, one.reason) for one in skipped],
            "unusable": list(self._unusable.items()),
            "warnings": self.warnings,
        }

    def _read(self, file: NoteFile, old_ordinal: int | None) -> None:
        try:
            data = self._reader.read(file.disk_path, page_max_bytes(file.page))
        except FileRefusedError as refusal:
            self.skipped.append(Skipped(file.page, refusal.reason))
            return
        digest = sha256_hex(data)
        if self._old is not None and old_ordinal is not None and self._old.page_digest(old_ordinal) == digest:
            self._reuse(file, old_ordinal)
        elif self._old_unusable.get(file.page) == digest:
            self._leave_out(file, digest, self._old_reasons[file.page])
        else:
            take = self._take_pdf if is_pdf(file.page) else self._take_note
            try:
                take(file, data, digest)
            except UnreadableFileError as refusal:
                self._leave_out(file, digest, str(refusal))

    def _leave_out(self, file: NoteFile, digest: str, reason: str) -> None:
        """Leave out what these bytes do not give, until they change."""
        self._unusable[file.page] = digest
        self.states[file.page] = (*file.state,)
        self.skipped.append(Skipped(file.page, reason))

    def _take_note(self, note: NoteFile, data: bytes, digest: str) -> None:
        parsed = parse_note(decode(data))
        self.states[note.page] = (*note.state,)
        if parsed.schema in LABEL_SCHEMAS:
            self.skipped.append(Skipped(note.page, LABEL_NOTE))
            return
        self.warnings += [(note.page, warning) for warning in parsed.warnings]
        self.sections.add_page(note.page, digest, body_digest(data, LABEL_PROPERTY))
        self._add_chunks(chunk_texts(note.page, parsed, self._options, self._blocks))

    def _take_pdf(self, pdf: NoteFile, data: bytes, digest: str) -> None:
        texts = page_texts(data)
        silent = sum(not text.strip() for text in texts)
        if silent:
            self.warnings.append((pdf.page, f"{silent:,} of its {len(texts):,} pages hold no text"))
        self.states[pdf.page] = (*pdf.state,)
        self.sections.add_page(pdf.page, digest, digest)
        self._add_chunks(pdf_chunk_texts(pdf.page, texts, self._options))

    def _add_chunks(self, chunks: Iterable[tuple[Chunk, str]]) -> None:
        for chunk, text in chunks:
            self.sections.add_chunk(chunk.heading, chunk.lines, text)

    def _reuse(self, note: NoteFile, ordinal: int) -> None:
        if self._old is None:
            return
        self.reused += 1
        self.states[note.page] = (*note.state,)
        self.warnings += [(note.page, warning) for warning in self._old_warnings.get(note.page, ())]
        self.sections.copy_page(self._old, ordinal)


def _usable_old(folder: str, vault: str, header: Mapping[str, object]) -> tuple[IndexFile, str] | None:
    """The index that is there, if it is whole and was built with these options; anything else is built anew."""
    try:
        old, sha256 = open_index(folder, vault, verify=True)
    except IndexUnusableError:
        return None
    if dict(old.options) != header:
        old.close()
        return None
    return old, sha256


def _save_states(folder: str, sha256: str, states: Mapping[str, tuple[int, int, int, int]], started_ns: int) -> None:
    write_atomically(os.path.join(folder, STATES_NAME), [states_text(sha256, states, started_ns)])
