"""The text of every chunk as it is indexed: what the page and the headings say of it, then its own lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_eval.index.chunker import Chunk, chunk_note, chunk_plain_text
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.options import IndexOptions
from vault_eval.index.prefix import heading_prefix, page_prefix
from vault_eval.index.terms import without_data_uris
from vault_eval.vault.note import Note


def chunk_texts(page: str, note: Note, options: IndexOptions, blocks: BlockReader) -> Iterator[tuple[Chunk, str]]:
    """The chunks of a note in order, each with its contextual prefix and text; data URIs are blanks."""
    shared = page_prefix(page, note, options.prefix)
    text = without_data_uris(note.text)
    for chunk in chunk_note(text, note.body_line, blocks, options.sizes):
        # A chunk that starts with its heading says it itself, whole and with the targets of its links.
        above = chunk.heading[:-1] if chunk.body_start > chunk.start else chunk.heading
        yield chunk, f"{shared}\n{heading_prefix(above, options.prefix)}\n{text[chunk.start : chunk.end]}"


def pdf_chunk_texts(page: str, texts: Sequence[str], options: IndexOptions) -> Iterator[tuple[Chunk, str]]:
    """The chunks of a PDF in order, each under the heading `page 4` of its page, whose lines they count.

    That heading is ours and no text of the PDF: it is not indexed, or every PDF would answer to `page`.
    """
    title = page_prefix(page, Note(""), options.prefix)
    for number, text in enumerate(texts, 1):
        for chunk in chunk_plain_text(text, (f"page {number}",), options.sizes):
            yield chunk, f"{title}\n{text[chunk.start : chunk.end]}"
