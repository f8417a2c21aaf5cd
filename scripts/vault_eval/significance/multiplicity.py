"""Many candidates against one baseline: the best of many wins by luck unless its p value says how many there were."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The adjusted p values, in the order given (Holm, Scand. J. Stat. 1979): sorted ascending,
    adj_i = max over j <= i of min(1, (m - j + 1) p_(j)). An adjusted value of at most alpha rejects at family level alpha.

    ValueError for a value that is no probability: NaN would spread to all of them.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError(f"p values lie within 0 and 1; found {list(p_values)}")
    count = len(p_values)
    adjusted = [0.0] * count
    least = 0.0
    for step, place in enumerate(sorted(range(count), key=lambda place: p_values[place])):
        least = max(least, min(1.0, (count - step) * p_values[place]))
        adjusted[place] = least
    return tuple(adjusted)
