"""Exactly one cause for each missed gold page: the first that holds of a fixed list, with what was seen."""

from __future__ import annotations

from dataclasses import replace

from vault_eval.diagnosis.causes import CAUSES
from vault_eval.diagnosis.records import Diagnosis, Miss, Rival, SearchedPages, Wanted
from vault_eval.index.terms import is_run
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.model import Ranking
from vault_eval.retrievers.protocol import Counterfactual, Explains, Imagines, KnowsPages, PageEvidence

__all__ = ["Diagnosis", "Rival", "SearchedPages", "Wanted", "diagnose", "invalid_label"]

# Term scores are told to add up to the searcher's own score; a larger gap is no rounding.
_SCORE_TOLERANCE = 1e-6
# Missing terms whose effect is worked out for one page.
_IMAGINED_MAX_TERMS = 5


def diagnose(
    query: str,
    page: str,
    ranking: Ranking,
    searcher: Explains | KnowsPages | None,
    pages: SearchedPages,
    wanted: Wanted,
    places: tuple[str, ...] = (),
) -> Diagnosis:
    """The cause for which `page` is not among the first ten of `ranking`, or only not with one of its gold `places`.

    The searcher answered, and the page exists.
    """
    told = searcher.evidence(query, page, exact_rank=wanted.exact) if isinstance(searcher, Explains) else None
    distrust = _distrust(page, told, ranking) if told is not None else ""
    evidence = None if distrust else told
    miss = Miss(query, page, ranking, pages, searcher, evidence, distrust, places)
    cause, found = next((cause, found) for cause in CAUSES.values() if (found := cause.find(miss)) is not None)
    if cause.compares:
        last = miss.within[-1].page if miss.within else None
        found = replace(found, winner=last, rivals=_rivals(miss) if wanted.rivals else ())
    if cause.wants_words and wanted.exact:
        imagined = _counterfactuals(miss)
        found = replace(found, detail=found.detail + _best_word(miss, imagined), counterfactuals=imagined)
    return found


def invalid_label(page: str, reason: str) -> Diagnosis:
    """The record of a gold page that does not exist; it stands outside the counts of causes."""
    return Diagnosis(page, "label_invalid", reason)


def _rivals(miss: Miss) -> tuple[Rival, ...]:
    """The pages at rank 1 and at the last place within the cut, as far as what is told of them adds up."""
    searcher = miss.searcher
    if not isinstance(searcher, Explains):
        return ()
    rivals = []
    for ranked in dict.fromkeys((*miss.within[:1], *miss.within[-1:])):
        told = searcher.evidence(miss.query, ranked.page, exact_rank=False)
        if told is not None and not _distrust(ranked.page, told, miss.ranking):
            rivals.append(Rival(ranked.rank, ranked.page, told))
    return tuple(rivals)


def _distrust(page: str, evidence: PageEvidence, ranking: Ranking) -> str:
    """What does not add up in the evidence, as a sentence; empty where the terms make the score that the searcher gave."""
    ranked = next((ranked.score for ranked in ranking.pages if ranked.page == page), None)
    given = evidence.score if ranked is None else ranked
    total = evidence.term_total
    if abs(total - given) <= _SCORE_TOLERANCE and abs(evidence.score - given) <= _SCORE_TOLERANCE:
        return ""
    return f"the searcher's term scores add up to {total:.6f}, its score is {given:.6f}: the evidence is withheld"


def _counterfactuals(miss: Miss) -> tuple[Counterfactual, ...]:
    """The page's rank with each of the rarest missing terms."""
    text = miss.pages.text(miss.page)
    searcher: object = miss.searcher
    if text is None or miss.evidence is None or not isinstance(searcher, Imagines):
        return ()
    df = {term.term: term.df for term in miss.evidence.terms}
    rarest = sorted(miss.lacking, key=lambda term: df[term])[:_IMAGINED_MAX_TERMS]
    return searcher.with_terms(miss.query, miss.page, rarest, text)


def _best_word(miss: Miss, imagined: tuple[Counterfactual, ...]) -> str:
    # A run cut from a script without blanks is no word that somebody could write.
    best = min((one for one in imagined if not is_run(one.term)), key=lambda one: one.rank, default=None)
    if best is None:
        return ""
    # Where no word is shared, no section was named before.
    where = "that section" if miss.evidence is not None and miss.evidence.shares_a_term else "the note"
    still = "" if best.rank <= METRIC_CUTOFF_PAGES else f", still not among the first {METRIC_CUTOFF_PAGES}"
    return f"; rank {best.rank:,} if {where} contained {best.term!r}{still}"
