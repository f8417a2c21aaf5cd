"""A searcher left the gold page out although nothing but its label property changed since it was indexed."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.retrievers.protocol import DropsLabelOnly


def find(miss: Miss) -> Diagnosis | None:
    """Holds where the searcher tells so; with our own index such a page stays a result, so that another cause is looked for."""
    searcher: object = miss.searcher
    if miss.found is not None or not isinstance(searcher, DropsLabelOnly) or not searcher.drops_label_only(miss.page):
        return None
    detail = "only the label property changed since the note was indexed, and this searcher leaves it out; index the vault again"
    return miss.diagnosis(CAUSE.name, detail)


CAUSE = Cause(
    name="stale_label_only",
    position=3,
    meaning="only the label property changed since indexing",
    remedy="index the vault again",
    find=find,
    detail_says_all=True,
)
