"""What a comparison is made of, and what it found. Frozen; nothing here reads files or knows a rendering.

A *side* is one configuration as it answered one label set. `delta` is always candidate minus baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vault_eval.model import LabelSource
from vault_eval.significance.intervals import Interval
from vault_eval.vault.targets import split_fragment

QueryStatus: TypeAlias = Literal["scored", "negative", "missing-gold", "skipped", "error"]
Word: TypeAlias = Literal["better", "worse", "no evidence of a difference", "too few queries", "not comparable", "identical"]
Outcome: TypeAlias = Literal["better", "worse", "same"]
# drifted: the label is not the same on both sides; excluded: left out on both sides alike; lost: on one side only.
Absence: TypeAlias = Literal["drifted", "excluded", "lost"]
Subject: TypeAlias = Literal["labels", "depth", "pool", "vault", "pages", "index"]
# refuses: no figures unless a person allows it; confounds: figures, but something besides the configuration changed;
# notes: worth knowing, decides nothing.
Effect: TypeAlias = Literal["refuses", "confounds", "notes"]


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """One label and what one side made of it."""

    id: str
    query: str
    gold: tuple[str, ...]  # targets as the label writes them (pages where it names no place); their order decides nothing
    status: QueryStatus
    values: Mapping[str, float | None]  # metric name -> value of this query; None or absent where there is none
    ranking: tuple[str, ...]  # pages, rank 1 first
    category: str | None = None
    reason: str | None = None  # why it was skipped, is missing gold, or failed
    grades: Mapping[str, int] = field(default_factory=dict)  # page -> its judged grade, where the label grades

    @property
    def pages(self) -> tuple[str, ...]:
        """The distinct gold pages, in the order written."""
        return tuple(dict.fromkeys(split_fragment(target)[0] for target in self.gold))

    @property
    def is_answered(self) -> bool:
        """Whether the searcher was asked and answered; only then `gold` names places, and `grades` grades."""
        return self.status in ("scored", "negative")

    @property
    def judged(self) -> dict[str, int]:
        """The grade of every judged page; an expected one without has 1."""
        return dict.fromkeys(self.pages, 1) | dict(self.grades)

    @property
    def gold_rank(self) -> int | None:
        """The rank of the gold page that came first, or None where none was returned."""
        wanted = frozenset(self.pages)
        return next((rank for rank, page in enumerate(self.ranking, 1) if page in wanted), None)


@dataclass(frozen=True, slots=True)
class Side:
    """One configuration, what it searched, and a query a label, each id once."""

    name: str  # the spec as given
    settings: Mapping[str, str | int | float | bool | None]
    queries: tuple[ComparedQuery, ...]
    label_sources: tuple[LabelSource, ...]
    depth: int
    vault_name: str
    snapshot_sha256: str
    index_sha256: str | None = None  # None where there is no index, or the searcher hides it
    notes_sha256: str | None = None  # of the notes as they were indexed; None where it is not told
    page_digests: Mapping[str, str] | None = None  # page -> SHA-256; None where pages.json was not kept
    pool_chunks: int | None = None  # least size of the candidate pool as configured; None where it is hidden
    pool_exhausted: int = 0  # queries whose pool could not grow to `depth` pages
    started: str = ""  # UTC, ISO 8601; for a person


@dataclass(frozen=True, slots=True)
class Finding:
    """Something besides the configuration that differs between two sides, in a sentence."""

    subject: Subject
    effect: Effect
    sentence: str
    changed: tuple[str, ...] = ()  # pages, or file names of label sources, in order


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said, and why. `queries_needed`: how many would do, where there are too few."""

    word: Word
    reasons: tuple[str, ...]
    queries_needed: int | None = None


@dataclass(frozen=True, slots=True)
class Chance:
    """What chance alone does to a mean difference: the test, its second opinion, and what it can see at all."""

    test: str  # "sign-flip, exact", "sign-flip, 10,000 samples", "McNemar, exact"; with ", by gold page" where clustered
    p: float  # two-sided
    smallest_p: float  # the least that this many changed queries (or clusters of them) can reach
    # Wins that would reach p <= .05 beside the losses there are, after Holm at its strictest. They alone decide where all queries
    # stand on pages of their own and values are 0 and 1 (McNemar), or nothing was lost; else only if all are of equal size, each
    # on a page of its own.
    wins_needed: int
    wins_decide: bool
    t_p: float | None  # paired t; None where the differences do not vary
    detectable: float | None  # minimum detectable effect: 80 % power at .05, two-sided; None where not even 1 would show
    queries_needed: int  # paired queries that would show a difference of a tenth, if they varied as these do
    effective_n: float  # below n where one gold page backs three queries or more
    p_adjusted: float | None = None  # Holm, over the declared family; None for a metric outside it


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric over the paired queries; more of it is better where it is a quality, which judged@10 is not."""

    name: str
    n: int  # paired queries with a value on both sides
    baseline: float | None  # means over these n; None, like all below, where n is 0
    candidate: float | None
    delta: float | None
    interval: Interval | None  # 95 %, of the delta, within -1 and 1, never of zero width
    bound: float | None  # one-sided lower 95 % bound of the delta: what a regression gate looks at
    wins: int
    losses: int
    ties: int  # differences under 1e-9
    chance: Chance | None
    is_primary: bool = False


@dataclass(frozen=True, slots=True)
class QueryChange:
    """One paired query under the primary metric; values are None for a negative."""

    id: str
    query: str
    category: str | None
    outcome: Outcome
    values: tuple[float | None, float | None]  # baseline, candidate
    ranks: tuple[int | None, int | None]  # of the gold page that came first
    rankings: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def delta(self) -> float | None:
        """Candidate minus baseline."""
        before, after = self.values
        return None if before is None or after is None else after - before


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A query that is in no difference, and why."""

    id: str
    query: str
    kind: Absence
    reason: str


@dataclass(frozen=True, slots=True)
class CategoryChange:
    """The primary metric within one category; descriptive, never a verdict."""

    category: str
    n: int
    delta: float
    wins: int
    losses: int
    against: bool  # moved otherwise than the mean over all, which may have stayed


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything one comparison found. `metrics` is empty where it was refused; the primary metric is always first."""

    baseline: Side
    candidate: Side
    primary: str
    family: int  # how many candidates were declared against this baseline
    verdict: Verdict
    findings: tuple[Finding, ...]
    metrics: tuple[MetricChange, ...] = ()
    changes: tuple[QueryChange, ...] = ()  # paired queries, in the order of the baseline's labels
    unpaired: tuple[Unpaired, ...] = ()
    categories: tuple[CategoryChange, ...] = ()

    @property
    def lost(self) -> tuple[Unpaired, ...]:
        """The queries that only one side could be measured on: without them the sample is smaller than it was meant to be."""
        return tuple(query for query in self.unpaired if query.kind != "excluded")

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """What stands against any figure."""
        return tuple(finding for finding in self.findings if finding.effect == "refuses")

    @property
    def confounders(self) -> tuple[Finding, ...]:
        """What may explain a difference besides the configuration."""
        return tuple(finding for finding in self.findings if finding.effect == "confounds")

    def of(self, outcome: Outcome) -> tuple[QueryChange, ...]:
        """The paired queries that got better, got worse, or stayed."""
        return tuple(change for change in self.changes if change.outcome == outcome)

    @property
    def change(self) -> MetricChange | None:
        """The primary metric, or None where the comparison was refused."""
        return self.metrics[0] if self.metrics else None
