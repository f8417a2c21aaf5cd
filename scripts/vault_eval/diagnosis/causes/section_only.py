"""The page was found, but its first-ranked chunk lies outside the heading or block that the label names."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:
    """Holds for every page within the cut, which is brought here for its section alone; for recall it counts as found."""
    ranked = miss.found
    if ranked is None:
        return None
    where = [" › ".join(ranked.heading)] if ranked.heading else []
    where += [f"lines {ranked.lines[0]}–{ranked.lines[1]}"] if ranked.lines is not None else []
    gold = ", ".join(repr(place.removeprefix(miss.page)) for place in miss.places)
    found = f"it is at rank {ranked.rank} with {', '.join(where) or 'another part'}"
    return miss.diagnosis(CAUSE.name, f"{found}, not with {gold or 'the section of the label'}")


CAUSE = Cause(
    name="section_only",
    position=5,
    meaning="the page was found, but not the section that the label names",
    remedy="check the label's heading, or say in that section what is asked",
    find=find,
)
