"""The chunks nearest to a query among stored vectors: exact, the same to the last bit with and without numpy."""

from __future__ import annotations

from array import array
from functools import partial
from heapq import nlargest
from math import fsum
from operator import mul

from vault_eval.index.search import Hit

# Unit roundoff of the 32-bit floats in which the first pass may be computed.
_UNIT_ROUNDOFF = 2.0**-24


class DenseCosines:
    """The cosines of one query, a unit vector, to unit vectors that stand one after another in `rows`.

    A first pass, by numpy where it is there, finds the chunks that can be among the best, rounding taken into account. Only
    they are computed again, as the correctly rounded sum of products: so neither the library nor the machine decides an order.
    """

    def __init__(self, rows: memoryview[float], query: array[float]) -> None:
        self._rows = rows
        self._query = query
        self._dims = len(query)
        self._rough = _rough_cosines(rows, query)
        # Higham, "Accuracy and Stability of Numerical Algorithms" (2002), 3.1: a sum of n products errs by about n u |x||y| at
        # most, and so may that of the chunk it is held against; twice that, since the lengths are rounded too.
        self._slack = 4 * self._dims * _UNIT_ROUNDOFF

    def best(self, n: int) -> list[Hit]:
        """The n nearest chunks above 0."""
        leaders = nlargest(n, self._rough)
        least = max(leaders[-1] if len(leaders) == n else 0.0, 0.0) - self._slack
        exact = ((-self.of(chunk), chunk) for chunk, rough in enumerate(self._rough) if rough >= least)
        return [Hit(chunk, -cosine) for cosine, chunk in sorted(exact)[:n] if cosine < 0]

    def of(self, chunk: int) -> float:
        """The cosine of one chunk."""
        return fsum(map(mul, self._rows[chunk * self._dims : (chunk + 1) * self._dims], self._query))


def _rough_cosines(rows: memoryview[float], query: array[float]) -> list[float]:
    dims = len(query)
    try:
        import numpy as np
    except ImportError:
        dot = partial(map, mul, query)
        return [sum(dot(rows[start : start + dims])) for start in range(0, len(rows), dims)]
    rough: list[float] = (np.frombuffer(rows.cast("B"), "<f4").reshape(-1, dims) @ np.frombuffer(query, "<f4")).tolist()
    return rough
