"""The report as one HTML file: no network, no script, light and dark, for the keyboard, a screen reader and paper."""

from __future__ import annotations

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
# What a browser opens at once and a mail takes along. A report that comes out larger is rendered with less in its rankings.
HTML_MAX_BYTES = 2_000_000
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
class ShownExpected:
    """An expected page, its rank in words and, where it was missed, the cause and what is known of its terms."""

    page: str
    link: str
    rank: str
    why: str | None
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
    expected: tuple[ShownExpected, ...]  # missed pages first
    expected_more: int
    ranking: tuple[ShownPage, ...]
    ranking_more: int


@dataclass(frozen=True, slots=True)
class Extent:
    """How many pages of each ranking are shown, and how many of these are links though not expected."""

    ranks: int
    linked: int


EXTENTS = (
    Extent(METRIC_CUTOFF_PAGES, METRIC_CUTOFF_PAGES),
    Extent(METRIC_CUTOFF_PAGES, 2),
    Extent(METRIC_CUTOFF_PAGES, 0),
    Extent(3, 0),
)


def html_report(report: Report) -> str:
    """The report as an HTML document ended by LF, below two megabytes for 1,000 queries.

    Raises MissingPackageError where jinja2 is not installed.
    """
    template = _template()
    for extent in EXTENTS:
        rendered = _rendered(template, report, extent)
        if len(rendered.encode()) < HTML_MAX_BYTES:
            break
    return rendered


def shown_queries(vault: str, run: RunReport, extent: Extent) -> tuple[ShownQuery, ...]:
    """Every query of the run as it is shown, in the order of the labels."""
    return tuple(_query(vault, row, extent) for row in run.rows)


def _rendered(template: Template, report: Report, extent: Extent) -> str:
    first = report.runs[0] if report.runs else None
    rendered = template.render(
        report=report,
        statement=STATEMENT,
        find=findings,
        misses=miss_findings,
        words=wording,
        first=first,
        queries=shown_queries(report.vault_name, first, extent) if first is not None else (),
        cutoff=METRIC_CUTOFF_PAGES,
        timings=[(run, findings.latencies(findings.timing_of(report, place))) for place, run in enumerate(report.runs)],
    )
    return rendered + "\n"


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


def _query(vault: str, row: QueryRow, extent: Extent) -> ShownQuery:
    expected = _expected(vault, row)
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
        expected=expected,
        expected_more=len(row.expected) - len(expected),
        ranking=_ranking(vault, row, extent),
        ranking_more=max(0, len(row.ranking) - extent.ranks),
    )


def _rank(row: QueryRow, page: str) -> str:
    if page in row.missing:
        return "does not exist"
    if not row.is_answered:
        return "not asked"
    rank = row.rank(page)
    return "not found" if rank is None else f"rank {rank}"


def _expected(vault: str, row: QueryRow) -> tuple[ShownExpected, ...]:
    causes = {one.page: one for one in row.diagnosis}
    pages = sorted(row.expected, key=lambda page: page not in causes)[:EXPECTED_SHOWN_MAX]
    return tuple(_expected_page(vault, row, page, causes.get(page)) for page in pages)


def _expected_page(vault: str, row: QueryRow, page: str, missed: Diagnosis | None) -> ShownExpected:
    return ShownExpected(
        page=_page(page),
        link=obsidian_link(vault, page),
        rank=_rank(row, page),
        why=wording.why(missed) if missed else None,
        evidence=miss_findings.evidence(missed) if missed else None,
        lacking=miss_findings.lacking(missed) if missed else None,
    )


def _ranking(vault: str, row: QueryRow, extent: Extent) -> tuple[ShownPage, ...]:
    expected = frozenset(row.expected)
    return tuple(
        ShownPage(
            ranked.rank,
            _page(ranked.page),
            obsidian_link(vault, ranked.page) if ranked.rank <= extent.linked or ranked.page in expected else None,
            wording.score_text(ranked.score),
            wording.cut(wording.heading_text(ranked.heading), HEADING_SHOWN_MAX_CHARACTERS),
            ranked.page in expected,
        )
        for ranked in row.ranking[: extent.ranks]
    )


def _page(page: str) -> str:
    """The path, its beginning cut where it is very long: the name is at its end."""
    return page if len(page) <= PAGE_SHOWN_MAX_CHARACTERS else "…" + page[1 - PAGE_SHOWN_MAX_CHARACTERS :]
