"""How near the chunks of an index are to one query, whichever vectors they have."""

from __future__ import annotations

from typing import Protocol

from vault_eval.index.search import Hit


class Cosines(Protocol):
    """The cosine of one query to every chunk. A chunk at 0 or below is no match: it has nothing in common with the query."""

    def best(self, n: int) -> list[Hit]:
        """The n nearest chunks that match at all, by cosine descending, then by chunk, which is path order."""
        ...

    def of(self, chunk: int) -> float:
        """The cosine of one chunk."""
        ...
