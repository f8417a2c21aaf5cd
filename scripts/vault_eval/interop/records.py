"""What formats of other tools hold: judged queries and ranked pages, as plain records between a text and our labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vault_eval.model import RankedPage


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judged place: a page, or a place in it, as text; grade 1 and more is relevant, 0 and less is not."""

    target: str
    grade: int = 1
    where: str = ""  # place in the file it came from, for messages: "line 3"


@dataclass(frozen=True, slots=True)
class Topic:
    """One query with its judgments. `query` is empty where the format keeps no texts; no relevant page is a negative."""

    id: str
    query: str
    judgments: tuple[Judgment, ...]
    where: str = ""
    category: str | None = None
    tags: tuple[str, ...] = ()
    skip_reason: str | None = None
    split: str | None = None  # "dev" or "holdout"
    origin: str | None = None
    note: str | None = None
    collection: str | None = None

    @property
    def relevant(self) -> tuple[Judgment, ...]:
        """The judgments that expect a page, in the order given."""
        return tuple(judgment for judgment in self.judgments if judgment.grade > 0)


@dataclass(frozen=True, slots=True)
class ForeignRun:
    """The rankings of another tool by query id, each page once, rank from 1; `tag` is what the run calls itself.

    `errors` are the queries that the tool could not answer, with what it said: none of them has a ranking.
    """

    tag: str
    rankings: Mapping[str, tuple[RankedPage, ...]]
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """The files of one export, relative name -> text, and a sentence for each thing that the format cannot hold."""

    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()
