"""Nothing but ranks is known, or what the searcher tells does not add up."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:
    """Always holds, so that no miss is without a cause."""
    rank = next((ranked.rank for ranked in miss.ranking.pages if ranked.page == miss.page), None)
    at = f"; it is at rank {rank}" if rank is not None else ""
    if miss.distrust:
        return Diagnosis(miss.page, CAUSE.name, miss.distrust + at)
    return Diagnosis(miss.page, CAUSE.name, f"this searcher tells only ranks{at}")


CAUSE = Cause(
    name="unexplained",
    position=12,
    meaning="this searcher tells only the rank",
    remedy="look at the note and at what was found instead",
    find=find,
    detail_says_all=True,
)
