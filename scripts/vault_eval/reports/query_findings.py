"""What a report says of one query, in the order in which it is asked: what became of it, why, what came instead, what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vault_eval.diagnosis.causes import CAUSES
from vault_eval.diagnosis.query_runs import in_own_words
from vault_eval.diagnosis.query_terms import Stratum
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import wording
from vault_eval.reports.document import QueryRow, Report, RunReport
from vault_eval.reports.shown_queries import Extent, ShownPage, ShownQuery, ShownWords, shown_queries
from vault_eval.retrievers.protocol import PageEvidence

RUNS_NAMED_MAX = 10
# One query has the room of a whole report: the ranking as far as it counts, and every page that its words are known of.
EXTENT = Extent(
    ranks=METRIC_CUTOFF_PAGES, linked=METRIC_CUTOFF_PAGES, expected=20, compared=3, rivals=2, parts=False, snippet=0, text=400
)
_STRATA: dict[Stratum, str] = {"literal": "every word", "partly": "a part of the words", "no shared term": "no word"}


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that is said, and the page that it is said of where there is one; `rank` where the points are a ranking."""

    said: str
    page: str = ""
    link: str | None = None
    rank: int | None = None
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WordTable:
    """What each word of the query adds to the score of a missed page, and to those of the pages that it lost to."""

    page: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What is said under one title, and the figures behind it."""

    title: str
    points: tuple[Point, ...]
    tables: tuple[WordTable, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryFindings:
    """All that is said of one query, as text that may hold text of the vault; the rendering escapes it.

    `command` is the line that shows which words each page of the ranking matched, where the row tells it of none.
    """

    measured: str
    title: str
    outcome: str
    parts: tuple[Part, ...]
    command: str | None


def query_findings(report: Report, run: RunReport, row: QueryRow, explain: str | None) -> QueryFindings:
    """What there is to say of `row`, a row of `run`, from the report alone: no note is read.

    `explain` is the line that tells what each word adds to each page's score, None where there is none.
    """
    (shown,) = shown_queries(report.vault_name, [row], {}, EXTENT)
    held = _held_words(row)
    to_know = Part("To know", tuple(map(Point, _to_know(run, row, shown))))
    parts = (_expected(row, shown), _ranking(row, shown, held), to_know, _helps(shown))
    return QueryFindings(
        measured=_measured(report, run),
        title=f"{shown.id}: {shown.query}",
        outcome=_outcome(row, shown),
        parts=tuple(part for part in parts if part.points),
        command=explain if row.ranking and not held else None,
    )


def _held_words(row: QueryRow) -> Mapping[str, str]:
    """Page of the ranking -> which words of the query its best section holds, for those pages of which the row tells it."""
    told = {one.page: one.evidence for one in row.diagnosis if one.evidence is not None}
    told |= {one.page: one.evidence for one in row.rivals}
    return {one.page: _held(row.query, told[one.page]) for one in row.ranking[: EXTENT.ranks] if one.page in told}


def _held(query: str, evidence: PageEvidence) -> str:
    words = in_own_words(query, tuple(dict.fromkeys(term.term for term in evidence.terms if term.tf)))
    return f"holds {wording.some(words)}" if words else "holds no word of the query"


def _measured(report: Report, run: RunReport) -> str:
    started = wording.started_text(report.timing.started)
    others = [repr(one.retriever.name) for one in report.runs if one is not run][:RUNS_NAMED_MAX]
    beside = f" (--run shows another: {', '.join(others)})" if others else ""
    return f"vault-eval · {report.vault_name} · {started} · run {run.retriever.name}, depth {run.depth}{beside}"


def _outcome(row: QueryRow, shown: ShownQuery) -> str:
    figures = (f"recall@{METRIC_CUTOFF_PAGES} {shown.recall}", f"RR {shown.reciprocal_rank}") if row.status == "scored" else ()
    category = f"category {shown.category}" if shown.category else None
    return " · ".join(one for one in (shown.outcome, *figures, category, shown.reason) if one)


def _expected(row: QueryRow, shown: ShownQuery) -> Part:
    points = [
        Point(one.rank, one.page, one.link, more=(f"why: {one.why}", *one.notes) if one.why else ()) for one in shown.expected
    ]
    if shown.expected_more:
        points.append(Point(f"and {wording.counted(shown.expected_more, 'more expected page')}"))
    tables = tuple(_table(row, one.page, one.words) for one in shown.expected if one.words)
    return Part("Expected", tuple(points) or (Point("no page: the best answer is an empty one"),), tables)


def _table(row: QueryRow, page: str, words: ShownWords) -> WordTable:
    header = ("", "", "this page", *(f"rank {rival.rank}" for rival in row.rivals[: EXTENT.rivals]))
    rows = [(one.word, one.idf, *(part.value for part in one.pages)) for one in words.words]
    if words.rest:
        rows.append((f"and {wording.counted(words.rest, 'more word')}", *[""] * (len(header) - 1)))
    return WordTable(page, header, (*rows, ("score", "", *words.totals)))


def _ranking(row: QueryRow, shown: ShownQuery, held: Mapping[str, str]) -> Part:
    points = tuple(
        _hit(one, held.get(ranked.page)) for one, ranked in zip(shown.ranking, row.ranking[: EXTENT.ranks], strict=True)
    )
    if not points and row.is_answered:
        points = (Point("nothing was found"),)
    return Part(f"Ranking: the first {len(points)} of {len(row.ranking):,}" if shown.ranking_more else "Ranking", points)


def _hit(one: ShownPage, held: str | None) -> Point:
    said = ("expected" if one.is_expected else None, f"score {one.score}", one.place, held)
    return Point(" · ".join(words for words in said if words), one.page, one.link, one.rank)


def _to_know(run: RunReport, row: QueryRow, shown: ShownQuery) -> Iterator[str]:
    """What decided the ranking besides its scores, and how many of the query's words stand where they are wanted."""
    yield from shown.ties
    if row.stale_chunks:
        chunks = wording.counted(row.stale_chunks, "chunk")
        yield f"{chunks} left out, since the page changed after it was indexed; run index again: {wording.some(row.stale_pages)}"
    if row.pool_exhausted:
        yield f"the searcher's candidates ran out before {wording.counted(run.depth, 'page')} were found"
    if row.label_hits_removed:
        yield f"{wording.counted(row.label_hits_removed, 'hit')} on a label note taken out of the ranking"
    if row.outside_vault:
        yield f"{wording.counted(row.outside_vault, 'answer')} left out, since no note of the vault has that path"
    if row.terms.stratum is not None and not row.diagnosis:
        yield f"{_STRATA[row.terms.stratum]} of the query stands in the best section of an expected page"
    if row.terms.coverage is not None and row.ranking:
        yield f"the page at rank 1 holds {100 * row.terms.coverage:.0f} % of the query, its words weighed by how rare they are"


def _helps(shown: ShownQuery) -> Part:
    causes = [CAUSES[name] for name in shown.causes]
    return Part("What helps", tuple(Point(f"{one.remedy} ({one.meaning})") for one in causes))
