"""The lines of notes that misses are about, for the owner's own page: note text stands in report.html and nowhere else.

A report holds no text of notes, so no other rendering can give any away: snippets are made while the vault is open and are
handed to the HTML rendering beside the report. A saved report has none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import fsum
from typing import NamedTuple, TypeAlias

from vault_eval.diagnosis.sections import PageText
from vault_eval.index.layout import FORMAT
from vault_eval.index.terms import Analyzer, is_run, without_data_uris, word_places
from vault_eval.model import RankedPage
from vault_eval.reports import miss_findings
from vault_eval.reports.document import QueryRow, RunReport
from vault_eval.vault.note_text import frontmatter_block

# A few lines tell whether a note answers; whoever wants more opens it.
SNIPPET_MAX_CHARACTERS = 300
_LINE_MAX_CHARACTERS = 180
# What is shown before the first word that matters of a line that is cut.
_LEAD_CHARACTERS = 40
# A note or line without end, such as a pasted file, is not looked through to its last word.
_LOOKED_AT_MAX_CHARACTERS = 20_000
# Missed pages of one query that are shown: as many as a report compares word by word.
_MISSED_MAX_PAGES = 3
_KNOWN_WORDS_MAX = 100_000
_BLANKS = " \t"

_TermsOf: TypeAlias = "Callable[[str], frozenset[str]]"


class SnippetPart(NamedTuple):
    """A piece of a source line, and whether the query asks for it."""

    text: str
    is_asked: bool


_CUT = SnippetPart("…", is_asked=False)


class SnippetLine(NamedTuple):
    """A source line without the blanks around it, cut where it is long; `number` counts from 1 in the file."""

    number: int
    parts: tuple[SnippetPart, ...]


Snippet: TypeAlias = "tuple[SnippetLine, ...]"  # the line that says most to the query first
Snippets: TypeAlias = "Mapping[tuple[str, str], Snippet]"  # by query id and page


class _Place(NamedTuple):
    """Where a word that the query asks for stands in a line, and its terms."""

    start: int
    end: int
    weight: float
    terms: AbstractSet[str]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A page that is to be shown to a query: `weights` of the query's terms, and the lines of the page's best chunk."""

    id: str
    weights: Mapping[str, float]
    lines: tuple[int, int] | None  # None where the whole note is looked through


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    places: tuple[_Place, ...]
    weight: float


def snippets_of(run: RunReport, text: PageText, moved: Collection[str] = ()) -> Snippets:
    """A snippet of about 300 characters for each missed page, and for the pages that it lost to.

    It shows the lines of the page's best chunk in which the rarest words of the query stand, or its first ones where none
    does. The whole note is looked through where that chunk is not known, and for pages of `moved`, whose lines are no longer
    those that were indexed. Each page is read once.
    """
    analyzer = Analyzer(_stem(run))

    @lru_cache(_KNOWN_WORDS_MAX)
    def terms_of(word: str) -> frozenset[str]:
        terms = analyzer.terms(word)
        # A run has the shorter runs in it among its terms, which have places of their own.
        return frozenset(terms[-1:] if is_run(word) else terms)

    wanted: dict[str, list[_Wanted]] = {}
    for row in run.rows:
        weights = _weights(row, analyzer)
        for page, lines in _pages(row):
            wanted.setdefault(page, []).append(_Wanted(row.id, weights, None if page in moved else lines))
    snippets: dict[tuple[str, str], Snippet] = {}
    for page, asked in wanted.items():
        body = text(page)
        if body is not None:
            source = body.split("\n")
            snippets |= {(one.id, page): _snippet(source, _body_line(body), one, terms_of) for one in asked}
    return {place: snippet for place, snippet in snippets.items() if snippet}


def _stem(run: RunReport) -> str | None:
    """The language that the native index stems words of; other searchers call other things so."""
    stem = run.retriever.settings.get("stem") if run.index is not None and run.index.format == FORMAT else None
    return stem if isinstance(stem, str) else None


def winners(row: QueryRow) -> tuple[RankedPage, ...]:
    """The pages that the missed pages of a query lost to: those whose evidence is known, else the first that was not expected."""
    if row.rivals:
        return tuple(RankedPage(one.rank, one.page, None, lines=one.evidence.lines) for one in row.rivals)
    first = miss_findings.came_first(row)
    return (first,) if first is not None else ()


def _pages(row: QueryRow) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """The pages that are shown to a query, with the lines of their best chunk."""
    missed = [one for one in row.diagnosis if one.page not in row.missing][:_MISSED_MAX_PAGES]
    yield from ((one.page, one.evidence.lines if one.evidence is not None else None) for one in missed)
    yield from ((one.page, one.lines) for one in winners(row) if missed)


def _weights(row: QueryRow, analyzer: Analyzer) -> dict[str, float]:
    """The query's terms, each with how rare it is where that is known.

    Single characters of a script without blanks stand everywhere: they count only where the query has no longer run.
    """
    known = {term.term: term.idf for one in row.diagnosis if one.evidence is not None for term in one.evidence.terms}
    terms = dict.fromkeys(analyzer.terms(row.query)) if row.diagnosis else {}
    has_runs = any(is_run(term) and len(term) > 1 for term in terms)
    return {term: known.get(term) or 1.0 for term in terms if not (has_runs and len(term) == 1 and is_run(term))}


def _body_line(text: str) -> int:
    """How many lines the properties of a note take up."""
    block = frontmatter_block(text)
    return 0 if block is None else block.count("\n") + 2


def _snippet(source: Sequence[str], body_line: int, wanted: _Wanted, terms_of: _TermsOf) -> Snippet:
    first, end = (wanted.lines[0] - 1, wanted.lines[1]) if wanted.lines is not None else (body_line, len(source))
    lines = list(_lines(source[first:end], first + 1, wanted.weights, terms_of))
    asked = sorted((line for line in lines if line.weight), key=lambda line: -line.weight)
    chosen: list[_Line] = []
    left = SNIPPET_MAX_CHARACTERS
    for line in asked or lines:
        left -= min(len(line.text), _LINE_MAX_CHARACTERS)
        if chosen and left < 0:
            break
        chosen.append(line)
    return tuple(SnippetLine(line.number, tuple(_parts(line))) for line in chosen)


def in_reading_order(snippet: Snippet, characters: int) -> Snippet:
    """As many lines as have room, the first at least, by their numbers."""
    chosen: list[SnippetLine] = []
    for line in snippet:
        characters -= sum(len(part.text) for part in line.parts)
        if chosen and characters < 0:
            break
        chosen.append(line)
    return tuple(sorted(chosen))


def _lines(source: Sequence[str], number: int, weights: Mapping[str, float], terms_of: _TermsOf) -> Iterator[_Line]:
    """The lines that are not blank, from the one of this number on, as far as is looked."""
    left = _LOOKED_AT_MAX_CHARACTERS
    for place, whole in enumerate(source, number):
        text = whole.strip(_BLANKS)[:left]
        words = without_data_uris(text)
        if words.strip():
            places = tuple(_places(words, weights, terms_of))
            held = frozenset[str]().union(*(one.terms for one in places))
            yield _Line(place, text, places, fsum(weights[term] for term in held))
        left -= len(text)
        if left <= 0:
            return


def _places(text: str, weights: Mapping[str, float], terms_of: _TermsOf) -> Iterator[_Place]:
    for start, end in word_places(text):
        asked = weights.keys() & terms_of(text[start:end])
        if asked:
            yield _Place(start, end, fsum(weights[term] for term in asked), asked)


def _parts(line: _Line) -> Iterator[SnippetPart]:
    """The line in pieces that are asked for and others; of a long line what stands around its rarest word."""
    begin, end = 0, len(line.text)
    if end > _LINE_MAX_CHARACTERS:
        rarest = max(line.places, key=lambda place: place.weight).start if line.places else 0
        begin = max(min(rarest - _LEAD_CHARACTERS, end - _LINE_MAX_CHARACTERS), 0)
        end = begin + _LINE_MAX_CHARACTERS
    flags = bytearray(len(line.text))
    for place in line.places:
        flags[place.start : place.end] = bytes([True]) * (place.end - place.start)
    yield from [_CUT] if begin else []
    for is_asked, characters in groupby(range(begin, end), flags.__getitem__):
        shown = list(characters)
        yield SnippetPart(line.text[shown[0] : shown[-1] + 1], bool(is_asked))
    yield from [_CUT] if end < len(line.text) else []
