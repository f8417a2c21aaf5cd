"""What every searcher is asked, and what it must say of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from vault_eval.model import IndexDescription, Ranking, RetrieverDescription
from vault_eval.vault.snapshot import VaultSnapshot

SettingValue: TypeAlias = "str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """One query term against one chunk: chunks of the whole index that hold it, its frequency there, what it adds."""

    term: str
    df: int
    tf: int
    contribution: float

    def as_json(self) -> dict[str, str | int | float]:
        """The form in reports and in `retrieve --explain`."""
        return {"term": self.term, "df": self.df, "tf": self.tf, "contribution": self.contribution}


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """How one page stands to one query in an index that can be looked into.

    `score` and `terms` are those of the page's best chunk, in query order; `rank` is the page's exact rank among all fresh
    pages, and `pool` the number of chunks that a candidate pool needs to reach it, both None unless asked for.
    """

    score: float
    heading: tuple[str, ...]
    lines: tuple[int, int]
    terms: tuple[TermEvidence, ...]
    rank: int | None = None
    pool: int | None = None

    @property
    def shares_a_term(self) -> bool:
        """Whether any query term stands in the page's best chunk."""
        return any(term.tf for term in self.terms)


@dataclass(frozen=True, slots=True)
class RetrieverContext:
    """What a searcher may use: the vault as it is looked at in this run, and where its index lies."""

    vault: VaultSnapshot
    index_folder: str


class Retriever(Protocol):
    """A named configuration that answers queries with rankings of pages, read-only.

    `search` never raises for what one query meets: a searcher that failed returns a Ranking with `error` set.
    """

    def describe(self) -> RetrieverDescription:
        """The spec as given and every setting that decides the answers; it stands in the report."""
        ...

    def index(self) -> IndexDescription | None:
        """What was searched, or None where the searcher does not tell."""
        ...

    def search(self, query: str, depth: int) -> Ranking:
        """At most `depth` distinct pages for one query, best first."""
        ...

    def close(self) -> None:
        """Release files and processes."""
        ...

    def bound_digest(self) -> str | None:
        """The digest now of what is searched, to be held against `index().sha256`; None where it cannot be told."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A searcher that can be looked into."""

    def evidence(self, query: str, page: str, *, exact_rank: bool) -> PageEvidence | None:
        """How a page stands to a query, or None where the page is not in the index."""
        ...

    def is_stale(self, page: str) -> bool:
        """Whether the page's bytes are no longer those that were indexed."""
        ...
