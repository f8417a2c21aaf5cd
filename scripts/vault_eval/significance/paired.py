"""Could chance alone have made a mean difference this large? Sign-flip, McNemar, and the paired t as second opinion."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import fsum, sqrt
from operator import add
from random import Random

from vault_eval.significance.differences import TIE_MAX, Differences
from vault_eval.significance.distributions import DIGITS, t_p_value

# 2^20 sign patterns are counted exactly; beyond that they are drawn.
EXACT_MAX_DIFFERENCES = 20
SAMPLES = 10_000
SEED = 20_240_607
_BLOCK = 8  # signs drawn at once: the bits of a byte


@dataclass(frozen=True, slots=True)
class PValue:
    """A two-sided p value, the smallest that this many changed queries (or groups) can reach, and the test's name."""

    test: str
    p: float
    smallest_p: float


def sign_flip(differences: Differences, seed: int = SEED) -> PValue:
    """The share of sign patterns whose mean lies as far from 0 as the one observed, or further (Fisher, 1935).

    If the two configurations are interchangeable, each difference could as well have had the other sign; a group flips
    as a whole. Up to 20 that are not 0, all 2^d patterns count. Beyond, 10,000 seeded ones: p = (b + 1) / (B + 1), never 0
    (Phipson & Smyth 2010). Why this test: Smucker, Allan & Carterette, CIKM 2007. p is 1 where nothing differs.
    """
    totals = sorted((abs(total), total < 0) for total in differences.totals if total)
    sizes = [size for size, _ in totals]
    observed = abs(fsum(-size if negative else size for size, negative in totals))
    suffix = ", by gold page" if differences.is_grouped else ""
    floor = _floor(len(sizes))
    if len(sizes) <= EXACT_MAX_DIFFERENCES:
        return PValue(f"sign-flip, exact{suffix}", _exact_share(sizes, observed), floor)
    beyond = _sampled_beyond(sizes, observed, seed)
    p = (beyond + 1) / (SAMPLES + 1)
    return PValue(f"sign-flip, {SAMPLES:,} samples{suffix}", p, max(floor, 1 / (SAMPLES + 1)))


def mcnemar(wins: int, losses: int) -> PValue:
    """Twice the binomial tail P(X <= min(wins, losses)) at 1/2, at most 1: the exact test of McNemar (1947).

    It is the exact sign-flip test of a binary metric, whatever the number of changed queries.
    """
    changed = wins + losses
    # Each binomial coefficient from the one before: C(n, k) = C(n, k - 1) (n - k + 1) / k.
    few = range(1, min(wins, losses) + 1)
    tail = sum(accumulate(few, lambda count, k: count * (changed - k + 1) // k, initial=1))
    return PValue("McNemar, exact", min(1.0, 2 * tail / 2**changed), _floor(changed))


def paired_t(differences: Differences) -> float | None:
    """The two-sided p of the paired t test (Student 1908); None where the differences, or their groups, do not vary.

    With groups, the variance is that of their residuals total - size * mean, with one degree of freedom less than groups;
    without, that is the ordinary test.
    """
    count = len(differences.groups)
    if count < 2:
        return None
    mean = differences.mean
    pairs = zip(differences.totals, differences.groups, strict=True)
    squares = fsum((total - len(group) * mean) ** 2 for total, group in pairs)
    error = sqrt(squares * count / (count - 1)) / differences.n
    return round(t_p_value(mean / error, count - 1), DIGITS) if error > TIE_MAX else None


def _floor(changed: int) -> float:
    return min(1.0, 2 * 0.5**changed)


def _exact_share(sizes: Sequence[float], observed: float) -> float:
    """The share of all sign patterns whose sum is at least as far from 0: the sums of one half against those of the other."""
    half = len(sizes) // 2
    left, right = _signed_sums(sizes[:half]), sorted(_signed_sums(sizes[half:]))
    # A sum that differs by rounding alone counts as equal.
    least = observed - TIE_MAX
    within = sum(max(0, bisect_left(right, least - one) - bisect_right(right, -least - one)) for one in left)
    return 1 - within / (len(left) * len(right))


def _signed_sums(sizes: Sequence[float]) -> list[float]:
    """The sums of all 2^d sign patterns."""
    return [fsum(pattern) for pattern in product(*((-size, size) for size in sizes))]


def _sampled_beyond(sizes: Sequence[float], observed: float, seed: int) -> int:
    """How many of the drawn sign patterns have a sum at least as far from 0; a drawn byte looks up the sum of eight."""
    random, sums = Random(seed), [0.0] * SAMPLES
    for start in range(0, len(sizes), _BLOCK):
        patterns = _signed_sums(sizes[start : start + _BLOCK])
        # The last block may hold fewer than eight: its sums repeat, so that each stays equally likely.
        table = patterns * (2**_BLOCK // len(patterns))
        sums = list(map(add, sums, map(table.__getitem__, random.randbytes(SAMPLES))))
    least = observed - TIE_MAX
    return sum(abs(one) >= least for one in sums)
