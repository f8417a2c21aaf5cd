"""`vector`: the pages whose chunks are nearest to the query by cosine. Settings: a model, `hash` where none is named.

`vector:hash` compares hashed words and knows no meaning; `vector:wordllama`, `vector:model2vec=FOLDER` and
`vector:ollama=NAME[@PORT]` need the vectors that `index --vectors MODEL` makes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing

from vault_eval.index.pool import gathered
from vault_eval.index.pool_ranking import pool_ranking
from vault_eval.index.vectors.embedder import EmbeddingFailedError
from vault_eval.model import Ranking, RetrieverDescription
from vault_eval.retrievers.chunk_vectors import ChunkVectors, open_chunk_vectors
from vault_eval.retrievers.embeddings import MODELS, model_of
from vault_eval.retrievers.native_index import NativeIndex
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import INDEX_SETTINGS, Spec, refuse_unknown_settings

NEEDS_INDEX = True


def open_retriever(spec: Spec, context: RetrieverContext) -> VectorSearch:
    """The searcher of a model's vectors. Raises IndexUnusableError without them, UsageError, MissingPackageError."""
    refuse_unknown_settings(spec, (*MODELS, *INDEX_SETTINGS))
    with ExitStack() as opened:
        native = opened.enter_context(closing(NativeIndex(context)))
        vectors = opened.enter_context(closing(open_chunk_vectors(spec, model_of(spec), native, context)))
        return VectorSearch(spec.text, native, vectors, opened.pop_all().close)


class VectorSearch:
    """Searches the vectors of one open index; freshness of the pages it hits is read from the vault, once a page."""

    def __init__(self, name: str, native: NativeIndex, vectors: ChunkVectors, close: Callable[[], None]) -> None:
        self._name = name
        self._native = native
        self._vectors = vectors
        self.index = native.description
        self.is_indexed = native.is_indexed
        self.is_stale = native.is_stale
        self.close = close

    def describe(self) -> RetrieverDescription:
        """The model, and the options the index was built with."""
        return RetrieverDescription(self._name, {**self._vectors.settings(), "similarity": "cosine", **self._native.options()})

    def bound_digest(self) -> str | None:
        """The digest of the index now; None where its vectors are no longer those that were opened."""
        return self._native.digest_now() if self._vectors.are_as_opened() else None

    def search(self, query: str, depth: int) -> Ranking:
        """The best `depth` fresh pages, in the order of their nearest chunk."""
        try:
            nearest = self._vectors.cosines(query).best
        except EmbeddingFailedError as error:
            return Ranking((), error=str(error))
        index = self._native.file
        return pool_ranking(index, gathered(nearest, index, depth, self._native.freshness), depth)
