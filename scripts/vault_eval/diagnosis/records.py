"""What a diagnosis is made of: the miss to be explained, the causes that may explain it, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.model import RankedPage, Ranking
from vault_eval.retrievers.protocol import Counterfactual, Explains, KnowsPages, PageEvidence
from vault_eval.vault.note_text import LABEL_PROPERTY

CauseName = str  # the name of a file in `causes`


@dataclass(frozen=True, slots=True)
class Rival:
    """A page that came first, or last within the cut, and how it stands to the query."""

    rank: int
    page: str
    evidence: PageEvidence


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why one gold page of one query was missed. `detail` is a sentence; the rest is there where it applies."""

    page: str
    cause: CauseName
    detail: str
    missing_terms: tuple[str, ...] = ()  # query terms that the page's best chunk lacks
    unseen_terms: tuple[str, ...] = ()  # those of them that no chunk of the index holds
    evidence: PageEvidence | None = None
    winner: str | None = None  # the page at the last place within the cut
    rivals: tuple[Rival, ...] = ()  # at rank 1 and at the last place within the cut
    counterfactuals: tuple[Counterfactual, ...] = ()  # rarest missing term first


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is worth its time for one miss. `exact`: the exact rank, and the ranks with one word more, which take a pass over
    every chunk that holds a query term. `rivals`: the evidence of the pages that it lost to, the same for all of a query.
    """

    exact: bool = False
    rivals: bool = True


@dataclass(frozen=True, slots=True)
class SearchedPages:
    """What is known of pages besides the ranking: why one is out of scope or unreadable, and its text as it is now.

    What stands in the `label_properties` of a page is no text of it.
    """

    excluded: Mapping[str, str]
    skipped: Mapping[str, str]
    text: Callable[[str], str | None]
    label_properties: tuple[str, ...] = (LABEL_PROPERTY,)


@dataclass(frozen=True, slots=True)
class Miss:
    """One gold page that was not found as its label asks, with all that the causes may look at.

    `evidence` is None where the searcher cannot be looked into, the page is not in its index, or what it tells does not add
    up; `distrust` then says so.
    """

    query: str
    page: str
    ranking: Ranking
    pages: SearchedPages
    searcher: Explains | KnowsPages | None = None
    evidence: PageEvidence | None = None
    distrust: str = ""
    places: tuple[str, ...] = ()  # gold headings and blocks of the page, as written in the label

    @property
    def within(self) -> tuple[RankedPage, ...]:
        """The places of the ranking that count."""
        return self.ranking.pages[:METRIC_CUTOFF_PAGES]

    @property
    def found(self) -> RankedPage | None:
        """The page's own place within the cut: set where only the section that the label names was missed."""
        return next((ranked for ranked in self.within if ranked.page == self.page), None)

    @property
    def is_indexed(self) -> bool | None:
        """Whether the searcher's index holds the page; None where it cannot tell."""
        if isinstance(self.searcher, Explains):
            return None if self.distrust else self.evidence is not None
        return self.searcher.is_indexed(self.page) if self.searcher is not None else None

    @property
    def score(self) -> float | None:
        """The page's score: what the searcher tells of it, else what it had among the candidates."""
        pool = self.ranking.candidates
        if self.evidence is not None or self.distrust or pool is None:
            return self.evidence.score if self.evidence is not None else None
        return dict(zip(pool.usable, pool.scores, strict=False)).get(self.page)

    @property
    def lacking(self) -> tuple[str, ...]:
        """The query terms that the page's best chunk does not hold."""
        terms = self.evidence.terms if self.evidence is not None else ()
        return tuple(dict.fromkeys(term.term for term in terms if not term.tf))

    def diagnosis(self, cause: CauseName, detail: str) -> Diagnosis:
        """The diagnosis with all evidence there is."""
        terms = self.evidence.terms if self.evidence is not None else ()
        unseen = tuple(dict.fromkeys(term.term for term in terms if not term.df))
        detail += f"; {self.distrust}" if self.distrust else ""
        return Diagnosis(self.page, cause, detail, self.lacking, unseen, self.evidence)


@dataclass(frozen=True, slots=True)
class Cause:
    """What a cause says of a missed gold page, and the smallest thing that would mend it, in words for a person."""

    name: CauseName
    position: int  # place in the decision list, ascending: the first cause that holds is the one
    meaning: str
    remedy: str
    find: Callable[[Miss], Diagnosis | None]
    detail_says_all: bool = False  # the detail is a whole sentence: the meaning before it would say the same twice
    compares: bool = False  # other pages came before it: their evidence stands beside its own
    wants_words: bool = False  # a word more could mend it: the rank it would then have is worked out
