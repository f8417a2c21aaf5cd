"""What every searcher is asked, and what it must say of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Protocol, TypeAlias, runtime_checkable

from vault_eval.index.freshness import Freshness
from vault_eval.index.reading import IndexReading
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.model import IndexDescription, Ranking, RetrieverDescription
from vault_eval.vault.note_text import LABEL_PROPERTY
from vault_eval.vault.snapshot import VaultSnapshot

SettingValue: TypeAlias = "str | int | float | bool | None"


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

    @property
    def term_total(self) -> float:
        """What the terms add up to; it equals `score` where the searcher tells everything that its score is made of."""
        return fsum(term.contribution for term in self.terms)


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Where a page would stand with one word more, worked out with every effect on all other chunks, not estimated.

    The edit: after source line `after_line`, where the section of the page's best chunk ends, one line that holds `term` and
    nothing else, an empty line before and after it; then the index is built again.
    """

    term: str
    rank: int
    score: float
    after_line: int


@dataclass(frozen=True, slots=True)
class RetrieverContext:
    """What a searcher may use: the vault as it is looked at in this run, where its index lies, and what the person allowed."""

    vault: VaultSnapshot
    index_folder: str
    label_notes: frozenset[str] = frozenset()  # pages that hold labels: never a result
    label_properties: tuple[str, ...] = (LABEL_PROPERTY,)  # what stands in them is no text of a page
    data: str = ""  # the root of the data folder
    product_root: str | None = None  # the checkout of another product, where one was named
    allow_remote: bool = False  # whether a searcher may ask other machines than this one
    no_rerank: bool = False  # whether rerankers answer with what they were given
    label_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # query -> ids, for answers that are kept by id
    reading: IndexReading | None = None  # of an index file, begun before this

    def searchable(self) -> list[str]:
        """The pages in scope that may be a result, in path order."""
        return [page for page in self.vault.names if page not in self.label_notes]

    def read(self, page: str) -> bytes:
        """The bytes of a page as they are now. Raises FileRefusedError."""
        return self.vault.read(page)


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
class WarmOnly(Protocol):
    """A searcher that cannot be started for one query alone, so that it has no cold latency."""

    @property
    def why_no_cold(self) -> str:
        """Why, for a person."""
        ...


@runtime_checkable
class ColdOnly(Protocol):
    """A searcher that starts a process for every query: what a query takes is its cold latency, and there is no warm one."""

    @property
    def why_no_warm(self) -> str:
        """Why, for a person."""
        ...


@runtime_checkable
class TellsFreshness(Protocol):
    """A searcher with an index of another format, which it can hold against the notes."""

    def freshness(self) -> Freshness:
        """How that index stands to the notes as they are."""
        ...


@runtime_checkable
class KnowsPages(Protocol):
    """A searcher that can tell of every page whether its index holds it as it is, though not why it stands where it stands."""

    def is_indexed(self, page: str) -> bool:
        """Whether the index holds the page."""
        ...

    def is_stale(self, page: str) -> bool:
        """Whether the page's bytes are no longer those that were indexed."""
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


@runtime_checkable
class DropsLabelOnly(Protocol):
    """A searcher that leaves out a page of which nothing but the label property changed."""

    def drops_label_only(self, page: str) -> bool:
        """Whether it left this page out for no other reason."""
        ...


@runtime_checkable
class Imagines(Protocol):
    """A searcher that can tell where a page would stand if it said one word more."""

    def with_terms(self, query: str, page: str, terms: Sequence[str], text: str) -> tuple[Counterfactual, ...]:
        """For each query term: the page's rank with it; `text` is the page's text now, decoded.

        Terms whose effect cannot be told for certain, since the line could move the borders of chunks, are left out.
        """
        ...
