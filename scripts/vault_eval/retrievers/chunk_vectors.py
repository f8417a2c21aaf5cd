"""The vectors of all chunks of an index by one model, hashed at query time or read from the file beside the index."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

from vault_eval import launcher
from vault_eval.command_lines import advice_to_build, build_command
from vault_eval.data_folder import DataFolder
from vault_eval.digests import sha256_of_lines
from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.options import options_from_json
from vault_eval.index.vectors.cosines import Cosines
from vault_eval.index.vectors.dense import DenseCosines
from vault_eval.index.vectors.embedder import Embedder, EmbeddingFailedError, unit_vectors
from vault_eval.index.vectors.hashed import HASH_DIMENSIONS, HashVectors
from vault_eval.index.vectors.vector_file import VectorFile, vectors_path
from vault_eval.retrievers.embeddings import HASH, Model, open_embedder
from vault_eval.retrievers.native_index import NativeIndex
from vault_eval.retrievers.protocol import RetrieverContext, SettingValue
from vault_eval.retrievers.spec import INDEX_SETTINGS, Spec
from vault_eval.vault.paths import quoted


class ChunkVectors(Protocol):
    """Vectors of all chunks, and of any query."""

    def cosines(self, query: str) -> Cosines:
        """The cosine of a query to every chunk. Raises EmbeddingFailedError."""
        ...

    def settings(self) -> Mapping[str, SettingValue]:
        """Which model it is, for the report."""
        ...

    def are_as_opened(self) -> bool:
        """Whether the vectors on disk are still those that were opened."""
        ...

    def close(self) -> None:
        """Release the file."""
        ...


def open_chunk_vectors(spec: Spec, model: Model, native: NativeIndex, context: RetrieverContext) -> ChunkVectors:
    """The vectors of a model that a spec asks for.

    Raises IndexUnusableError with the line that makes them, where they are missing or of another state of index or model;
    UsageError and MissingPackageError where the model cannot be used.
    """
    if model.kind == HASH:
        return HashedChunks(native)
    refuse_another_index(spec, model)
    embedder = open_embedder(model)
    try:
        return StoredChunks(embedder, _opened(model, embedder, native))
    except IndexUnusableError as error:
        raise IndexUnusableError(advice_to_build(str(error), _command(model, native, context)), says_remedy=True) from None


def refuse_another_index(spec: Spec, model: Model) -> None:
    """Raises UsageError where a spec asks for another index than the standing one, which alone has the vectors of a model."""
    if model.kind != HASH and any(name in INDEX_SETTINGS for name in spec.settings):
        problem = f"--retriever {quoted(spec.text)}: vectors of {model.kind} are kept beside the standing index alone"
        raise UsageError(f"{problem}; leave out {', '.join(INDEX_SETTINGS)}, or build the index itself with them")


class HashedChunks:
    """Hash vectors, computed from the postings of the index."""

    def __init__(self, native: NativeIndex) -> None:
        self._vectors = HashVectors(native.file, native.analyzer)
        self.cosines = self._vectors.cosines

    def settings(self) -> Mapping[str, SettingValue]:
        """Its dimensions."""
        return {"model": HASH, "dims": HASH_DIMENSIONS}

    def are_as_opened(self) -> bool:
        """They are part of the index."""
        return True

    def close(self) -> None:
        """Nothing is held open."""


class StoredChunks:
    """Vectors from a file, and the model that embeds queries."""

    def __init__(self, embedder: Embedder, file: VectorFile) -> None:
        self._embedder = embedder
        self._file = file
        self.are_as_opened = file.is_as_opened
        self.close = file.close

    def cosines(self, query: str) -> Cosines:
        """The cosine of a query to every chunk."""
        (vector,) = unit_vectors(self._embedder, [query])
        if self._file.chunks and len(vector) != self._file.dims:
            name, dims = self._embedder.identity.name, self._file.dims
            raise EmbeddingFailedError(f"the model {name} gave {len(vector)} dimensions for a query and {dims} for the notes")
        return DenseCosines(self._file.rows, vector)

    def settings(self) -> Mapping[str, SettingValue]:
        """The model, one digest for all of its parts, and that of the vectors."""
        model, digests = self._embedder.identity
        whole = sha256_of_lines(f"{digest}  {name}" for name, digest in digests.items())
        return {"model": model, "dims": self._file.dims, "model_sha256": whole, "vectors_sha256": self._file.sha256}


def _opened(model: Model, embedder: Embedder, native: NativeIndex) -> VectorFile:
    file = VectorFile(vectors_path(native.folder, model.text))
    problem = None
    if file.index_sha256 != native.sha256:
        problem = f"the vectors of {model.text} belong to the index as it was before; it has changed since"
    elif file.model != embedder.identity:
        problem = f"the vectors of {model.text} were made by another state of that model"
    elif file.chunks != native.file.chunks:
        problem = f"there are vectors of {file.chunks:,} chunks in {file.path!r}, and {native.file.chunks:,} chunks in the index"
    if problem is not None:
        file.close()
        raise IndexUnusableError(problem)
    return file


def _command(model: Model, native: NativeIndex, context: RetrieverContext) -> str:
    """The line that makes the vectors: the options of this index are said again, and its place where it is not the default."""
    options = options_from_json(dict(native.file.options))
    is_standing = native.folder == os.path.abspath(DataFolder(context.data).index_folder(native.vault))
    data = None if context.data == launcher.find_data_folder(None)[0] else context.data or None
    index = None if is_standing else native.folder
    return build_command(context.vault.root, options, index=index, data=data, vectors=model.text)
