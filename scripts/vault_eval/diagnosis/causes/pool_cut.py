"""The gold page's best chunk stands behind all chunks that were considered."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.diagnosis.wording import lacking_clause


def find(miss: Miss) -> Diagnosis | None:
    """Holds where the index has the page and the candidate pool does not; tells the pool that would admit it, if worked out."""
    pool = miss.ranking.candidates
    if not miss.is_indexed or pool is None or miss.page in pool.usable:
        return None
    detail = f"it is not among the {pool.chunks} best chunks"
    if miss.evidence is not None and miss.evidence.rank is not None:
        detail += f"; its rank is {miss.evidence.rank:,}"
    if miss.evidence is not None and miss.evidence.pool is not None:
        detail += f", which a pool of {miss.evidence.pool:,} chunks would admit"
    return miss.diagnosis(CAUSE.name, detail + lacking_clause(miss))


CAUSE = Cause(
    name="pool_cut",
    position=9,
    meaning="the gold page was not among the candidates",
    remedy="make the note say more of what it is about",
    find=find,
    compares=True,
    wants_words=True,
)
