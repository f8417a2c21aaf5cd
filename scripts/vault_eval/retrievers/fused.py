"""What `hybrid` and `hybrid+rerank` have in common: the pools of keywords and vectors made into one by reciprocal rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from types import MappingProxyType

from vault_eval.index.fusion import RRF_CONSTANT, fused
from vault_eval.index.pool import Pool, gather_pool, gathered
from vault_eval.index.pool_ranking import pool_ranking
from vault_eval.index.search import Searcher
from vault_eval.index.vectors.cosines import Cosines
from vault_eval.index.vectors.embedder import EmbeddingFailedError
from vault_eval.limits import DEPTH_MAX_PAGES, FUSION_POOL_DEFAULT_PAGES
from vault_eval.model import Ranking, RetrieverDescription
from vault_eval.retrievers.chunk_vectors import ChunkVectors, open_chunk_vectors
from vault_eval.retrievers.embeddings import MODELS, model_of
from vault_eval.retrievers.native_index import NativeIndex
from vault_eval.retrievers.protocol import RetrieverContext, SettingValue
from vault_eval.retrievers.spec import Spec, bm25_parameters, whole_setting


def open_fused(
    spec: Spec, context: RetrieverContext, others: Sequence[str] = (), told: Mapping[str, SettingValue] = MappingProxyType({})
) -> FusedSearch:
    """The fused search of a spec, which may also have the settings `others`; `told` is said of it beside what it knows itself.

    Raises UsageError for settings that cannot be, IndexUnusableError without index or vectors.
    """
    k1, b = bm25_parameters(spec, (*MODELS, "pool", *others))
    pool_pages = whole_setting(spec, "pool", FUSION_POOL_DEFAULT_PAGES, 1, DEPTH_MAX_PAGES)
    with ExitStack() as opened:
        native = opened.enter_context(closing(NativeIndex(context)))
        vectors = opened.enter_context(closing(open_chunk_vectors(spec, model_of(spec), native, context)))
        searcher = Searcher(native.file, k1, b)
        return FusedSearch(spec.text, native, searcher, vectors, pool_pages, told, opened.pop_all().close)


class FusedSearch:
    """Searches one index by keywords and by vectors, and answers with the pages of both by reciprocal rank."""

    def __init__(
        self,
        name: str,
        native: NativeIndex,
        searcher: Searcher,
        vectors: ChunkVectors,
        pool_pages: int,
        told: Mapping[str, SettingValue],
        close: Callable[[], None],
    ) -> None:
        self._name = name
        self._searcher = searcher
        self._pool_pages = pool_pages
        self._told = told
        self.vectors = vectors
        self.native = native
        self.index = native.description
        self.is_indexed = native.is_indexed
        self.is_stale = native.is_stale
        self.close = close

    def describe(self) -> RetrieverDescription:
        """BM25's parameters, the model, how the two are fused, and the options the index was built with."""
        bm25 = self._searcher.bm25
        own: dict[str, SettingValue] = {"k1": bm25.k1, "b": bm25.b, "fusion": "reciprocal rank", "rrf_k": RRF_CONSTANT}
        own["pool_pages"] = self._pool_pages
        return RetrieverDescription(self._name, {**own, **self.vectors.settings(), **self.native.options(), **self._told})

    def bound_digest(self) -> str | None:
        """The digest of the index now; None where its vectors are no longer those that were opened."""
        return self.native.digest_now() if self.vectors.are_as_opened() else None

    def search(self, query: str, depth: int) -> Ranking:
        """The first `depth` pages of the pool."""
        try:
            pool, _ = self.pool(query, depth)
        except EmbeddingFailedError as error:
            return Ranking((), error=str(error))
        return pool_ranking(self.native.file, pool, depth)

    def pool(self, query: str, depth: int) -> tuple[Pool, Cosines]:
        """The fused pool of one query, and its cosines. Raises EmbeddingFailedError."""
        index, freshness, pages = self.native.file, self.native.freshness, max(depth, self._pool_pages)
        cosines = self.vectors.cosines(query)
        by_words = gather_pool(self._searcher, self.native.analyzer.terms(query), pages, freshness)
        return fused([by_words, gathered(cosines.best, index, pages, freshness)]), cosines
