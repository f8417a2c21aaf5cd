"""One page behind a quarter of the queries: the figures are about that page."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.vault.paths import quoted

NAME = "one page behind many queries"
ADVICE = "the figures are mostly about this page: label others too"
_MANY_MIN_SHARE = 0.25
_MANY_MIN_QUERIES = 3  # a quarter of a handful is no pattern


def find(checked: Checked) -> Iterator[Finding]:
    """Each page that so many scored queries expect, in the order of the labels."""
    expecting: dict[str, list[str]] = {}
    for label in checked.scored:
        for page in label.pages:
            expecting.setdefault(page, []).append(label.id)
    total = len(checked.scored)
    for page, ids in expecting.items():
        if len(ids) >= max(_MANY_MIN_QUERIES, _MANY_MIN_SHARE * total):
            yield Finding(f"{quoted(page)} is expected by {len(ids)} of {total} queries", tuple(ids), (page,))
