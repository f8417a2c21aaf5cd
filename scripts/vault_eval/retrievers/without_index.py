"""What searchers have in common whose index, if there is any, is not ours to read."""

from __future__ import annotations

from vault_eval.model import IndexDescription


class WithoutIndex:
    """A searcher that reads the notes as they are, or whose index only the program behind it knows. It holds nothing open."""

    def index(self) -> IndexDescription | None:
        """None: there is none, or it does not tell."""
        return None

    def bound_digest(self) -> str | None:
        """None, as `index`."""
        return None

    def close(self) -> None:
        """Nothing is held open."""
