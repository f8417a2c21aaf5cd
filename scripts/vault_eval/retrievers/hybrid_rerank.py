"""`hybrid+rerank`: the first pages of `hybrid`, ordered anew by cosine. Settings as there, and `by`: another model that reorders.

The first 20 pages, or as many as are asked for, stand by the largest cosine that any of their chunks has to the query, then by
path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace

from vault_eval.index.fusion import reranked
from vault_eval.index.pool_ranking import pool_ranking
from vault_eval.index.vectors.embedder import EmbeddingFailedError
from vault_eval.limits import RERANKED_MIN_PAGES
from vault_eval.model import Ranking, RetrieverDescription
from vault_eval.retrievers.chunk_vectors import ChunkVectors, open_chunk_vectors
from vault_eval.retrievers.embeddings import model_of, parse_model
from vault_eval.retrievers.fused import FusedSearch, open_fused
from vault_eval.retrievers.protocol import Retriever, RetrieverContext, SettingValue
from vault_eval.retrievers.spec import Spec
from vault_eval.vault.paths import quoted

NEEDS_INDEX = True
RERANKER = "by"  # the setting that names the model that reorders


def open_retriever(spec: Spec, context: RetrieverContext) -> Retriever:
    """The reranked search; with `no_rerank` the fused one, and the model of `by` is not even looked for.

    Raises IndexUnusableError, UsageError, MissingPackageError.
    """
    named = spec.settings.get(RERANKER)
    by = None if named is None else parse_model(named, f"--retriever {quoted(spec.text)}: {RERANKER}={quoted(named)}")
    if context.no_rerank:
        return open_fused(spec, context, (RERANKER,), {"rerank": "off"})
    with ExitStack() as opened:
        fused = opened.enter_context(closing(open_fused(spec, context, (RERANKER,))))
        if by is None or by == model_of(spec):
            vectors = fused.vectors
        else:
            vectors = opened.enter_context(closing(open_chunk_vectors(spec, by, fused.native, context)))
        return RerankedSearch(fused, vectors, opened.pop_all().close)


class RerankedSearch:
    """Orders the pool of a fused search by the cosines of `vectors`."""

    def __init__(self, fused: FusedSearch, vectors: ChunkVectors, close: Callable[[], None]) -> None:
        self._fused = fused
        self._vectors = vectors
        self.index = fused.index
        self.is_indexed = fused.is_indexed
        self.is_stale = fused.is_stale
        self.close = close

    def describe(self) -> RetrieverDescription:
        """What the fused search says of itself, and what reorders its pool."""
        reranker = {f"rerank_{name}": value for name, value in self._vectors.settings().items()}
        settings: Mapping[str, SettingValue] = {
            **self._fused.describe().settings,
            "rerank": "largest cosine",
            "rerank_pages": RERANKED_MIN_PAGES,
            **reranker,
        }
        return RetrieverDescription(self._fused.describe().name, settings)

    def bound_digest(self) -> str | None:
        """The digest of the index now; None where any vectors are no longer those that were opened."""
        return self._fused.bound_digest() if self._vectors.are_as_opened() else None

    def search(self, query: str, depth: int) -> Ranking:
        """The first `depth` pages of the fused pool in their new order; `candidates.before` is the order they had."""
        index = self._fused.native.file
        try:
            pool, cosines = self._fused.pool(query, depth)
            if self._vectors is not self._fused.vectors:
                cosines = self._vectors.cosines(query)
        except EmbeddingFailedError as error:
            return Ranking((), error=str(error))
        ranking = pool_ranking(index, reranked(pool, index, cosines.of, max(depth, RERANKED_MIN_PAGES)), depth)
        before = tuple(map(index.page, pool.usable))
        return replace(ranking, candidates=ranking.candidates and replace(ranking.candidates, before=before))
