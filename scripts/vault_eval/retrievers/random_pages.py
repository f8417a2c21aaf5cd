"""`random`: any pages at all, the floor that every searcher must clear. Setting: `seed` (default 0)."""

from __future__ import annotations

from collections.abc import Sequence

from vault_eval.digests import sha256_hex
from vault_eval.model import RankedPage, Ranking, RetrieverDescription
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec, refuse_unknown_settings, whole_setting
from vault_eval.retrievers.without_index import WithoutIndex

NEEDS_INDEX = False

SEED_MAX = 2**32 - 1
DEFAULT_SEED = 0


def open_retriever(spec: Spec, context: RetrieverContext) -> RandomPages:
    """The drawer of pages from all notes in scope but label notes. Raises UsageError for other settings than a whole seed."""
    refuse_unknown_settings(spec, ("seed",))
    return RandomPages(spec.text, context.searchable(), whole_setting(spec, "seed", DEFAULT_SEED, 0, SEED_MAX))


class RandomPages(WithoutIndex):
    """Draws pages without replacement; the draw follows from seed, query and the list of pages alone."""

    why_no_cold = "no command answers one query with it"

    def __init__(self, name: str, pages: Sequence[str], seed: int) -> None:
        self._name = name
        self._pages = pages
        self._seed = seed

    def describe(self) -> RetrieverDescription:
        """The seed, and how many pages are drawn from."""
        return RetrieverDescription(self._name, {"seed": self._seed, "pages": len(self._pages), "draw": "SHA-256, no repeats"})

    def search(self, query: str, depth: int) -> Ranking:
        """`depth` pages, each order of all pages equally likely, the same for the same query."""
        moved: dict[int, int] = {}  # a Fisher-Yates shuffle of which only the places touched are kept
        last = len(self._pages)
        ranked = []
        for rank in range(1, min(depth, last) + 1):
            place = rank - 1 + int(sha256_hex(f"{self._seed}\n{rank}\n{query}".encode()), 16) % (last - rank + 1)
            ranked.append(RankedPage(rank, self._pages[moved.get(place, place)], None))
            moved[place] = moved.get(rank - 1, rank - 1)
        return Ranking(tuple(ranked))
