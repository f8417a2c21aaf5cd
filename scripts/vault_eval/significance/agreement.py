"""How far two judgements of the same things agree beyond what chance would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# A convention (Landis and Koch, Biometrics 1977), no law: below it labels are called noisy.
KAPPA_NOISY_BELOW = 0.6


@dataclass(frozen=True, slots=True)
class Agreement:
    """`observed` is the share judged alike; `kappa` is None where chance alone would agree on everything, or n is 0."""

    n: int
    observed: float | None
    kappa: float | None

    @property
    def is_noisy(self) -> bool:
        """Whether the labels are to be called noisy."""
        return self.kappa is not None and self.kappa < KAPPA_NOISY_BELOW


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """(po - pe) / (1 - pe): po the share of equal pairs, pe the sum over words of the product of both shares (Cohen 1960)."""
    n = len(pairs)
    if not n:
        return Agreement(0, None, None)
    same = sum(one == other for one, other in pairs)
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    by_chance = sum(first[word] * second[word] for word in first)
    # In whole numbers, so that full agreement is exactly 1 and full chance is seen for what it is.
    kappa = None if by_chance == n * n else (same * n - by_chance) / (n * n - by_chance)
    return Agreement(n, same / n, kappa)
