"""The search of the numpy program in the place of ours."""

from __future__ import annotations

from collections.abc import Sequence

from numpy_program import NumpySearcher

from vault_eval.index.search import Hit, Searcher
from vault_eval.index.store import IndexFile


class ArraySearcher(Searcher):
    """Finds by whole arrays what Searcher finds by pruned lists."""

    def __init__(self, index: IndexFile, k1: float, b: float) -> None:
        super().__init__(index, k1, b)
        self._arrays = NumpySearcher(IndexFile(index.path), k1, b)  # a map of its own: arrays do not let go of it

    def best(self, terms: Sequence[str], n: int) -> list[Hit]:
        """The n best chunks."""
        return [Hit(chunk, score) for chunk, score in self._arrays.best(terms, n)]

    def reaching(self, terms: Sequence[str], least: float) -> dict[int, float]:
        """Every chunk that scores at least so much."""
        return {chunk: score for chunk, score in self._arrays.best(terms, self.index.chunks) if score >= least}
