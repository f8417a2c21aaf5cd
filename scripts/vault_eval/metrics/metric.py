"""A metric as a value: its name, what it means, over which queries, and how one query is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.judged_query import JudgedQuery

# returned: scored, and something came back; section, page: scored, and the label names such a place; place: either of these
Denominator = Literal["scored", "returned", "negative", "scored and negative", "section", "page", "place"]


# Where recall and hit are counted, in pages.
CUTOFFS = (1, 5, 10)


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

    Either `of_query` is set, or `across` for a figure over all queries, which is no mean of one value a query and stands in no
    group. ValueError for both, or for neither.
    """

    name: str  # with its cutoff, as reports spell it: "recall@5"
    meaning: str  # one line, for a person
    of_query: Callable[[JudgedQuery], float | None] | None
    position: int  # place in tables, ascending
    binary: bool = False  # every query is either 0 or 1
    over: Denominator = "scored"
    needs: str | None = None  # what a searcher may not tell, in words: without it the metric is unavailable
    across: Callable[[Sequence[JudgedQuery]], Across] | None = None
    is_cost: bool = False  # less is better; of every other metric more is
    is_quality: bool = True  # else it tells of the labels, and more of it makes no search better or worse

    def __post_init__(self) -> None:
        """Refuse what is neither of one query nor of all, or both."""
        if (self.of_query is None) == (self.across is None):
            raise ValueError(f"{self.name}: a metric is of each query, or of all of them at once, and not both")

    def per_query(self, query: JudgedQuery) -> float | None:
        """The value of one query, between 0 and 1; None, which is never averaged as 0, where it lies outside the denominator,
        the searcher hides what the metric needs, or the metric is over all queries.
        """
        return None if self.of_query is None else self.of_query(query)


def cutoffs(depth: int) -> tuple[int, ...]:
    """Where rank-weighted metrics are cut: always at 10 pages, and at the depth too when it is larger."""
    return (METRIC_CUTOFF_PAGES, depth) if depth > METRIC_CUTOFF_PAGES else (METRIC_CUTOFF_PAGES,)
