"""What a sample of this size can see at all: minimum detectable effect, wins needed, queries needed."""

from __future__ import annotations

from math import ceil, sqrt
from statistics import NormalDist

from vault_eval.significance.distributions import DIGITS, t_critical, t_power
from vault_eval.significance.paired import mcnemar

ALPHA = 0.05
POWER = 0.8
_NORMAL_SUM = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)
_STEPS = 40


def detectable_effect(n: int) -> float | None:
    """The standardised mean difference (mean / standard deviation) that a paired t test of n queries finds with power .8 at
    .05, two-sided: 1.00 at n = 10, .40 at 50. None below 2 queries (Sakai, Inf. Retrieval J. 2016).
    """
    if n < 2:
        return None
    # The normal distribution asks for less than t, by a factor of 5.8 at n = 2 and of nearly 1 soon after.
    critical = t_critical(ALPHA, n - 1)
    low = _NORMAL_SUM / sqrt(n)
    high = 6 * low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if t_power(middle, n, critical) >= POWER else (middle, high)
    return high


# Of five queries all can win, and the exact p is still 2 / 2^5 = .0625.
FEWEST_QUERIES = 6


def wins_needed(losses: int, alpha: float = ALPHA) -> int:
    """The fewest wins that are significant against so many losses: 6 against none, 8 against one, 10 against two."""
    wins = losses + 1
    while mcnemar(wins, losses).p > alpha:
        wins += 1
    return wins


def detectable_difference(deviation: float, n: int, *, is_count: bool = False) -> float | None:
    """The mean difference that n queries find with power .8 at .05, two-sided, where differences deviate by `deviation`.

    `is_count`: McNemar's test counts whole queries, which takes 1 / n more (Edwards' correction, Psychometrika 1948).
    None below FEWEST_QUERIES, and where not even a difference of 1 would be found.
    """
    effect = detectable_effect(n)
    if effect is None or n < FEWEST_QUERIES:
        return None
    difference = round(effect * deviation + is_count / n, DIGITS)
    return difference if difference <= 1 else None


def queries_needed(deviation: float, difference: float, *, is_count: bool = False) -> int:
    """The fewest queries that find a mean `difference` with power .8 at .05; `is_count` as above."""
    # What the normal distribution asks for without correction; t and whole counts ask for a few more.
    queries = max(FEWEST_QUERIES, ceil((_NORMAL_SUM * deviation / difference) ** 2), ceil(is_count / difference) + 1)
    while t_power((difference - is_count / queries) / deviation, queries, t_critical(ALPHA, queries - 1)) < POWER:
        queries += 1
    return queries
