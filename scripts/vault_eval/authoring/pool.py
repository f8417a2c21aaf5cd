"""A pool: for each query all pages that any of several searchers found, to be judged without knowing which, or in what order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from vault_eval.digests import sha256_hex
from vault_eval.model import Label

# One in ten is shown twice, and not fewer than ten: else a judge's agreement with himself has no n.
AGAIN_SHARE = 0.1
AGAIN_MIN_ITEMS = 10
_ITEM_DIGITS = 12

Section = tuple[tuple[str, ...], "tuple[int, int] | None"]  # heading path; first and last source line, None for the whole note


@dataclass(frozen=True, slots=True)
class Item:
    """One page to be judged for one query, with the section that fits the query best."""

    name: str  # made of seed, query and page alone
    page: str
    heading: tuple[str, ...]
    lines: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class PooledQuery:
    """One query, what the person needs to know or do, and its items in an order that means nothing."""

    id: str
    query: str
    need: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """What is judged. It holds no searcher, rank or score, nor which pages a label expects."""

    vault_id: str
    vault_name: str
    seed: int
    queries: tuple[PooledQuery, ...]
    again: tuple[str, ...]  # names of the items that are shown a second time, after all others

    @property
    def items(self) -> dict[str, tuple[PooledQuery, Item]]:
        """Every item by its name."""
        return {item.name: (query, item) for query in self.queries for item in query.items}


def pooled(
    labels: Sequence[Label],
    pages: Mapping[str, AbstractSet[str]],
    section: Callable[[str, str], Section],
    seed: int,
    vault: tuple[str, str],
) -> Pool:
    """The pool of labels and, by label id, the pages that anybody found or expects; `vault` is its id and its name.

    `section(query, page)` must not depend on who found the page. Same input, same pool: sets have no order that could tell.
    """
    queries = tuple(
        PooledQuery(label.id, label.query, label.note or "", _items(label, pages[label.id], section, seed)) for label in labels
    )
    return Pool(*vault, seed, queries, _shown_again([item.name for query in queries for item in query.items], seed))


def _items(label: Label, pages: AbstractSet[str], section: Callable[[str, str], Section], seed: int) -> tuple[Item, ...]:
    named = sorted((_lot(seed, label.id, page), page) for page in pages)
    return tuple(Item(name[:_ITEM_DIGITS], page, *section(label.query, page)) for name, page in named)


def _shown_again(names: Sequence[str], seed: int) -> tuple[str, ...]:
    number = min(len(names), max(AGAIN_MIN_ITEMS, -int(-AGAIN_SHARE * len(names) // 1)))
    return tuple(sorted(names, key=lambda name: _lot(seed, "again", name))[:number])


def _lot(seed: int, query: str, page: str) -> str:
    """A lot drawn from these three alone."""
    return sha256_hex("\0".join((str(seed), query, page)).encode("utf-8", "surrogatepass"))
