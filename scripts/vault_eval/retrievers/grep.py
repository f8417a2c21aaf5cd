"""`grep`: pages by how many words of the query stand anywhere in the note's text, as `grep -i -F` finds them. No settings.

A script without blanks shows no words, and a whole sentence would stand nowhere else: of such a run every two characters side
by side are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from vault_eval.errors import UsageError
from vault_eval.index.terms import is_run
from vault_eval.model import RankedPage, Ranking, RetrieverDescription
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec, refuse_unknown_settings
from vault_eval.retrievers.without_index import WithoutIndex
from vault_eval.vault.note_text import readable_text, without_properties

NEEDS_INDEX = False

# All words of all notes are held in memory; a larger vault is for a searcher with an index.
TEXT_MAX_BYTES = 512 * 1_048_576
_WORD = re.compile(r"\w+")


def open_retriever(spec: Spec, context: RetrieverContext) -> GrepSearch:
    """The searcher of the text of all notes in scope but label notes, each read once, without the lines of label properties.

    Raises UsageError for any setting, and for a vault of more than 512 MiB.
    """
    refuse_unknown_settings(spec, ())
    size = sum(note.state.size for note in context.vault.listing.notes)
    if size > TEXT_MAX_BYTES:
        raise UsageError(f"--retriever grep: the notes have {size:,} bytes, of which it holds {TEXT_MAX_BYTES:,}; leave grep out")
    return GrepSearch(spec.text, [(page, _text(page, context)) for page in context.searchable()])


class GrepSearch(WithoutIndex):
    """Knows which pages hold each word; a query word is found inside longer words too.

    A set of pages is a whole number with one bit a page, in path order: counting the words of a query in every page of a
    large vault is then a few additions of large numbers.
    """

    why_no_cold = "no command answers one query with it"

    def __init__(self, name: str, texts: Sequence[tuple[str, str]]) -> None:
        self._name = name
        self._pages = [page for page, _ in texts]
        self._holders: dict[str, list[int]] = {}
        for place, (_, text) in enumerate(texts):
            for word in set(_WORD.findall(text.casefold())):
                self._holders.setdefault(word, []).append(place)
        self._words = "\n".join(self._holders) + "\n"
        self._found: dict[str, int] = {}

    def describe(self) -> RetrieverDescription:
        """What is looked for and how."""
        settings = {
            "text": "whole note as it is now",
            "match": "case-folded words, inside words too; two characters of scripts without blanks",
            "score": "distinct words found",
        }
        return RetrieverDescription(self._name, {**settings, "pages": len(self._pages)})

    def search(self, query: str, depth: int) -> Ranking:
        """Pages by the number of distinct query words they hold, then by path; pages without any are not returned."""
        planes: list[int] = []  # plane i holds bit i of the count of each page
        for word in dict.fromkeys(_asked(query)):
            carry = self._holding(word)
            for place, plane in enumerate(planes):
                planes[place], carry = plane ^ carry, plane & carry
            planes += [carry] if carry else []
        ranked: list[RankedPage] = []
        for count in range(2 ** len(planes) - 1, 0, -1):
            pages = (1 << len(self._pages)) - 1
            for place, plane in enumerate(planes):
                pages &= plane if count >> place & 1 else ~plane
            while pages and len(ranked) < depth:
                lowest = pages & -pages
                ranked.append(RankedPage(len(ranked) + 1, self._pages[lowest.bit_length() - 1], float(count)))
                pages ^= lowest
            if len(ranked) == depth:
                break
        return Ranking(tuple(ranked))

    def _holding(self, word: str) -> int:
        """The pages in whose text the word stands, worked out once a word."""
        found = self._found.get(word)
        if found is None:
            flags = bytearray(b"0" * len(self._pages))
            for longer in self._containing(word):
                for place in self._holders[longer]:
                    flags[-1 - place] = ord("1")
            found = self._found[word] = int(flags or b"0", 2)
        return found

    def _containing(self, word: str) -> set[str]:
        """Every known word that holds this one; a run of letters lies within one word, so none is overlooked."""
        words, holding = self._words, set()
        at = words.find(word)
        while at >= 0:
            end = words.index("\n", at)
            holding.add(words[words.rfind("\n", 0, at) + 1 : end])
            at = words.find(word, end)
        return holding


def _asked(query: str) -> Iterator[str]:
    """What a person would look for who cannot grep a whole question."""
    for word in _WORD.findall(query.casefold()):
        for has_no_blanks, letters in groupby(word, is_run):
            run = "".join(letters)
            yield from map("".join, pairwise(run)) if has_no_blanks and len(run) > 1 else (run,)


def _text(page: str, context: RetrieverContext) -> str:
    text = readable_text(context.read, page)  # none for a PDF: what grep sees of it are compressed bytes
    return "" if text is None else without_properties(text, context.label_properties)
