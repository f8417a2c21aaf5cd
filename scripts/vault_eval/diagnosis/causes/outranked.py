"""The gold page was considered, and other pages scored higher."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.diagnosis.wording import lacking_clause


def find(miss: Miss) -> Diagnosis | None:
    """Holds for every page with evidence that no cause before explains: it shares a term, and is no further than the pool."""
    if miss.evidence is None:
        return None
    pool = miss.ranking.candidates
    at = "it is below the cut" if pool is None else f"it is at rank {pool.usable.index(miss.page) + 1}"
    return miss.diagnosis(CAUSE.name, at + lacking_clause(miss))


CAUSE = Cause(
    name="outranked",
    position=11,
    meaning="other pages match the query better",
    remedy="make the note say more of what it is about, or judge the winner",
    find=find,
    compares=True,
    wants_words=True,
)
