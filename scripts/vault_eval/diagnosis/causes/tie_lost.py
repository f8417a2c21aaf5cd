"""The gold page has the score of the last page within the cut, and its path comes later."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.diagnosis.wording import lacking_clause


def find(miss: Miss) -> Diagnosis | None:
    """Holds where the two scores are equal to the last bit: the order of paths decided."""
    if miss.score is None or not miss.within or miss.within[-1].score != miss.score:
        return None
    last = miss.within[-1]
    detail = f"it has the same score as {last.page!r} at rank {last.rank}, which comes first by path"
    return miss.diagnosis(CAUSE.name, detail + lacking_clause(miss))


CAUSE = Cause(
    name="tie_lost",
    position=8,
    meaning="another page has the same score and comes first by path",
    remedy="make the note say more of what it is about",
    find=find,
    detail_says_all=True,
    compares=True,
)
