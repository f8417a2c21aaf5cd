"""Gold places within pages: whether today's page can be read and has them, as an evaluation tells a hit, and what else may be
meant.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from vault_eval.diagnosis.sections import block_line, lies_under
from vault_eval.errors import UnreadableFileError
from vault_eval.index.chunker import chunk_note
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.options import ChunkSizes
from vault_eval.index.pdf_text import page_texts
from vault_eval.model import Target
from vault_eval.nearest import nearest
from vault_eval.vault.note import Note, parse_note
from vault_eval.vault.note_text import decode
from vault_eval.vault.paths import folded, is_pdf, quoted
from vault_eval.vault.refusal import FileRefusedError
from vault_eval.vault.snapshot import VaultSnapshot

_SHOWN_MAX = 3


@dataclass(frozen=True, slots=True)
class _Headings:
    """A note, and the headings above each of its chunks, outermost first."""

    note: Note
    paths: frozenset[tuple[str, ...]]
    names: tuple[str, ...]  # each heading once, in the order of the note


class GoldPlaces:
    """Answers for the pages of one vault; each is read once, when a place in it is asked for."""

    def __init__(self, vault: VaultSnapshot) -> None:
        self._vault = vault
        self._blocks = BlockReader()
        self._headings = functools.cache(self._read_headings)
        self._texts = functools.cache(self._read_texts)
        self._refusal = functools.cache(self._read_refusal)

    def fault(self, target: Target) -> str | None:
        """Why nothing can be found at this place of its page; None where something can, and where no place is named.

        A page that cannot be read, which `unreadable` tells, is none of its faults. A heading that is not there comes with those
        that are near.
        """
        try:
            if target.pdf_page is not None:
                return _page_fault(target.pdf_page, self._texts(target.page))
            if target.block is not None:
                return _block_fault(target.block, self._headings(target.page).note)
            if target.heading is not None:
                return _heading_fault(target.heading, self._headings(target.page))
        except UnreadableFileError:
            return None
        return None

    def unreadable(self, page: str) -> str | None:
        """Why no search finds anything in a page that is there; None where it can be read, and where nothing is there."""
        return self._refusal(page)

    def _read_refusal(self, page: str) -> str | None:
        try:
            _ = self._texts(page) if is_pdf(page) else decode(self._vault.read(page))
        except FileRefusedError as refusal:
            return None if refusal.absent else refusal.reason
        except UnreadableFileError as error:
            return str(error)
        return None

    def _read_headings(self, page: str) -> _Headings:
        note = parse_note(decode(self._vault.read(page)))
        paths = dict.fromkeys(chunk.heading for chunk in chunk_note(note.text, note.body_line, self._blocks, ChunkSizes()))
        return _Headings(note, frozenset(paths), tuple(dict.fromkeys(name for path in paths for name in path)))

    def _read_texts(self, page: str) -> tuple[str, ...]:
        return page_texts(self._vault.read(page))


def _heading_fault(heading: str, there: _Headings) -> str | None:
    if any(lies_under(heading, path) for path in there.paths):
        return None
    return f"the note has no heading {quoted(heading)}; {_near(heading, there.names)}"


def _block_fault(block: str, note: Note) -> str | None:
    line = block_line(note.text, block)
    return None if line is not None and line > note.body_line else f"no line of the note's text ends with {quoted('^' + block)}"


def _page_fault(page: int, texts: Sequence[str]) -> str | None:
    if page > len(texts):
        return f"the PDF has no page {page:,}; its last one is {len(texts):,}"
    return None if texts[page - 1].strip() else f"page {page:,} of the PDF holds no text, so no search finds it"


def _near(heading: str, names: Sequence[str]) -> str:
    """The headings that `heading`, or the last step of `A#B`, may be a slip of; else the first there are."""
    if not names:
        return "it has none"
    by_folded = {folded(name): name for name in names}
    steps = dict.fromkeys((folded(heading), folded(heading.rpartition("#")[2])))
    near = dict.fromkeys(name for step in steps for name in nearest(step, by_folded, most=_SHOWN_MAX))
    shown = ", ".join(quoted(by_folded[name]) for name in [*near][:_SHOWN_MAX])
    if shown:
        return f"near it {'are' if len(near) > 1 else 'is'} {shown}"
    rest = len(names) - _SHOWN_MAX
    return f"it has {', '.join(map(quoted, names[:_SHOWN_MAX]))}{f' and {rest:,} more' if rest > 0 else ''}"
