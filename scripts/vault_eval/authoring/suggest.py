"""Labels that a vault proposes itself: gathered from every source, held against each other, marked as what they are.

None of them was written from a need. Each is tagged `silver` and with its source, so that every report shows them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from vault_eval.authoring.questions import ASKING_WORDS
from vault_eval.authoring.similar import QueryTwins
from vault_eval.authoring.suggestions import TOO_SHORT, Candidate, LeftOut, Material, ReadNote, suggestion_sources
from vault_eval.digests import sha256_hex
from vault_eval.errors import UnreadableFileError
from vault_eval.index.build import LABEL_SCHEMAS
from vault_eval.index.markdown_blocks import BlockReader
from vault_eval.index.terms import Analyzer
from vault_eval.labels.rules import normalise_query, query_id
from vault_eval.labels.wikilinks import PageNames
from vault_eval.limits import LABEL_QUERY_MAX_CHARACTERS
from vault_eval.model import Label, Target
from vault_eval.vault.note import Note, parse_note
from vault_eval.vault.note_text import decode
from vault_eval.vault.snapshot import VaultSnapshot

SILVER = "silver"
NO_PAGE = "which note answers this is not known: name it, or empty the list if none does"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One label proposed, and the name of the source that proposed it."""

    label: Label
    source: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What is proposed, each source in the order of the vault; how many each source has beyond that; what was left out."""

    shown: tuple[Suggestion, ...]
    usable: Mapping[str, int]
    left_out: Mapping[str, int]


def read_material(vault: VaultSnapshot, failed: Sequence[str], transcript: str) -> Material:
    """The notes of a vault as suggestions need them; label notes and notes that cannot be read are no part of it."""
    blocks = BlockReader()
    notes = {}
    for listed in vault.listing.notes:
        try:
            note = parse_note(decode(vault.read(listed.page)))
        except UnreadableFileError:
            continue
        if note.schema not in LABEL_SCHEMAS:
            notes[listed.page] = _read_note(listed.page, note, blocks)
    return Material(notes, PageNames(lambda: vault.names), failed, transcript)


def suggest(material: Material, labelled: Iterable[str], limit: int) -> Suggestions:
    """At most `limit` suggestions, as many from each source as from the others; `labelled` are queries that have labels.

    Which of many are taken is decided by a digest of their text, so that they come from all over the vault.
    """
    gathering = _Gathering(material, labelled)
    found = {name: tuple(gathering.usable(name)) for name in suggestion_sources()}
    queues = [sorted(ones, key=lambda one: sha256_hex(one.label.query.encode())) for ones in found.values()]
    in_turn = [one.label.id for row in zip_longest(*queues) for one in row if one is not None]
    taken = frozenset(in_turn[:limit])
    shown = [one for ones in found.values() for one in ones if one.label.id in taken]
    return Suggestions(tuple(shown), {name: len(ones) for name, ones in found.items() if ones}, gathering.left_out)


def _read_note(page: str, note: Note, blocks: BlockReader) -> ReadNote:
    body = note.text.split("\n")[note.body_line :]
    headings = blocks.blocks("\n".join(body), need_starts=False).headings
    moved = (replace(one, first=one.first + note.body_line, after=one.after + note.body_line) for one in headings)
    return ReadNote(page, note, tuple(moved))


class _Gathering:
    """What has been found so far; every candidate passes the same tests, and each refusal is counted with its reason."""

    def __init__(self, material: Material, labelled: Iterable[str]) -> None:
        self._material = material
        self._analyzer = Analyzer()
        self._labelled = QueryTwins(self._analyzer)
        self._proposed = QueryTwins(self._analyzer)
        self.left_out: Counter[str] = Counter()
        for query in labelled:
            self._labelled.add(query, query)

    def usable(self, name: str) -> Iterator[Suggestion]:
        source = suggestion_sources()[name]
        found = list(source.candidates(self._material))
        places = _places(one for one in found if isinstance(one, Candidate))
        for one in found:
            reason = one.reason if isinstance(one, LeftOut) else self._refusal(one, places)
            if reason:
                self.left_out[reason] += 1
            elif isinstance(one, Candidate):
                yield Suggestion(_label(one, name), name)

    def _refusal(self, one: Candidate, places: Mapping[str, set[Target | None]]) -> str:
        query = normalise_query(one.query)
        if len(query) > LABEL_QUERY_MAX_CHARACTERS or "://" in query:
            return "it is no query: an address, or too long"
        if not self._analyzer.terms(query):
            return TOO_SHORT.reason
        if one.target is not None and len({target.page for target in places[query.casefold()] if target}) > 1:
            return "it names several notes"
        if one.target is not None and self._is_name(query, one.names):
            return "it only repeats a name of the note or section"
        if self._labelled.find(query):
            return "it has a label already"
        return "it is nearly the same as another" if self._proposed.add(query, query) else ""

    def _is_name(self, query: str, names: Iterable[str]) -> bool:
        terms = (
            frozenset(self._analyzer.terms(query)) - ASKING_WORDS
        )  # "How to style backlinks" says no more than "Style backlinks"
        return any(terms <= frozenset(self._analyzer.terms(name)) for name in names)


def _places(found: Iterable[Candidate]) -> dict[str, set[Target | None]]:
    places: dict[str, set[Target | None]] = {}
    for one in found:
        places.setdefault(normalise_query(one.query).casefold(), set()).add(one.target)
    return places


def _label(one: Candidate, source: str) -> Label:
    query = normalise_query(one.query)
    return Label(
        id=f"{SILVER}-{query_id(query)}",
        query=query,
        gold=(one.target,) if one.target is not None else (),
        source="",
        place="",
        tags=(SILVER, f"{SILVER}-{source.replace('_', '-')}"),
        skip_reason=None if one.target is not None else NO_PAGE,
        origin=one.origin,
    )
