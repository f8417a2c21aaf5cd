"""The gold page does not exist: the label is at fault, and the query is in no mean."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(_miss: Miss) -> Diagnosis | None:
    """Holds of no miss: the query of a page that does not exist is never asked; `invalid_label` makes the record of its row."""
    return None


CAUSE = Cause(
    name="label_invalid",
    position=0,
    meaning="the gold page does not exist",
    remedy="correct the path in the label, or remove the label",
    find=find,
    detail_says_all=True,
)
