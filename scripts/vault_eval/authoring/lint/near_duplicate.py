"""Queries that ask nearly the same: one question with the weight of two."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.authoring.similar import QueryTwins
from vault_eval.vault.paths import quoted

NAME = "nearly equal queries"
ADVICE = "one question counts twice: drop one, or let both ask different things"


def find(checked: Checked) -> Iterator[Finding]:
    """Each query that has a twin before it, with the first such twin."""
    twins = QueryTwins(checked.analyzer)
    queries: dict[str, str] = {}
    for label in checked.labels:
        earlier = twins.add(label.id, label.query)
        if earlier is not None:
            yield Finding(f"{quoted(queries[earlier])} and {quoted(label.query)}", (earlier, label.id))
        queries[label.id] = label.query
