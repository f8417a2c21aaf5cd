"""The gold page exists, but is kept out of what is searched."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:
    """Holds for an excluded page that was not returned all the same."""
    if miss.found is not None or miss.page not in miss.pages.excluded:
        return None
    return Diagnosis(miss.page, CAUSE.name, miss.pages.excluded[miss.page])


CAUSE = Cause(
    name="out_of_scope",
    position=1,
    meaning="the gold page is excluded from searching",
    remedy="take it out of the excluded files, or skip the label",
    find=find,
)
