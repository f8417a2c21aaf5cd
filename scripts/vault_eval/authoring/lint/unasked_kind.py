"""Kinds of queries that the set lacks: what it does not ask, it cannot say."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.kinds import KINDS
from vault_eval.authoring.lint import Checked, Finding

NAME = "kinds of queries absent"
ADVICE = "nothing is measured of it: add some, or know that it is not asked"


def find(checked: Checked) -> Iterator[Finding]:
    """The kinds of the eight that no label looks like, all in one finding."""
    absent = [name for name, looks_like in KINDS.items() if not any(looks_like(label, checked) for label in checked.labels)]
    if absent:
        yield Finding(f"none looks like {', '.join(absent)}")
