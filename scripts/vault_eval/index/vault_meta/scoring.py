"""The scores of this format: the same BM25 as ours, summed over every posting of the query's terms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from vault_eval.index.bm25 import Bm25
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.index.vault_meta.document import IndexDocument


class Scorer:
    """Scores the chunks of one index with one k1 and b; a term said twice counts twice."""

    def __init__(self, document: IndexDocument, k1: float, b: float) -> None:
        self.bm25 = Bm25(k1, b, len(document.chunks), document.mean_length)
        self._postings = document.postings
        self._norms = [self.bm25.norm(chunk.length) for chunk in document.chunks]

    def matches(self, terms: Sequence[str]) -> dict[int, float]:
        """Every chunk that holds a term, with its score."""
        sums: dict[int, float] = {}
        for postings in filter(None, map(self._postings.get, terms)):
            weight = self.bm25.weight(len(postings.chunks))
            for chunk, tf in zip(postings.chunks, postings.counts, strict=True):
                sums[chunk] = sums.get(chunk, 0.0) + weight * tf / (tf + self._norms[chunk])
        return sums

    def score(self, terms: Sequence[str], chunk: int) -> float:
        """The score of one chunk, to the last bit as `matches` has it."""
        score = 0.0  # no sum(): from Python 3.12 on it adds floats in another way
        for one in self.term_scores(terms, chunk):
            score += one.contribution
        return score

    def term_scores(self, terms: Sequence[str], chunk: int) -> list[TermEvidence]:
        """What each query term adds to one chunk and what that is made of, in query order; see `Searcher.term_scores`."""
        k1, norm = self.bm25.k1, self._norms[chunk]
        return [self._term_score(term, chunk, k1, norm) for term in terms]

    def _term_score(self, term: str, chunk: int, k1: float, norm: float) -> TermEvidence:
        postings = self._postings.get(term)
        df = len(postings.chunks) if postings is not None else 0
        at = bisect_left(postings.chunks, chunk) if postings is not None else 0
        if postings is None or at == df or postings.chunks[at] != chunk:
            return TermEvidence(term, df, 0, 0.0, self.bm25.idf(df), 0.0, 1.0)
        tf = postings.counts[at]
        contribution = self.bm25.weight(df) * tf / (tf + norm)
        return TermEvidence(term, df, tf, contribution, self.bm25.idf(df), tf * (k1 + 1.0) / (tf + k1), (tf + k1) / (tf + norm))
