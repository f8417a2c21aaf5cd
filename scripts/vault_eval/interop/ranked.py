"""Rankings from scores, and scores for rankings, so that every tool sees the order that we saw."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from vault_eval.interop.carried import loss
from vault_eval.model import RankedPage


class Scored(NamedTuple):
    """A page as a run of another tool gives it; `rank` decides between equal scores."""

    page: str
    score: float
    rank: int


def ranked(pages: Iterable[Scored]) -> tuple[RankedPage, ...]:
    """The ranking: score descending, then the rank given, then path; ranks are counted anew from 1."""
    ordered = sorted(pages, key=lambda one: (-one.score, one.rank, one.page))
    return tuple(RankedPage(rank, one.page, one.score) for rank, one in enumerate(ordered, start=1))


def falling_scores(ranking: Sequence[RankedPage]) -> tuple[float, ...]:
    """A score for each page, strictly falling: the page's own where those do so, else n, n - 1, …, 1.

    trec_eval holds scores in single precision and orders equal ones by name, so they must fall there too.
    """
    own = [page.score for page in ranking if page.score is not None]
    singles = [_single(score) for score in own]
    if len(own) == len(ranking) and all(map(math.isfinite, singles)) and all(a > b for a, b in pairwise(singles)):
        return tuple(own)
    return tuple(float(len(ranking) - place) for place in range(len(ranking)))


def lost_scores(rankings: Mapping[str, Sequence[RankedPage]]) -> tuple[str, ...]:
    """The sentence about the queries whose scores `falling_scores` does not keep."""
    replaced = [name for name, one in rankings.items() if tuple(page.score for page in one) != falling_scores(one)]
    return loss("scores that are equal or absent: numbers that fall with the rank stand for them", replaced, rankings)


def _single(score: float) -> float:
    """The score in single precision; infinite beyond its range."""
    try:
        value: float = struct.unpack("<f", struct.pack("<f", score))[0]
    except OverflowError:
        return math.inf
    return value
