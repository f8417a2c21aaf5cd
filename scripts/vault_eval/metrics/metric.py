"""A metric as a value: its name, what it means, over which queries, and how one query is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.judged_query import JudgedQuery

# returned: scored, and something came back; section, page: scored, and the label names such a place; place: either of these
Denominator = Literal["scored", "returned", "negative", "scored and negative", "section", "page", "place"]
Need = Literal["ranking", "usable pool", "raw pool", "sections"]


@dataclass(frozen=True, slots=True)
class Across:
    """A figure over all queries of a run at once: the mean of `sample`, from which its interval is computed too.

    `n` is how many queries it rests on. No sample is no data, or with `is_hidden` that the searcher hides what is needed.
    """

    sample: tuple[float, ...]
    n: int
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of the catalogue; reports, legends and docs all read it from here.

    `per_query` is between 0 and 1, or None where the query lies outside the denominator or the searcher hides
    what the metric `needs`; None is never averaged as 0. `across` is set for a figure that is no mean of one value a query;
    it stands in no group.
    """

    name: str  # with its cutoff, as reports spell it: "recall@5"
    meaning: str  # one line, for a person
    per_query: Callable[[JudgedQuery], float | None]
    position: int  # place in tables, ascending
    binary: bool = False  # every query is either 0 or 1
    over: Denominator = "scored"
    needs: Need = "ranking"
    across: Callable[[Sequence[JudgedQuery]], Across] | None = None
    is_cost: bool = False  # less is better; of every other metric more is
    is_quality: bool = True  # else it tells of the labels, and more of it makes no search better or worse


def cutoffs(depth: int) -> tuple[int, ...]:
    """Where rank-weighted metrics are cut: always at 10 pages, and at the depth too when it is larger."""
    return (METRIC_CUTOFF_PAGES, depth) if depth > METRIC_CUTOFF_PAGES else (METRIC_CUTOFF_PAGES,)
