"""Terms of a query as a person reads them: what an index cut from a script without blanks is joined again."""

from __future__ import annotations

import unicodedata
from collections.abc import Set as AbstractSet
from itertools import groupby

from vault_eval.index.terms import Analyzer, is_run


def in_own_words(query: str, terms: tuple[str, ...]) -> tuple[str, ...]:
    """The terms, but for those cut from Han, Kana, Hangul, Thai and the like, in place of which the longest stretches of the
    query stand that they cover: `飞美国` for `飞`, `飞美` and `美国`. Distinct, in the order of the query.
    """
    cut = frozenset(filter(_is_cut, terms))
    if not cut:
        return terms
    words = Analyzer().words(query)
    runs = [run for word in words for run in _covered(word, cut)]
    # A searcher of another product may cut in a way that the query, as we read it, does not hold.
    here = "\n".join(runs)
    others = [term for term in terms if term not in cut or term not in here]
    return tuple(sorted(dict.fromkeys([*others, *runs]), key=" ".join(words).casefold().find))


def _is_cut(term: str) -> bool:
    """A word never begins with a mark; what is cut out of a run may."""
    return is_run(term) or unicodedata.category(term[:1] or " ").startswith("M")


def _covered(word: str, cut: AbstractSet[str]) -> list[str]:
    """The longest stretches of the word of which every letter lies in one of these terms; those that touch are one."""
    sizes = {len(term) for term in cut}
    spans = [(start, start + size) for start in range(len(word)) for size in sizes if word[start : start + size] in cut]
    covered = {place for start, end in spans for place in range(start, end)}
    parts = groupby(enumerate(word), key=lambda letter: letter[0] in covered)
    return ["".join(letter for _, letter in part) for is_covered, part in parts if is_covered]
