"""The gold page's best chunk stands behind all chunks that were considered."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.diagnosis.wording import lacking_clause
from vault_eval.retrievers.protocol import PageEvidence


def find(miss: Miss) -> Diagnosis | None:
    """Holds where the index has the page and the candidate pool does not; tells how far down it is, if worked out."""
    pool = miss.ranking.candidates
    if not miss.is_indexed or pool is None or miss.page in pool.usable:
        return None
    looked = f"the search looked at only the {pool.chunks:,} best chunks (pieces of notes)"
    return miss.diagnosis(CAUSE.name, f"{looked}, {_how_far_down(miss.evidence)}{lacking_clause(miss)}")


def _how_far_down(evidence: PageEvidence | None) -> str:
    if evidence is None or evidence.rank is None or evidence.pool is None:
        return "and none of them is of this note"
    return f"and this note's best is number {evidence.pool:,}, which puts the note at rank {evidence.rank:,}"


CAUSE = Cause(
    name="pool_cut",
    position=9,
    meaning="the gold page was not among the candidates",
    remedy="make the note say more of what it is about",
    find=find,
    compares=True,
    wants_words=True,
)
