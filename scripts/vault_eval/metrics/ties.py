"""Equal scores: which tie a cutoff cuts through, and what is expected if its order were drawn by lot.

The order as returned is what counts; these figures stand beside it (McSherry & Najork, ECIR 2008). A tie is a run of
equal scores in the ranking; None and NaN equal nothing. A tie that goes on below the last page given is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, fsum


@dataclass(frozen=True, slots=True)
class TieGroup:
    """Pages `first` to `last` by rank, both included, all with the same score."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """How many pages share the score."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class TieExpectation:
    """The means of hit@k, recall@k and RR@k over all orders of the tied pages, each equally likely."""

    hit: float
    recall: float
    reciprocal_rank: float


def tie_groups(scores: Sequence[float | None]) -> tuple[TieGroup, ...]:
    """The ranking as runs of equal scores, untied pages being runs of one."""
    starts = [rank for rank, (upper, lower) in enumerate(pairwise(scores), start=2) if upper is None or upper != lower]
    edges = [1, *starts, len(scores) + 1] if scores else []
    return tuple(TieGroup(first, following - 1) for first, following in pairwise(edges))


def straddling(scores: Sequence[float | None], k: int) -> TieGroup | None:
    """The tie that has pages on both sides of cutoff k, else None."""
    if k >= len(scores) or scores[k - 1] is None or scores[k - 1] != scores[k]:
        return None  # most rankings: told without looking at the rest of them
    return next((group for group in tie_groups(scores) if group.first <= k < group.last), None)


def tie_expected(scores: Sequence[float | None], relevant: Sequence[bool], relevant_total: int, k: int) -> TieExpectation | None:
    """What hit@k, recall@k and RR@k are on average over the orders of ties; None without relevant pages.

    `relevant` tells it of each ranked page, `relevant_total` is |G|, pages not returned included.
    ValueError when the two sequences differ in length.
    """
    if len(scores) != len(relevant):
        raise ValueError(f"{len(scores)} scores and {len(relevant)} judgments of one ranking")
    if relevant_total < 1:
        return None
    found = [(group, sum(relevant[group.first - 1 : group.last])) for group in tie_groups(scores)]
    expected_hits = fsum(count * places_inside(group, k) / group.size for group, count in found)
    first = next(((group, count) for group, count in found if count), None)
    if first is None:
        return TieExpectation(0.0, 0.0, 0.0)
    return TieExpectation(_hit_chance(*first, k), expected_hits / relevant_total, _expected_rr(*first, k))


def places_inside(group: TieGroup, k: int) -> int:
    """How many places of the tie lie at or above cutoff k: m = k - a + 1, within 0 and t."""
    return min(max(k - group.first + 1, 0), group.size)


def _hit_chance(group: TieGroup, relevant: int, k: int) -> float:
    """1 - C(t-r, m) / C(t, m) for the first tie that holds relevant pages."""
    inside = places_inside(group, k)
    return 1 - comb(group.size - relevant, inside) / comb(group.size, inside)


def _expected_rr(group: TieGroup, relevant: int, k: int) -> float:
    """Sum over j of C(t-1-j, r-1) / C(t, r) / (a+j), for the first tie that holds relevant pages; 0 beyond k."""
    orders = comb(group.size, relevant)
    last = min(group.size - relevant, k - group.first)
    return fsum(comb(group.size - 1 - j, relevant - 1) / orders / (group.first + j) for j in range(last + 1))
