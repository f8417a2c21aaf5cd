"""What makes labels worth less than they look: leaks into the searched notes, pages changed by or since labelling."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias, get_args

from vault_eval.digests import sha256_hex
from vault_eval.index.freshness import Freshness
from vault_eval.index.terms import MARKS, is_run
from vault_eval.labels.eligibility import SettledLabel
from vault_eval.model import Label, Ranking, Run
from vault_eval.retrievers.protocol import Explains
from vault_eval.vault.note_text import LABEL_PROPERTY, body_of, frontmatter_block, readable_text, without_properties
from vault_eval.vault.snapshot import VaultSnapshot
from vault_eval.vault.targets import parse_target

FindingKind: TypeAlias = Literal[
    "label_note",
    "label_copy",
    "saved_report",
    "fixture_file",
    "query_in_text",
    "query_in_properties",
    "stale_label_only",
    "edited_since_labelled",
]
FINDING_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)

# Of each kind so many are listed; all are counted.
LISTED_MAX = 20
# A shorter query stands in many notes by chance.
QUERY_MIN_WORDS = 3
QUERY_MIN_UNSPACED_LETTERS = 6
# A page that holds so many and such a share of all longer queries is a copy of the labels, not a note about their subject.
COPIED_QUERIES_MIN = 3
COPIED_QUERIES_MIN_SHARE = 0.5
TOP_PAGES = 3
SUSPECTS_MAX = 20
# Between the words of a query a note may have so many other characters: blanks, marks of Markdown, a line break.
_REACH_MIN_CHARACTERS = 40
_WORD = re.compile(r"\w+")
_REPORT_MARK = "measured with vault-eval "
_REPORT_NAME = re.compile(r"(?:^|[/ -])report\.md$", re.IGNORECASE)
_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
_FIXTURE = os.path.join(_ROOT, "fixtures", "original", "pages")


@dataclass(frozen=True, slots=True)
class LabelFinding:
    """One page that a label set should not be trusted with; `query` is the id of the label where it is about one."""

    kind: FindingKind
    page: str
    query: str | None = None


@dataclass(frozen=True, slots=True)
class LabelFindings:
    """The first findings of each kind, and how many there are of each kind that was found."""

    findings: tuple[LabelFinding, ...] = ()
    counts: Mapping[FindingKind, int] = field(default_factory=dict)

    def of(self, kind: FindingKind) -> tuple[LabelFinding, ...]:
        """Those of one kind."""
        return tuple(one for one in self.findings if one.kind == kind)


@dataclass(frozen=True, slots=True)
class Examined:
    """What labels are held against; `properties` are those that hold the labels themselves, `searcher` one to be looked into."""

    vault: VaultSnapshot
    freshness: Freshness
    settled: Sequence[SettledLabel]
    runs: Sequence[Run]
    label_notes: frozenset[str]
    searcher: Explains | None
    properties: tuple[str, ...] = (LABEL_PROPERTY,)


def label_findings(examined: Examined) -> LabelFindings:
    """All that is found, by kind, then in the order of labels or pages."""
    return listed(every_finding(examined))


def every_finding(examined: Examined) -> Iterator[LabelFinding]:
    """All that is found, none left out."""
    for find in (_corpus, _queries_in_gold, _observed, _edited):
        yield from find(examined)


def listed(found: Iterable[LabelFinding]) -> LabelFindings:
    """The findings bounded, and counted."""
    by_kind: dict[FindingKind, list[LabelFinding]] = {kind: [] for kind in FINDING_KINDS}
    for one in dict.fromkeys(found):
        by_kind[one.kind].append(one)
    counts = {kind: len(ones) for kind, ones in by_kind.items() if ones}
    return LabelFindings(tuple(one for kind in counts for one in by_kind[kind][:LISTED_MAX]), counts)


def normalised(text: str) -> str:
    """The words of a text, case-folded, with one blank on each side: what is compared."""
    words = _WORD if text.isascii() else _word_with_marks()
    return f" {' '.join(words.findall(text.casefold()))} "


@cache
def _word_with_marks() -> re.Pattern[str]:
    """A word as a search takes it: with its vowel signs, which tell one Hindi or Thai word from another."""
    return re.compile(rf"\w[\w{MARKS}]*")


def is_telling(query: str) -> bool:
    """Whether a query is long enough that its whole text in a note is no accident; without a word it never is."""
    words = len(normalised(query).split())
    return words >= QUERY_MIN_WORDS or (words > 0 and len(_unspaced_letters(query)) >= QUERY_MIN_UNSPACED_LETTERS)


def _unspaced_letters(text: str) -> list[str]:
    """The letters of scripts that are written without blanks."""
    return [] if text.isascii() else list(filter(is_run, text))


def _corpus(examined: Examined) -> Iterator[LabelFinding]:
    """Pages of the searched notes that belong to the measurement and not to the vault."""
    freshness = examined.freshness
    yield from (LabelFinding("label_note", page) for page in sorted(examined.label_notes & freshness.indexed))
    shipped = _fixture_digests()
    copies = (page for page, digest in freshness.digests.items() if digest in shipped and shipped[digest] != page)
    yield from (LabelFinding("fixture_file", page) for page in sorted(copies))
    asked = [one.label for one in examined.settled if one.status in ("scored", "negative")]
    telling = {label.id: label for label in asked if is_telling(label.query)}
    suspects = _suspects(examined.runs, telling)
    worded = [normalised(label.query) for label in telling.values()] if suspects else []
    queries = [(_longest_word(query), query) for query in worded]
    names = [page for page in examined.vault.names if _REPORT_NAME.search(page)]
    for page in dict.fromkeys((*suspects, *names[:SUSPECTS_MAX])):
        text = readable_text(examined.vault.read, page)
        if page in examined.label_notes or text is None:
            continue
        if _REPORT_MARK in text.casefold():
            yield LabelFinding("saved_report", page)
        elif page in suspects and _is_copy(normalised(text), queries):
            yield LabelFinding("label_copy", page)


def _is_copy(words: str, queries: Sequence[tuple[str, str]]) -> bool:
    """Whether many of the queries stand in a text, all normalised; each comes with a word of it, which is looked up first."""
    known = frozenset(words.split())
    held = sum(word in known and query in words for word, query in queries)
    return held >= max(COPIED_QUERIES_MIN, COPIED_QUERIES_MIN_SHARE * len(queries))


def _suspects(runs: Sequence[Run], telling: Mapping[str, Label]) -> list[str]:
    """Pages among the first three of several longer queries that do not expect them; those of most queries first."""
    queries: dict[str, set[str]] = {}
    for run in runs:
        for name, ranking in run.rankings.items():
            label = telling.get(name)
            if label is not None:
                gold = label.pages
                for ranked in ranking.pages[:TOP_PAGES]:
                    if ranked.page not in gold:
                        queries.setdefault(ranked.page, set()).add(name)
    often = [page for page, names in queries.items() if len(names) >= COPIED_QUERIES_MIN]
    return sorted(often, key=lambda page: (-len(queries[page]), page))[:SUSPECTS_MAX]


def _queries_in_gold(examined: Examined) -> Iterator[LabelFinding]:
    """Labels whose query stands word for word in a page they expect: the first such page of each kind."""
    for one in examined.settled:
        if one.status != "scored" or not is_telling(one.label.query):
            continue
        query = normalised(one.label.query)
        rarest_first = sorted(set(query.split()), key=len, reverse=True)
        found: dict[FindingKind, LabelFinding] = {}
        for page in one.label.pages:
            text = readable_text(examined.vault.read, page)
            folded = text.casefold() if text is not None else ""
            if text is not None and all(word in folded for word in rarest_first):
                for kind in _places(query, without_properties(text, examined.properties)):
                    found.setdefault(kind, LabelFinding(kind, page, one.label.id))
        yield from found.values()


def _places(query: str, text: str) -> Iterator[FindingKind]:
    block = frontmatter_block(text)
    if block is not None and _holds(block, query):
        yield "query_in_properties"
    if _holds(body_of(text), query):
        yield "query_in_text"


def _holds(text: str, query: str) -> bool:
    """Whether the words of a normalised query stand one after another; without blanks between words also inside a run of letters.

    Only the surroundings of its longest word are taken apart: doing so with whole notes would take most of the time.
    """
    folded, longest, words = text.casefold(), _longest_word(query), query.split()
    sought = query.strip() if _unspaced_letters(query) else query
    reach = 2 * len(query) + _REACH_MIN_CHARACTERS
    at = folded.find(longest)
    while at >= 0:
        around = folded[max(0, at - reach) : at + reach]
        if all(word in around for word in words) and sought in normalised(around):
            return True
        at = folded.find(longest, at + 1)
    return False


def _longest_word(query: str) -> str:
    return max(query.split(), key=len)


def _observed(examined: Examined) -> Iterator[LabelFinding]:
    """Gold pages that differ from the index only since a label was written into them."""
    gold = {page for one in examined.settled for page in one.label.pages}
    return (LabelFinding("stale_label_only", page) for page in examined.freshness.label_only if page in gold)


def _edited(examined: Examined) -> Iterator[LabelFinding]:
    """Gold pages whose bytes are not those they were labelled with."""
    for one in examined.settled:
        if one.status == "scored":
            for target, digest in one.label.hashes.items():
                page = parse_target(target).page
                now = examined.freshness.digests.get(page)
                if now is not None and now != digest:
                    yield LabelFinding("edited_since_labelled", page, one.label.id)


def unjudged_above(label: Label, ranking: Ranking) -> tuple[str, ...]:
    """The pages among the first three that stand above every gold page and that the label neither names nor grades."""
    judged = {*label.pages, *(parse_target(target).page for target in label.grades)}
    gold = frozenset(label.pages)
    above: list[str] = []
    for ranked in ranking.pages[:TOP_PAGES]:
        if ranked.page in gold:
            break
        if ranked.page not in judged:
            above.append(ranked.page)
    return tuple(above)


def _fixture_digests() -> dict[str, str]:
    """SHA-256 -> page of the shipped example; empty where it is not installed."""
    shipped: dict[str, str] = {}
    for folder, _, names in os.walk(_FIXTURE):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                page = os.path.relpath(os.path.join(folder, name), _FIXTURE).replace(os.sep, "/")
                shipped[sha256_hex(file.read())] = page
    return shipped
