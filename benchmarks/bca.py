"""The BCa bootstrap interval of a mean: what `significance.intervals.abc` approximates; slow, here to check it against."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import floor, fsum, sqrt
from random import Random
from statistics import NormalDist

from vault_eval.significance.intervals import SPREAD_MIN, Z_95, Interval

RESAMPLES_DEFAULT = 10_000
SEED_DEFAULT = 20_240_607


def bca(values: Sequence[float], resamples: int = RESAMPLES_DEFAULT, seed: int = SEED_DEFAULT) -> Interval | None:
    """Bias-corrected and accelerated bootstrap bounds of the mean (Efron, JASA 1987), clipped to 0 and 1.

    z0 = Phi^-1 of the share of resampled means below m, ties counting half; a from the jackknife; the bounds are
    the quantiles Phi(z0 + (z0 -+ z) / (1 - a (z0 -+ z))). Same seed, same bounds. None when the values do not differ.
    """
    n = len(values)
    if n == 0 or max(values) - min(values) < SPREAD_MIN:
        return None
    mean, random, normal = fsum(values) / n, Random(seed), NormalDist()
    means = sorted(fsum(random.choices(values, k=n)) / n for _ in range(resamples))
    below = (bisect_left(means, mean - SPREAD_MIN) + bisect_right(means, mean + SPREAD_MIN)) / (2 * resamples)
    z0, a = normal.inv_cdf(below), _acceleration(values)
    shares = (normal.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in (-Z_95, Z_95))
    low, high = (_quantile(means, share) for share in shares)
    return Interval(max(0.0, low), min(1.0, high), "bca")


def _acceleration(values: Sequence[float]) -> float:
    """Sum (m - th_i)^3 / (6 (sum (m - th_i)^2)^1.5) over the jackknife means th_i; for a mean that is x_i - m, scaled."""
    mean = fsum(values) / len(values)
    squares = fsum((value - mean) ** 2 for value in values)
    return fsum((value - mean) ** 3 for value in values) / (6 * squares * sqrt(squares))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The value at `share` of the way through, straight between neighbours."""
    place = share * (len(ordered) - 1)
    lower = floor(place)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (place - lower) * (ordered[upper] - ordered[lower])
