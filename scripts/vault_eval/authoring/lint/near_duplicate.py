"""Queries that ask nearly the same: one question with the weight of two."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.authoring.similar import QueryTwins
from vault_eval.limits import MESSAGE_TEXT_MAX_CHARACTERS
from vault_eval.vault.paths import quoted

NAME = "nearly equal queries"
ADVICE = "where both ask the same, one question counts twice: drop one"


def find(checked: Checked) -> Iterator[Finding]:
    """Each query that has a twin before it, with the first such twin."""
    twins = QueryTwins(checked.analyzer)
    queries: dict[str, str] = {}
    for label in checked.labels:
        earlier = twins.add(label.id, label.query)
        if earlier is not None:
            yield Finding(_both(queries[earlier], label.query), (earlier, label.id))
        queries[label.id] = label.query


def _both(one: str, other: str) -> str:
    """Both queries, and where a cut would hide in what they differ, the words that only one of them has."""
    both = f"{quoted(one)} and {quoted(other)}"
    if max(len(one), len(other)) <= MESSAGE_TEXT_MAX_CHARACTERS:
        return both
    only = [
        " ".join(word for word in mine.split() if word not in theirs.split()) for mine, theirs in ((one, other), (other, one))
    ]
    return f"{both}, apart in {quoted(only[0])} and {quoted(only[1])}"
