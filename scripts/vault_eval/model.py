"""The nouns of vault-eval: labels, targets, rankings, runs. Frozen; nothing here reads or computes.

A *page* is always the vault-relative POSIX path of a note in Unicode NFC, with its suffix: `Sea/Tides.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Target:
    """One gold place: a page, and within it at most one of a heading, a block id or a PDF page."""

    page: str
    heading: str | None = None
    block: str | None = None
    pdf_page: int | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """One judged query; no gold at all makes it a negative: no page is expected."""

    id: str
    query: str  # NFC, white space folded to single blanks, trimmed
    gold: tuple[Target, ...]
    source: str  # base name of the file it came from
    place: str  # where in that file, for messages: "line 3" or "query 'last-boat'"
    category: str | None = None
    tags: tuple[str, ...] = ()
    skip_reason: str | None = None
    split: str | None = None  # "dev", "holdout" or undecided
    origin: str | None = None
    note: str | None = None
    collection: str | None = None
    grades: Mapping[str, int] = field(default_factory=dict)  # target as written -> 0, 1 or 2
    hashes: Mapping[str, str] = field(default_factory=dict)  # target as written -> SHA-256 it was judged against

    @property
    def pages(self) -> tuple[str, ...]:
        """The distinct gold pages, in the order written."""
        return tuple(dict.fromkeys([target.page for target in self.gold]))


@dataclass(frozen=True, slots=True)
class LabelSource:
    """One file that labels were read from: base name, SHA-256 of its bytes, format."""

    name: str
    sha256: str
    format: str


@dataclass(frozen=True, slots=True)
class LabelSet:
    """All labels of one run in file order, and where they came from. Warnings are for a person."""

    labels: tuple[Label, ...]
    sources: tuple[LabelSource, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page at its place in one ranking; `heading` and `lines` are those of its first-ranked chunk.

    `score` is on the searcher's own scale, comparable only within one ranking; None where it gives none.
    `lines` counts from 1, both ends included; None where the searcher does not tell.
    """

    rank: int
    page: str
    score: float | None
    heading: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a searcher considered before pages were cut at the depth.

    `usable` are the distinct fresh pages of the pool in rank order, `raw` those before stale ones were dropped.
    """

    usable: tuple[str, ...]
    raw: tuple[str, ...]
    chunks: int
    stale_chunks: int
    stale_pages: tuple[str, ...]
    label_only_pages: tuple[str, ...]
    exhausted: bool  # the searcher could not be asked for more, although fewer than `depth` pages were found
    scores: tuple[float, ...] = ()  # those of `usable`, where the searcher tells them
    before: tuple[str, ...] = ()  # `usable` in the order that a reranker was given


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer of one searcher to one query: distinct pages in the order returned, rank from 1.

    `error` is set, and `pages` empty, where the searcher failed: that is not an empty answer.
    `candidates` is None where a searcher hides its pool.
    """

    pages: tuple[RankedPage, ...]
    candidates: Candidates | None = None
    error: str | None = None
    label_hits_removed: int = 0  # hits on label notes, taken out: labels may not answer their own queries
    outside_vault: int = 0  # answers that name no page of the vault, taken out


@dataclass(frozen=True, slots=True)
class RetrieverDescription:
    """The configuration of one searcher: the spec as given, and all settings that decide its answers."""

    name: str
    settings: Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True)
class IndexDescription:
    """What was searched. Counts of records left out are over the whole index, stale ones over all queries."""

    format: str
    sha256: str
    pages: int
    chunks: int
    skipped_malformed: int = 0
    skipped_undecodable: int = 0
    notes_sha256: str | None = None  # of the notes as they were indexed, label property aside; None where it is not told


@dataclass(frozen=True, slots=True)
class Run:
    """The rankings of all queries by one configuration, by label id."""

    retriever: RetrieverDescription
    index: IndexDescription | None
    depth: int
    rankings: Mapping[str, Ranking]
    elapsed_ms: Mapping[str, float] = field(default_factory=dict)  # what each answer took, as its asker waits for it
