"""No word of the query stands in the note."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:
    """Holds where no query term stands in any chunk of the page."""
    if miss.evidence is None or miss.evidence.shares_a_term:
        return None
    detail = "no query word stands in the note" if miss.lacking else "the query has no word to search for"
    return miss.diagnosis(CAUSE.name, detail)


CAUSE = Cause(
    name="vocabulary_mismatch",
    position=7,
    meaning="no query word stands on the gold page",
    remedy="add the words people ask with, or an alias",
    find=find,
    detail_says_all=True,
    wants_words=True,
)
