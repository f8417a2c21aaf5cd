"""The report as one HTML file: no network, no script, light and dark, for the keyboard, a screen reader and paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.errors import MissingPackageError
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import findings, miss_findings, wording
from vault_eval.reports.document import STATEMENT, QueryRow, Report, RunReport
from vault_eval.reports.escaping import obsidian_link, visible

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATE = "report.html.jinja"
MISSING = (
    "the HTML report needs the package jinja2, which is not installed; run `python3 scripts/vault-eval.py doctor --install`, "
    "or write the report as JSON or Markdown"
)
# A file of at most two megabytes for 1,000 queries of ten pages: beyond this many ranked pages only the first ones are links.
LINKED_PAGES_MAX = 3_000
LINKED_RANKS_WHEN_MANY = 3
QUERY_SHOWN_MAX_CHARACTERS = 500
PAGE_SHOWN_MAX_CHARACTERS = 120
HEADING_SHOWN_MAX_CHARACTERS = 60
CATEGORY_SHOWN_MAX_CHARACTERS = 40
EXPECTED_SHOWN_MAX = 10


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of a ranking as it is shown; `link` is None where a large report saves it."""

    rank: int
    page: str
    link: str | None
    score: str
    heading: str
    is_expected: bool


@dataclass(frozen=True, slots=True)
class ShownMiss:
    """A missed page with its cause in words, and what is known of its terms."""

    page: str
    link: str
    why: str
    evidence: str | None
    lacking: str | None


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """One row of the table of queries and what it opens to."""

    id: str
    query: str
    category: str
    outcome: str
    is_missed: bool
    recall: str
    reciprocal_rank: str
    reason: str | None  # why it is in no mean
    expected: tuple[tuple[str, str], ...]  # page and its rank in words
    expected_more: int
    misses: tuple[ShownMiss, ...]
    misses_more: int
    ranking: tuple[ShownPage, ...]
    ranking_more: int


def html_report(report: Report) -> str:
    """The report as an HTML document ended by LF. Raises MissingPackageError without jinja2."""
    first = report.runs[0] if report.runs else None
    rendered = _template().render(
        report=report,
        statement=STATEMENT,
        find=findings,
        misses=miss_findings,
        words=wording,
        first=first,
        queries=shown_queries(report.vault_name, first) if first is not None else (),
        cutoff=METRIC_CUTOFF_PAGES,
        obsidian_link=obsidian_link,
        timings=[(run, findings.latencies(findings.timing_of(report, place))) for place, run in enumerate(report.runs)],
    )
    return rendered + "\n"


def shown_queries(vault: str, run: RunReport) -> tuple[ShownQuery, ...]:
    """Every query of the run as it is shown, in the order of the labels."""
    ranked = sum(len(row.ranking[:METRIC_CUTOFF_PAGES]) for row in run.rows)
    linked_ranks = METRIC_CUTOFF_PAGES if ranked <= LINKED_PAGES_MAX else LINKED_RANKS_WHEN_MANY
    return tuple(_query(vault, row, linked_ranks) for row in run.rows)


def _template() -> Template:
    """The template with indentation taken out, which would be a fifth of a large file."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise MissingPackageError(MISSING) from None
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_finalize)
    source = Path(__file__).with_name(TEMPLATE).read_text(encoding="utf-8")
    return environment.from_string("\n".join(line.strip() for line in source.splitlines()))


def _finalize(value: object) -> object:
    """Every plain text with its control characters shown, before it is escaped; escaped text comes by here as it is."""
    return visible(value) if type(value) is str else value


def _query(vault: str, row: QueryRow, linked_ranks: int) -> ShownQuery:
    expected = row.expected[:EXPECTED_SHOWN_MAX]
    recall = row.recall.get(METRIC_CUTOFF_PAGES)
    return ShownQuery(
        id=row.id,
        query=wording.cut(row.query, QUERY_SHOWN_MAX_CHARACTERS),
        category=wording.cut(row.category or "", CATEGORY_SHOWN_MAX_CHARACTERS),
        outcome=wording.outcome(row, METRIC_CUTOFF_PAGES),
        is_missed=bool(row.misses(METRIC_CUTOFF_PAGES)),
        recall=wording.score_text(recall),
        reciprocal_rank=wording.score_text(row.rr),
        reason=row.error or row.skip_reason,
        expected=tuple((_page(page), _rank(row, page)) for page in expected),
        expected_more=len(row.expected) - len(expected),
        misses=_misses(vault, row.diagnosis[:EXPECTED_SHOWN_MAX]),
        misses_more=max(0, len(row.diagnosis) - EXPECTED_SHOWN_MAX),
        ranking=_ranking(vault, row, linked_ranks),
        ranking_more=max(0, len(row.ranking) - METRIC_CUTOFF_PAGES),
    )


def _rank(row: QueryRow, page: str) -> str:
    if page in row.missing:
        return "does not exist"
    if not row.is_answered:
        return "not asked"
    rank = row.rank(page)
    return "not found" if rank is None else f"rank {rank}"


def _misses(vault: str, diagnoses: Sequence[Diagnosis]) -> tuple[ShownMiss, ...]:
    return tuple(
        ShownMiss(
            page=_page(one.page),
            link=obsidian_link(vault, one.page),
            why=wording.why(one),
            evidence=miss_findings.evidence(one),
            lacking=miss_findings.lacking(one),
        )
        for one in diagnoses
    )


def _ranking(vault: str, row: QueryRow, linked_ranks: int) -> tuple[ShownPage, ...]:
    expected = frozenset(row.expected)
    return tuple(
        ShownPage(
            ranked.rank,
            _page(ranked.page),
            obsidian_link(vault, ranked.page) if ranked.rank <= linked_ranks or ranked.page in expected else None,
            wording.score_text(ranked.score),
            wording.cut(wording.heading_text(ranked.heading), HEADING_SHOWN_MAX_CHARACTERS),
            ranked.page in expected,
        )
        for ranked in row.ranking[:METRIC_CUTOFF_PAGES]
    )


def _page(page: str) -> str:
    """The path, its beginning cut where it is very long: the name is at its end."""
    return page if len(page) <= PAGE_SHOWN_MAX_CHARACTERS else "…" + page[1 - PAGE_SHOWN_MAX_CHARACTERS :]
