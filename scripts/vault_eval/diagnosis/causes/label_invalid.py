"""The gold page does not exist: the label is at fault, and the query is in no mean."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:
    """Holds for a page that is known to be missing; such a query is never asked, so this is told of its row, not of a miss."""
    reason = miss.pages.missing.get(miss.page)
    return None if reason is None else Diagnosis(miss.page, CAUSE.name, reason)


CAUSE = Cause(
    name="label_invalid",
    position=0,
    meaning="the gold page does not exist",
    remedy="correct the path in the label, or remove the label",
    find=find,
    detail_says_all=True,
)
