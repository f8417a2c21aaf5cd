"""The table of queries of the HTML report: each row and what it opens to, as plain records that the template lays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.model import RankedPage
from vault_eval.reports import evidence_findings, miss_findings, wording
from vault_eval.reports.document import QueryRow
from vault_eval.reports.escaping import obsidian_link
from vault_eval.reports.snippets import Snippet, Snippets, in_reading_order, winners
from vault_eval.reports.svg_plots import percent

PAGE_SHOWN_MAX_CHARACTERS = 120
HEADING_SHOWN_MAX_CHARACTERS = 60
CATEGORY_SHOWN_MAX_CHARACTERS = 40
TERM_SHOWN_MAX_CHARACTERS = 40
# What is found in the table by choosing an outcome: the kinds, in the order of the list.
KINDS = {
    "missed": "missed",
    "found": "found",
    "negative": "no page expected",
    "excluded": "excluded",
    "error": "error",
}


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of each query is shown: pages of the ranking, links on pages that were not expected, and so on."""

    ranks: int
    linked: int
    expected: int  # expected pages, each with a link
    compared: int  # missed pages whose words are shown as bars
    rivals: int  # pages that each is compared with, the first first
    parts: bool  # whether it is said how each bar comes about
    snippet: int  # characters of each missed page and of its rivals that are shown, 0 for none
    text: int  # characters of a query or a reason


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of a ranking as it is shown; `link` is None where a large report saves it."""

    rank: int
    page: str
    link: str | None
    score: str
    place: str  # heading and lines
    is_expected: bool


@dataclass(frozen=True, slots=True)
class ShownPart:
    """What a word adds to the score of one page: as text, as length of a bar, and how it comes about."""

    value: str
    percent: int
    parts: str


@dataclass(frozen=True, slots=True)
class ShownWord:
    """One query word, and its part in the score of each page; `idf` says how rare it is."""

    word: str
    idf: str
    pages: tuple[ShownPart, ...]


@dataclass(frozen=True, slots=True)
class ShownWords:
    """Each query word's part in the score of the missed page, which comes first, and of the pages that it lost to."""

    heads: tuple[str, ...]
    totals: tuple[str, ...]
    words: tuple[ShownWord, ...]
    rest: int


@dataclass(frozen=True, slots=True)
class ShownSnippet:
    """Lines of one page, and in words of which."""

    caption: str
    lines: Snippet


@dataclass(frozen=True, slots=True)
class ShownExpected:
    """An expected page, its rank in words and, where it was missed, the cause and what is known of its text and terms."""

    page: str
    link: str | None
    rank: str
    why: str | None
    notes: tuple[str, ...]
    snippets: tuple[ShownSnippet, ...]
    words: ShownWords | None


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """One row of the table of queries and what it opens to."""

    id: str
    query: str
    category: str
    kind: str  # a key of KINDS
    causes: tuple[str, ...]
    outcome: str
    is_missed: bool
    recall: str
    reciprocal_rank: str
    reason: str | None  # why it is in no mean
    expected: tuple[ShownExpected, ...]  # missed pages first
    expected_more: int
    ranking: tuple[ShownPage, ...]
    ranking_more: int
    ties: tuple[str, ...]


def shown_queries(vault: str, rows: Sequence[QueryRow], snippets: Snippets, extent: Extent) -> tuple[ShownQuery, ...]:
    """The rows as they are shown, in the order of the labels."""
    return tuple(_query(vault, row, snippets, extent) for row in rows)


def _query(vault: str, row: QueryRow, snippets: Snippets, extent: Extent) -> ShownQuery:
    expected = _expected(vault, row, snippets, extent)
    reason = row.error or row.skip_reason
    return ShownQuery(
        id=wording.cut(row.id, extent.text),
        query=wording.cut(row.query, extent.text),
        category=wording.cut(row.category or "", CATEGORY_SHOWN_MAX_CHARACTERS),
        kind=_kind(row),
        causes=tuple(dict.fromkeys(one.cause for one in row.diagnosis)),
        outcome=wording.outcome(row, METRIC_CUTOFF_PAGES),
        is_missed=bool(row.misses(METRIC_CUTOFF_PAGES)),
        recall=wording.score_text(row.recall.get(METRIC_CUTOFF_PAGES)),
        reciprocal_rank=wording.score_text(row.rr),
        reason=wording.cut(reason, extent.text) if reason else None,
        expected=expected,
        expected_more=len(row.expected) - len(expected),
        ranking=_ranking(vault, row, extent),
        ranking_more=max(0, len(row.ranking) - extent.ranks),
        ties=tuple(evidence_findings.tie_sentences(row)),
    )


def _kind(row: QueryRow) -> str:
    if row.status in ("missing-gold", "skipped"):
        return "excluded"
    if row.status == "scored":
        return "missed" if row.misses(METRIC_CUTOFF_PAGES) else "found"
    return row.status


def _rank(row: QueryRow, page: str) -> str:
    if page in row.missing:
        return "does not exist"
    if not row.is_answered:
        return "not asked"
    rank = row.rank(page)
    return "not found" if rank is None else f"rank {rank}"


def _expected(vault: str, row: QueryRow, snippets: Snippets, extent: Extent) -> tuple[ShownExpected, ...]:
    causes = {one.page: one for one in row.diagnosis}
    pages = sorted(row.expected, key=lambda page: page not in causes)[: max(1, extent.expected)]
    return tuple(
        ShownExpected(
            page=_page(page),
            link=obsidian_link(vault, page) if extent.expected else None,
            rank=_rank(row, page),
            why=wording.cut(wording.why(causes[page]), extent.text) if page in causes else None,
            notes=_notes(row, causes[page], extent) if page in causes else (),
            snippets=_snippets(page, row, place, snippets, extent) if page in causes and extent.snippet else (),
            words=_words(causes[page], row, extent) if page in causes and place < extent.compared else None,
        )
        for place, page in enumerate(pages)
    )


def _notes(row: QueryRow, missed: Diagnosis, extent: Extent) -> tuple[str, ...]:
    lacking = miss_findings.lacking(row, missed)
    notes = (
        miss_findings.evidence(missed),
        f"words that are not there: {lacking}" if lacking else None,
        evidence_findings.with_words(missed),
    )
    return tuple(wording.cut(note, extent.text) for note in notes if note)


def _snippets(page: str, row: QueryRow, place: int, snippets: Snippets, extent: Extent) -> tuple[ShownSnippet, ...]:
    """Lines of a missed page and, with the first of a query, of the pages that it lost to."""
    shown = [("lines of this note", page)]
    if not place:
        rivals = [one for one in winners(row)[: max(1, extent.rivals)] if one.page != page]
        shown += [(f"lines of rank {one.rank}: {_page(one.page, HEADING_SHOWN_MAX_CHARACTERS)}", one.page) for one in rivals]
    found = ((caption, snippets.get((row.id, one))) for caption, one in shown)
    return tuple(ShownSnippet(caption, in_reading_order(lines, extent.snippet)) for caption, lines in found if lines)


def _words(missed: Diagnosis, row: QueryRow, extent: Extent) -> ShownWords | None:
    found = evidence_findings.word_comparison(missed, row.rivals)
    if found is None:
        return None
    rivals = found.rivals[: extent.rivals]
    return ShownWords(
        heads=("this note", *(f"rank {rival.rank}: {_page(rival.page, HEADING_SHOWN_MAX_CHARACTERS)}" for rival in rivals)),
        totals=tuple(wording.score_text(score) for score in (found.own_score, *(rival.evidence.score for rival in rivals))),
        words=tuple(
            ShownWord(
                wording.cut(word.word, TERM_SHOWN_MAX_CHARACTERS),
                word.idf,
                tuple(_part(part, found.most, extent) for part in (word.own, *word.rivals[: extent.rivals])),
            )
            for word in found.words
        ),
        rest=found.rest,
    )


def _part(part: evidence_findings.WordPart | None, most: float, extent: Extent) -> ShownPart:
    if part is None:
        return ShownPart(wording.NOTHING, 0, "")
    return ShownPart(wording.score_text(part.contribution), percent(part.contribution, most), part.parts if extent.parts else "")


def _ranking(vault: str, row: QueryRow, extent: Extent) -> tuple[ShownPage, ...]:
    expected = frozenset(row.expected)
    return tuple(
        ShownPage(
            ranked.rank,
            _page(ranked.page),
            _link(vault, ranked, extent, is_expected=ranked.page in expected),
            wording.score_text(ranked.score),
            _place(ranked),
            ranked.page in expected,
        )
        for ranked in row.ranking[: extent.ranks]
    )


def _link(vault: str, ranked: RankedPage, extent: Extent, *, is_expected: bool) -> str | None:
    shown = ranked.rank <= extent.linked or (is_expected and extent.expected)
    return obsidian_link(vault, ranked.page) if shown else None


def _place(ranked: RankedPage) -> str:
    heading = wording.cut(wording.heading_text(ranked.heading), HEADING_SHOWN_MAX_CHARACTERS)
    lines = f"lines {ranked.lines[0]}–{ranked.lines[1]}" if ranked.lines else ""
    return f"{heading} ({lines})" if heading and lines else heading or lines


def _page(page: str, limit: int = PAGE_SHOWN_MAX_CHARACTERS) -> str:
    """The path, its beginning cut where it is very long: the name is at its end."""
    return page if len(page) <= limit else "…" + page[1 - limit :]
