"""`title`: how well the words of the query cover a note's name, title or one of its aliases. No settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_eval.index.terms import Analyzer
from vault_eval.model import RankedPage, Ranking, RetrieverDescription
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec, refuse_unknown_settings
from vault_eval.retrievers.without_index import WithoutIndex
from vault_eval.vault.note import parse_note
from vault_eval.vault.note_text import frontmatter_block, readable_text
from vault_eval.vault.paths import page_title

NEEDS_INDEX = False

# Names and aliases a note that are compared; a note with more is a list.
NAMES_MAX = 200


def open_retriever(spec: Spec, context: RetrieverContext) -> TitleSearch:
    """The searcher of names of all notes in scope but label notes, each note read once. Raises UsageError for any setting."""
    refuse_unknown_settings(spec, ())
    analyzer = Analyzer()
    named = [(page, name) for page in context.searchable() for name in _names(page, context)]
    return TitleSearch(spec.text, [(page, frozenset(analyzer.terms(name))) for page, name in named], analyzer)


class TitleSearch(WithoutIndex):
    """Compares the distinct terms of a query with those of every name that shares one."""

    why_no_cold = "no command answers one query with it"

    def __init__(self, name: str, named: Sequence[tuple[str, frozenset[str]]], analyzer: Analyzer) -> None:
        self._name = name
        self._named = named
        self._analyzer = analyzer
        self._holders: dict[str, list[int]] = {}
        for place, (_, terms) in enumerate(named):
            for term in terms:
                self._holders.setdefault(term, []).append(place)

    def describe(self) -> RetrieverDescription:
        """What is compared and how."""
        settings = {"fields": "file name, title, aliases", "terms": "native, distinct, no stemming", "score": "Dice, best name"}
        return RetrieverDescription(self._name, {**settings, "names": len(self._named)})

    def search(self, query: str, depth: int) -> Ranking:
        """Pages by 2 |Q and T| / (|Q| + |T|), with Q the query's terms and T those of the best name (Dice 1945), then by path."""
        wanted = frozenset(self._analyzer.terms(query))
        shared: dict[int, int] = {}
        for term in wanted:
            for place in self._holders.get(term, ()):
                shared[place] = shared.get(place, 0) + 1
        best: dict[str, float] = {}
        for place, number in shared.items():
            page, terms = self._named[place]
            best[page] = max(best.get(page, 0.0), 2 * number / (len(wanted) + len(terms)))
        order = sorted(best, key=lambda page: (-best[page], page))[:depth]
        return Ranking(tuple(RankedPage(rank, page, best[page]) for rank, page in enumerate(order, 1)))


def _names(page: str, context: RetrieverContext) -> Iterator[str]:
    """The file name without its suffix, and frontmatter title and aliases where there are any."""
    yield page_title(page)
    text = readable_text(context.read, page)
    if text is None:
        return
    block = (frontmatter_block(text) or "").casefold()
    if "title" in block or "alias" in block:  # YAML is only read where it can matter
        note = parse_note(text)
        yield from [*([note.title] if note.title else []), *note.aliases][:NAMES_MAX]
