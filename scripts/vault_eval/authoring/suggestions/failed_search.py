"""Searches that failed, as the owner listed them: the best queries there are, and only the owner knows their notes."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.suggestions import Candidate, LeftOut, Material

NAME = "failed searches"


def candidates(material: Material) -> Iterator[Candidate | LeftOut]:
    """One a line; blank lines and the marks of a list are dropped."""
    for number, line in enumerate(material.failed, start=1):
        query = line.strip().removeprefix("- ").removeprefix("* ").strip()
        if query:
            yield Candidate(query, None, f"failed search, line {number}")
