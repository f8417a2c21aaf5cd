"""The gold page is in scope, but the index does not hold it."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:
    """Holds for a page that was left out with a reason, or that a searcher which can be looked into does not have."""
    if miss.found is not None:
        return None
    if miss.page in miss.pages.skipped:
        return Diagnosis(miss.page, CAUSE.name, f"the note was left out: {miss.pages.skipped[miss.page]}")
    if miss.searcher is None or miss.evidence is not None or miss.distrust:
        return None
    return Diagnosis(miss.page, CAUSE.name, "the note is not in the index: it was added since; run index again")


CAUSE = Cause(
    name="not_indexed",
    position=2,
    meaning="the gold page is not in the index",
    remedy="run index again",
    find=find,
    detail_says_all=True,
)
