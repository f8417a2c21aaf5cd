"""A metric as a value: its name, what it means, over which queries, and how one query is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.judged_query import JudgedQuery

Denominator = Literal["scored", "negative"]
Need = Literal["ranking", "usable pool", "raw pool"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of the catalogue; reports, legends and docs all read it from here.

    `per_query` is between 0 and 1, or None where the query lies outside the denominator or the searcher hides
    what the metric `needs`; None is never averaged as 0.
    """

    name: str  # with its cutoff, as reports spell it: "recall@5"
    meaning: str  # one line, for a person
    per_query: Callable[[JudgedQuery], float | None]
    position: int  # place in tables, ascending
    binary: bool = False  # every query is either 0 or 1
    over: Denominator = "scored"
    needs: Need = "ranking"

    def counts(self, query: JudgedQuery) -> bool:
        """Whether the query belongs to this metric's denominator."""
        return query.is_scored if self.over == "scored" else query.is_negative


def cutoffs(depth: int) -> tuple[int, ...]:
    """Where rank-weighted metrics are cut: always at 10 pages, and at the depth too when it is larger."""
    return (METRIC_CUTOFF_PAGES, depth) if depth > METRIC_CUTOFF_PAGES else (METRIC_CUTOFF_PAGES,)
