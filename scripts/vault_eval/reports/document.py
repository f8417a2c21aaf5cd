"""The report of one evaluation as frozen records: what every rendering shows, and nothing else.

Every aggregate can be recomputed from the rows. All that may differ between two identical runs stands in `Timing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vault_eval.diagnosis.label_findings import LabelFindings
from vault_eval.diagnosis.misses import Diagnosis, Rival
from vault_eval.diagnosis.query_terms import QueryTerms, Stratum
from vault_eval.digests import sha256_of_lines
from vault_eval.metrics.judged_query import JudgedPlace
from vault_eval.metrics.latency import LatencySummary
from vault_eval.metrics.score import MetricValue
from vault_eval.metrics.ties import TieExpectation
from vault_eval.model import IndexDescription, LabelSource, RankedPage, RetrieverDescription

SCHEMA = "vault-eval.report.v1"
RowStatus: TypeAlias = Literal["scored", "negative", "missing-gold", "skipped", "error"]

STATEMENT = "The figures describe this snapshot of the vault and these labels, nothing else."
NOT_SHOWN = (
    "how other questions than the labelled ones would fare",
    "native Obsidian search",
    "the quality of a semantic model",
    "an improvement over another release",
)
FIXTURE_NOT_SHOWN = ("the quality of search on a real vault: the fixture shows behaviour", *NOT_SHOWN[1:])


@dataclass(frozen=True, slots=True)
class TieGroup:
    """Equal scores that straddle a cutoff: which pages fall inside is decided by their paths."""

    cutoff: int
    first: int  # ranks, from 1
    last: int
    expected: TieExpectation | None = None  # of a scored query: hit, recall and RR at the cutoff over all orders of ties


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One label and what one searcher made of it. `recall`, `rr` and `misses` are None where nothing is expected or known."""

    id: str
    query: str
    category: str | None
    tags: tuple[str, ...]
    status: RowStatus
    skip_reason: str | None
    error: str | None
    expected: tuple[str, ...]
    missing: Mapping[str, str]  # missing gold page -> why, and what it may have become
    not_indexed: tuple[str, ...]
    ranking: tuple[RankedPage, ...]
    recall: Mapping[int, float | None]
    rr: float | None
    usable_gold: tuple[str, ...] | None  # gold among the fresh pages of the candidate pool; None where it is hidden
    raw_gold: tuple[str, ...] | None
    pool_chunks: int | None
    stale_chunks: int
    stale_pages: tuple[str, ...]
    pool_exhausted: bool
    label_hits_removed: int
    diagnosis: tuple[Diagnosis, ...]
    ties: tuple[TieGroup, ...]
    split: str | None = None
    terms: QueryTerms = field(default_factory=QueryTerms)
    places: tuple[JudgedPlace, ...] = ()  # gold headings, blocks and PDF pages of a scored query
    outside_vault: int = 0  # answers that name no page of the vault, left out
    grades: Mapping[str, int] = field(default_factory=dict)  # page of a scored query -> its judged grade, where labels grade

    @property
    def is_answered(self) -> bool:
        """Whether the searcher was asked and answered."""
        return self.status in ("scored", "negative")

    def misses(self, cutoff: int) -> tuple[str, ...] | None:
        """The gold pages that are not among the first `cutoff`; None where nothing is expected or known."""
        if self.status != "scored":
            return None
        returned = [ranked.page for ranked in self.ranking[:cutoff]]
        return tuple([page for page in self.expected if page not in returned])

    def only_sections_missed(self, cutoff: int) -> tuple[str, ...]:
        """The gold pages among the first `cutoff` that were found outside every place which the label names in them."""
        if not self.places:
            return ()
        returned = {ranked.page for ranked in self.ranking[:cutoff]}
        told = {place.page for place in self.places if place.is_hit is not None}
        hit = {place.page for place in self.places if place.is_hit is not False}
        return tuple(page for page in self.expected if page in returned & told - hit)

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """The pages at rank 1 and at the last place that counts, with their terms, where a missed page lost to them."""
        return next((one.rivals for one in self.diagnosis if one.rivals), ())

    def rank(self, page: str) -> int | None:
        """The rank of a page, or None where it was not returned."""
        for ranked in self.ranking:
            if ranked.page == page:
                return ranked.rank
        return None


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of every label; `missing_pages` counts pages, all others queries."""

    queries: int
    scored: int
    negative: int
    missing_gold: int
    missing_pages: int
    skipped: int
    other_collection: int
    error: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of the distinct gold pages of all labels not skipped: how many a search could return at all."""

    gold_pages: int
    exist: int
    in_scope: int
    indexed: int
    fresh: int


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Pages among the first three that stand above every expected page of one query, and that nobody has judged for it."""

    id: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trust:
    """What one run says about its labels: figures by stratum, pages to judge (the first of `unjudged_queries`), and the top
    score chosen on `dev` below which not to answer, None where there was nothing to choose it from.
    """

    strata: Mapping[Stratum, Mapping[str, MetricValue]]
    unjudged: tuple[Unjudged, ...] = ()
    unjudged_queries: int = 0
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """One configuration: its settings, what it searched, its figures, and a row a label."""

    retriever: RetrieverDescription
    index: IndexDescription | None
    skipped_stale: int  # chunks left out because their page changed, over all queries
    stale_label_only: int  # pages kept although their label property changed
    depth: int
    counts: Counts
    metrics: Mapping[str, MetricValue]
    over_cutoff: Mapping[int, int]  # cutoff -> queries with more gold than that, which cannot reach recall 1
    categories: Mapping[str, Mapping[str, MetricValue]]
    tags: Mapping[str, Mapping[str, MetricValue]]
    worst_misses: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    trust: Trust = field(default_factory=lambda: Trust({}))


@dataclass(frozen=True, slots=True)
class RunTiming:
    """Milliseconds by query id and their summaries: `warm` in this process, `cold` a process a query."""

    warm_ms: Mapping[str, float]
    warm: LatencySummary | None
    cold_ms: Mapping[str, float]
    cold: LatencySummary | None
    interpreter: LatencySummary | None  # as many `python -I -c pass`
    not_timed: Mapping[str, str] = field(default_factory=dict)  # "warm" or "cold" -> why this searcher has no such time


@dataclass(frozen=True, slots=True)
class Timing:
    """When and where it was measured, and how long each query took; a list entry a run."""

    started: str  # UTC, ISO 8601
    environment: Mapping[str, str]
    runs: tuple[RunTiming, ...]


@dataclass(frozen=True, slots=True)
class FixtureFile:
    """One file of the shipped fixture and the SHA-256 of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Fixture:
    """Set when the shipped fixture was measured: its files, and the page that was changed after indexing."""

    files: tuple[FixtureFile, ...]
    stale_page: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one evaluation found."""

    tool_version: str
    vault_name: str
    vault_pages: int
    snapshot_sha256: str
    page_digests: Mapping[str, str]  # page -> SHA-256: the file pages.json beside the report
    label_sources: tuple[LabelSource, ...]
    label_queries: int
    split: str
    unavailable: tuple[str, ...]
    warnings: tuple[str, ...]
    coverage: Coverage
    runs: tuple[RunReport, ...]
    timing: Timing
    fixture: Fixture | None = None
    label_findings: LabelFindings = field(default_factory=LabelFindings)
    collection: str | None = None  # the one whose labels were asked; None where labels of every collection were

    @property
    def not_shown(self) -> tuple[str, ...]:
        """What nobody may read out of these figures."""
        return FIXTURE_NOT_SHOWN if self.fixture else NOT_SHOWN


def snapshot_digest(page_digests: Mapping[str, str]) -> str:
    """The SHA-256 of a snapshot: a line `DIGEST  PAGE` each, in the order of the pages' names."""
    return sha256_of_lines(f"{digest}  {page}" for page, digest in sorted(page_digests.items()))
