"""The scoring formula and nothing else: BM25 with an inverse document frequency that is never negative.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with Lucene's
idf ln(1 + (N - df + 0.5) / (df + 0.5)).
"""

from __future__ import annotations

import math
from typing import NamedTuple

DEFAULT_K1 = 1.5
DEFAULT_B = 0.75


class Bm25(NamedTuple):
    """k1, b and the corpus: number of chunks and their mean length in terms.

    A term's contribution to a chunk is  weight * tf / (tf + norm)  with weight = idf (k1 + 1) and
    norm = k1 (1 - b + b length / mean length). A score is the sum of contributions in query-term order, so it is the
    same to the last bit wherever it is computed.
    """

    k1: float
    b: float
    chunks: int
    mean_length: float

    def norm(self, length: int) -> float:
        """What the length of a chunk, in terms, adds to the denominator."""
        relative = length / self.mean_length if self.mean_length else 1.0
        return self.k1 * (1.0 - self.b + self.b * relative)

    def idf(self, df: int) -> float:
        """Inverse document frequency of a term that `df` chunks hold; above 0 for every df from 0 to N."""
        return math.log(1.0 + (self.chunks - df + 0.5) / (df + 0.5))

    def weight(self, df: int) -> float:
        """The largest contribution that a term held by `df` chunks can come near to."""
        return self.idf(df) * (self.k1 + 1.0)

    def contribution(self, weight: float, tf: int, length: int) -> float:
        """What one occurrence of the query term adds to a chunk that holds it `tf` times among `length` terms."""
        return weight * tf / (tf + self.norm(length))
