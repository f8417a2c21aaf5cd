"""Exactly one cause for each missed gold page: the first that holds of a fixed list, with what was seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vault_eval.diagnosis.causes import CauseName
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.model import Ranking
from vault_eval.retrievers.protocol import Explains, PageEvidence


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


@dataclass(frozen=True, slots=True)
class SearchedPages:
    """What is known of pages besides the ranking: why one is out of scope or unreadable, and its text as it is now."""

    excluded: Mapping[str, str]
    skipped: Mapping[str, str]
    text: Callable[[str], str | None]


def diagnose(
    query: str, page: str, ranking: Ranking, searcher: Explains | None, pages: SearchedPages, *, exact_rank: bool
) -> Diagnosis:
    """The cause for which `page` is not among the first ten of `ranking`; the searcher answered, and the page exists."""
    if page in pages.excluded:
        return Diagnosis(page, "out_of_scope", pages.excluded[page])
    if page in pages.skipped:
        return Diagnosis(page, "not_indexed", f"the note was left out: {pages.skipped[page]}")
    if searcher is None:
        return Diagnosis(page, "unexplained", "this searcher tells only ranks")
    evidence = searcher.evidence(query, page, exact_rank=exact_rank)
    if evidence is None:
        return Diagnosis(page, "not_indexed", "the note is not in the index: it was added since; run index again")
    if searcher.is_stale(page):
        return Diagnosis(
            page, "stale", "the note changed since it was indexed, so its old text was not returned; run index again"
        )
    return _diagnose_rank(query, page, ranking, evidence, pages)


def invalid_label(page: str, reason: str) -> Diagnosis:
    """The record of a gold page that does not exist; it stands outside the counts of causes."""
    return Diagnosis(page, "label_invalid", reason)


def _diagnose_rank(query: str, page: str, ranking: Ranking, evidence: PageEvidence, pages: SearchedPages) -> Diagnosis:
    lacking = tuple(dict.fromkeys(term.term for term in evidence.terms if not term.tf))
    unseen = tuple(dict.fromkeys(term.term for term in evidence.terms if not term.df))
    if not evidence.shares_a_term:
        return _without_terms(query, page, evidence, lacking, unseen, pages)
    within = ranking.pages[:METRIC_CUTOFF_PAGES]
    winner = within[-1].page if within else None
    candidates = ranking.candidates.usable if ranking.candidates else ()
    if within and within[-1].score == evidence.score:
        cause: CauseName = "tie_lost"
        detail = f"it has the same score as {winner!r} at rank {within[-1].rank}, which comes first by path"
    elif page not in candidates:
        cause = "pool_cut"
        chunks = ranking.candidates.chunks if ranking.candidates else 0
        detail = f"it is not among the {chunks} best chunks" + (f"; its rank is {evidence.rank}" if evidence.rank else "")
    else:
        cause = "outranked"
        detail = f"it is at rank {candidates.index(page) + 1}"
    if lacking:
        detail += f"; its best section lacks {', '.join(map(repr, lacking))}"
    return Diagnosis(page, cause, detail, lacking, unseen, evidence, winner)


def _without_terms(
    query: str, page: str, evidence: PageEvidence, lacking: tuple[str, ...], unseen: tuple[str, ...], pages: SearchedPages
) -> Diagnosis:
    text = pages.text(page) or ""
    if query and query.casefold() in text.casefold():
        detail = "the note's text holds the query as it stands, but no term of it was indexed"
        return Diagnosis(page, "tokenizer_gap", detail, lacking, unseen, evidence)
    detail = "no query word stands in the note" if lacking else "the query has no word to search for"
    return Diagnosis(page, "vocabulary_mismatch", detail, lacking, unseen, evidence)
