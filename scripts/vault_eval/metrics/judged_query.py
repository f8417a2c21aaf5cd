"""What the arithmetic needs to know of one query: what is relevant, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Grain: TypeAlias = Literal["section", "page"]  # a heading or block of a note; a page of a PDF


@dataclass(frozen=True, slots=True)
class JudgedPlace:
    """A gold place within a page, as its label writes it.

    `is_hit`: whether the page is among the first ten, its first-ranked chunk in that place; None where it is not told.
    """

    target: str
    page: str
    grain: Grain
    is_hit: bool | None


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One query with its judgments and its ranking; pages compare as exact strings.

    `gold` are the expected pages, none for a negative. `ranked` are the pages returned, rank 1 first; an error of
    the searcher is not an empty ranking and has no place here. A page named twice counts where it stands first.
    `grades` overrule the grade 1 of a gold page and the 0 of any other. `usable` and `raw` are the pages of the
    candidate pool after and before stale chunks were dropped; None where the searcher hides them. `top_score` is that of
    rank 1, None where nothing came back or there are no scores; `coverage` the IDF-weighted share of the query's terms
    that the best page holds, 0 where nothing came back, None where it cannot be told; `split` is `dev`, `holdout` or None.
    """

    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    grades: Mapping[str, int] = field(default_factory=dict)
    usable: tuple[str, ...] | None = None
    raw: tuple[str, ...] | None = None
    top_score: float | None = None
    coverage: float | None = None
    split: str | None = None
    places: tuple[JudgedPlace, ...] = ()
    relevant: frozenset[str] = field(init=False, repr=False)  # every page judged 1 or more

    def __post_init__(self) -> None:
        """Drop repeated pages, so that no recall passes 1 and no later page slips down."""
        object.__setattr__(self, "gold", tuple(dict.fromkeys(self.gold)))
        object.__setattr__(self, "ranked", tuple(dict.fromkeys(self.ranked)))
        judged = dict.fromkeys(self.gold, 1) | dict(self.grades)
        object.__setattr__(self, "relevant", frozenset(page for page, grade in judged.items() if grade > 0))

    @property
    def is_scored(self) -> bool:
        """Whether anything is relevant; gold whose every page was graded 0 is neither scored nor negative."""
        return bool(self.relevant)

    @property
    def is_negative(self) -> bool:
        """Whether no page is expected: only an empty gold says so."""
        return not self.gold and not self.relevant

    @property
    def hides_scores(self) -> bool:
        """Whether pages came back without a score."""
        return bool(self.ranked) and self.top_score is None

    def grade(self, page: str) -> int:
        """The judged grade of a page, 0 when nobody judged it."""
        return self.grades.get(page, 1 if page in self.relevant else 0)
