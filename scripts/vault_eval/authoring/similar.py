"""Which queries ask the same: equal but for order, repetition and letter case, or nearly so."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from vault_eval.index.terms import Analyzer

# Of all terms of two queries so many are in both: of seven words each, one differs.
SAME_MIN_SHARE = Fraction(3, 4)


class QueryTwins:
    """Queries by name; each new one is held against those before it.

    Two are twins where |A ∩ B| / |A ∪ B| of their sets of terms (Jaccard 1901) is at least SAME_MIN_SHARE.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._terms: dict[str, frozenset[str]] = {}
        self._by_term: dict[str, list[str]] = {}

    def add(self, name: str, query: str) -> str | None:
        """The name of the first twin that was added before, or None; `query` is then known by `name`."""
        twin = self.find(query)
        self._terms[name] = terms = frozenset(self._analyzer.terms(query))
        for term in self._telling(terms):
            self._by_term.setdefault(term, []).append(name)
        return twin

    def find(self, query: str) -> str | None:
        """The name of the first twin that was added before, or None."""
        terms = frozenset(self._analyzer.terms(query))
        seen = dict.fromkeys(other for term in self._telling(terms) for other in self._by_term.get(term, ()))
        return next((other for other in seen if self._share(terms, self._terms[other]) >= SAME_MIN_SHARE), None)

    @staticmethod
    def _share(one: frozenset[str], other: frozenset[str]) -> Fraction:
        return Fraction(len(one & other), len(one | other) or 1)

    @staticmethod
    def _telling(terms: frozenset[str]) -> Iterator[str]:
        """The first terms in order, so many that two twins share one of them: |A| - ceil(share · |A|) + 1."""
        ordered = sorted(terms)
        yield from ordered[: len(ordered) - ceil(SAME_MIN_SHARE * len(ordered)) + 1]
