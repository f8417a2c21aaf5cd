"""Paired differences of one metric, grouped where queries are not independent, and how far their mean may be off."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist

from vault_eval.significance.intervals import Interval

# Differences below this are rounding: the query is a tie.
TIE_MAX = 1e-9
# Two queries may expect the same page by chance; a page behind three or more has a say of its own.
GROUP_MIN_QUERIES = 3
METHOD = "adjusted Wald"


@dataclass(frozen=True, slots=True)
class Differences:
    """Candidate minus baseline of each paired query, within -1 and 1; ties are exactly 0.

    `groups` hold the places of queries that stand or fall together, every place once; most are groups of one.
    """

    values: tuple[float, ...]
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, values: Sequence[float], groups: Sequence[Sequence[int]] | None = None) -> Differences:
        """The differences with ties made exact; every query is a group of its own where none are given."""
        chosen = [(place,) for place in range(len(values))] if groups is None else [tuple(group) for group in groups]
        return cls(tuple(0.0 if abs(value) < TIE_MAX else value for value in values), tuple(chosen))

    @property
    def n(self) -> int:
        """Paired queries."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean difference; ValueError where there is none."""
        if not self.values:
            raise ValueError("no paired query, so no mean difference")
        return fsum(self.values) / self.n

    @property
    def totals(self) -> tuple[float, ...]:
        """The summed difference of each group: what a sign-flip test flips as a whole."""
        sums = (fsum(self.values[place] for place in group) for group in self.groups)
        return tuple(0.0 if abs(total) < TIE_MAX else total for total in sums)

    @property
    def is_grouped(self) -> bool:
        """Whether some queries stand or fall together."""
        return len(self.groups) < self.n

    @property
    def effective_n(self) -> float:
        """n^2 / sum of squared group sizes (Kish, Survey Sampling, 1965): n where all stand alone.

        It counts queries of one group as wholly dependent, the cautious end; k equal groups have an effective n of k.
        """
        squares = sum(len(group) ** 2 for group in self.groups)
        return self.n**2 / squares if squares else 0.0

    @property
    def standard_error(self) -> float:
        """That of the mean after one group all won and one all lost, of average size, have been added; never 0.

        Bonett & Price (J. Educ. Behav. Stat. 2012) add these two for binary pairs: sqrt((p + q - (p - q)^2) / (n + 2)). Groups
        enter by their residuals, total - size * mean (the linearised ratio of sums).
        """
        size = self.n / len(self.groups)
        weight = self.n + 2 * size
        mean = fsum(self.values) / weight
        residuals = [total - len(group) * mean for total, group in zip(self.totals, self.groups, strict=True)]
        added = [size - size * mean, -size - size * mean]
        return sqrt(fsum(residual * residual for residual in (*residuals, *added))) / weight

    @property
    def deviation(self) -> float:
        """The standard deviation behind `standard_error`: .35 at n = 14 where nothing changed, and less with n."""
        return self.standard_error * sqrt(self.effective_n + 2)

    def bounds(self, confidence: float = 0.95) -> Interval:
        """The two-sided interval of the mean difference, clipped to -1 and 1, around a mean drawn towards 0.

        Its centre is sum / (n + 2), so the mean itself lies within for every sample. ValueError without a paired query.
        """
        if not self.values:
            raise ValueError("no paired query, so no interval")
        centre = fsum(self.values) / (self.n + 2 * self.n / len(self.groups))
        half = NormalDist().inv_cdf((1 + confidence) / 2) * self.standard_error
        return Interval(max(-1.0, centre - half), min(1.0, centre + half), METHOD)


def grouped(keys: Sequence[Collection[str]]) -> tuple[tuple[int, ...], ...]:
    """The places of `keys`, the gold pages of each query: together where three or more expect the same pages, else alone.

    Pages that are shared in part do not join: where every query expects many, a chain of them would make all queries one.
    Groups stand in the order of their first query.
    """
    holders: dict[frozenset[str], list[int]] = {}
    for place, pages in enumerate(keys):
        holders.setdefault(frozenset(pages), []).append(place)
    groups: list[tuple[int, ...]] = []
    for pages, places in holders.items():
        together = bool(pages) and len(places) >= GROUP_MIN_QUERIES
        groups += [tuple(places)] if together else [(place,) for place in places]
    return tuple(sorted(groups))
