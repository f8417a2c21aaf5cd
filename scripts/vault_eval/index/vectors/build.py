"""The explicit step that makes the vectors of an index: the text of every chunk is read again and given to a model."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from vault_eval.digests import sha256_hex
from vault_eval.errors import ChangedError, IndexUnusableError
from vault_eval.index.build import Progress
from vault_eval.index.chunk_text import chunk_texts, pdf_chunk_texts
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.options import options_from_json
from vault_eval.index.pdf_text import page_texts
from vault_eval.index.store import IndexFile
from vault_eval.index.vectors.embedder import Embedder, ModelIdentity, unit_vectors
from vault_eval.index.vectors.vector_file import VectorFile, vectors_path, write_vectors
from vault_eval.vault.note import parse_note
from vault_eval.vault.note_text import decode
from vault_eval.vault.paths import is_pdf, quoted

# A model works through so many texts at once.
_BATCH_TEXTS = 256


class VectorsResult(NamedTuple):
    """What was made: vectors of so many chunks, of which some were used again, with so many dimensions."""

    chunks: int
    reused: int
    dims: int
    path: str


def build_vectors(
    index: IndexFile, index_sha256: str, folder: str, read: Callable[[str], bytes], embedder: Embedder, progress: Progress
) -> VectorsResult:
    """Make the vectors of an index in its `folder`; those of text that has not changed are taken from the file that is there.

    `read` gives the bytes of a page. Raises ChangedError where a page is not what was indexed, EmbeddingFailedError,
    VaultEvalError where the file cannot be written; the old one then stays.
    """
    path = vectors_path(folder, embedder.identity.name)
    rows = _Rows(embedder, _reusable(path, embedder.identity))
    for text in _texts(index, read, progress):
        rows.add(text)
    rows.finish()
    write_vectors(path, index_sha256, embedder.identity, rows.dims, rows.text_digests, rows.values)
    return VectorsResult(index.chunks, rows.reused, rows.dims, path)


def _texts(index: IndexFile, read: Callable[[str], bytes], progress: Progress) -> Iterator[str]:
    """The text of every chunk, in the order of the index."""
    options, blocks, starts = options_from_json(dict(index.options)), BlockReader(), index["page_chunks"]
    for ordinal in range(index.page_count):
        progress(ordinal, index.page_count)
        page = index.page(ordinal)
        data = read(page)
        if sha256_hex(data) != index.page_digest(ordinal):
            raise ChangedError(f"{quoted(page)} changed since it was indexed: pause sync and run index again")
        chunks = (
            pdf_chunk_texts(page, page_texts(data), options)
            if is_pdf(page)
            else chunk_texts(page, parse_note(decode(data)), options, blocks)
        )
        texts = [text for _, text in chunks]
        if len(texts) != starts[ordinal + 1] - starts[ordinal]:
            raise IndexUnusableError(
                f"the index has other chunks of {quoted(page)} than are cut now: remove it and run index again"
            )
        yield from texts
    progress(index.page_count, index.page_count)


class _Rows:
    """Vectors in the order of the texts added."""

    def __init__(self, embedder: Embedder, known: dict[bytes, array[float]]) -> None:
        self._embedder = embedder
        self._known = known
        self._waiting: list[str] = []
        self.values = array("f")
        self.text_digests = bytearray()
        self.reused = 0
        self.dims = 0

    def add(self, text: str) -> None:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        self.text_digests += digest
        if digest in self._known:
            self.finish()
            self._take([self._known[digest]])
            self.reused += 1
        else:
            self._waiting.append(text)
            if len(self._waiting) >= _BATCH_TEXTS:
                self.finish()

    def finish(self) -> None:
        """Take the vectors of the texts that wait for them."""
        if self._waiting:
            self._take(unit_vectors(self._embedder, self._waiting))
            self._waiting.clear()

    def _take(self, vectors: Sequence[array[float]]) -> None:
        self.dims = self.dims or len(vectors[0])
        if any(len(vector) != self.dims for vector in vectors):
            name = self._embedder.identity.name
            raise ChangedError(f"the model {name} changed the number of its dimensions from {self.dims}: run index again")
        for vector in vectors:
            self.values += vector


def _reusable(path: str, model: ModelIdentity) -> dict[bytes, array[float]]:
    """The vectors of the file that is there by the digest of their text, where it is of this very model."""
    try:
        with VectorFile(path) as old:
            if old.model != model:
                return {}
            return {old.text_digest(chunk): array("f", old.row(chunk)) for chunk in range(old.chunks)}
    except IndexUnusableError:
        return {}
