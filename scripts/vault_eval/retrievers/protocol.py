"""What every searcher is asked, and what it must say of itself."""

from __future__ import annotations

from typing import Protocol

from vault_eval.model import IndexDescription, Ranking, RetrieverDescription


class Retriever(Protocol):
    """A named configuration that answers queries with rankings of pages, read-only.

    `search` never raises for what one query meets: a searcher that failed returns a Ranking with `error` set.
    """

    def describe(self) -> RetrieverDescription:
        """The spec as given and every setting that decides the answers; it stands in the report."""
        ...

    def index(self) -> IndexDescription | None:
        """What was searched, or None where the searcher does not tell."""
        ...

    def search(self, query: str, depth: int) -> Ranking:
        """At most `depth` distinct pages for one query, best first."""
        ...
