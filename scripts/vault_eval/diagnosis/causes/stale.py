"""The gold page changed since it was indexed, so that its old text was not returned."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:
    """Holds where the searcher tells that the page's bytes are others, or dropped it from this answer for that reason."""
    if miss.found is not None:
        return None
    dropped = miss.ranking.candidates.stale_pages if miss.ranking.candidates is not None else ()
    if miss.page not in dropped and not (miss.searcher is not None and miss.searcher.is_stale(miss.page)):
        return None
    detail = "the note changed since it was indexed, so its old text was not returned; index the vault again"
    return Diagnosis(miss.page, CAUSE.name, detail)


CAUSE = Cause(
    name="stale",
    position=4,
    meaning="the gold page changed since it was indexed",
    remedy="index the vault again",
    find=find,
    detail_says_all=True,
)
