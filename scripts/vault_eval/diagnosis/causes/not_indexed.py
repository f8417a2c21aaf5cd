"""The gold page is in scope, but the index does not hold it."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.vault.paths import is_pdf

_NOTE_ABSENT = "it was added since; index the vault again"
_PDF_ABSENT = "it was added since, or the index has no PDFs; run index --pdf"


def find(miss: Miss) -> Diagnosis | None:
    """Holds for a page that was left out with a reason, or that a searcher which can be looked into does not have."""
    if miss.found is not None:
        return None
    kind, why = ("PDF", _PDF_ABSENT) if is_pdf(miss.page) else ("note", _NOTE_ABSENT)
    if miss.page in miss.pages.skipped:
        return Diagnosis(miss.page, CAUSE.name, f"the {kind} was left out: {miss.pages.skipped[miss.page]}")
    if miss.is_indexed in (True, None):
        return None
    return Diagnosis(miss.page, CAUSE.name, f"the {kind} is not in the index: {why}")


CAUSE = Cause(
    name="not_indexed",
    position=2,
    meaning="the gold page is not in the index",
    remedy="index the vault again",
    find=find,
    detail_says_all=True,
)
