"""Whether top scores tell queries that have an answer from those that have none."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class ScoreSeparation:
    """AUROC of the top score, and the queries behind it; `value` is None when either side has none.

    .5 is no better than chance: no threshold on the score could tell the two apart.
    """

    value: float | None
    n_scored: int
    n_negative: int


def auroc(scored: Sequence[float | None], negative: Sequence[float | None]) -> ScoreSeparation:
    """P(top score of a scored query > that of a negative) + P(equal) / 2, over all pairs (Mann-Whitney).

    None stands for an empty answer, which is below every score. Leave out searchers that give no scores.
    """
    below = sorted(_comparable(score) for score in negative)
    # Twice the wins plus the ties is a whole number, so the order of the queries cannot show.
    doubled = sum(bisect_left(below, score) + bisect_right(below, score) for score in map(_comparable, scored))
    pairs = len(scored) * len(below)
    return ScoreSeparation(doubled / (2 * pairs) if pairs else None, len(scored), len(below))


def _comparable(score: float | None) -> float:
    return -inf if score is None else score
