"""What an agent is asked to judge, and its answers: taken only where the quote stands in the note, whatever the note says."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vault_eval import strict_json
from vault_eval.authoring.judged_page import JudgedPage
from vault_eval.authoring.judgements import GRADES, Judgement, Verdict
from vault_eval.authoring.pool import Pool, PooledQuery
from vault_eval.errors import LabelError, UsageError
from vault_eval.json_node import Node
from vault_eval.limits import TERMINAL_TEXT_MAX_CHARACTERS
from vault_eval.reports.text_layout import display_width
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

T = TypeVar("T")
_AGAIN = "~again"
_ADVICE = 'write {"answers": [{"id": …, "notes": [{"note": …, "grade": …, "quote": …}]}]}'
# Shorter, a quote stands in every note, unless it is all that stands in its place. A wide character counts twice.
QUOTE_MIN_CHARACTERS = 8
# What encloses such a place: cells of a table, the sign of a list or a quotation, the name before a value.
_PLACE_END = re.compile(r"\||^\s*(?:[-*+>]|\d+[.)])\s|:\s")
_WORD = re.compile(r"\w")
# The keys around the entries, and how each is set apart.
_PAGE_MAX_CHARACTERS = TERMINAL_TEXT_MAX_CHARACTERS - 1_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a judge is told of one query: its words, the need behind them, and notes sorted by path."""

    id: str
    query: str
    need: str
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, JsonValue]:
        """The form that is printed."""
        return {"id": self.id, "query": self.query, "need": self.need, "notes": [*self.notes]}


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that was not taken, and why; `note` is empty where it is about all of the answer."""

    prompt: str
    note: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """One query at its first or second look, with the items to be judged: page -> name."""

    query: PooledQuery
    look: int
    items: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What an agent says of one note."""

    prompt: str
    note: str
    grade: JsonValue
    quote: str


def prompts(pool: Pool) -> tuple[Prompt, ...]:
    """One a query, then one a query with the notes that are shown again."""
    return tuple(Prompt(name, one.query.query, one.query.need, tuple(sorted(one.items))) for name, one in _asked(pool).items())


def page_of_prompts(asked: Sequence[Prompt], start: str | None) -> tuple[tuple[Prompt, ...], str | None]:
    """As many prompts, from that with the id `start` on, as an agent is shown at once, and the id of the next; at least one.

    Raises UsageError for an id that is none of theirs.
    """
    ids = [prompt.id for prompt in asked]
    if start is not None and start not in ids:
        raise UsageError(f"--from {start!r}: the pool has no prompt of this id; leave it out to begin at the first")
    first = 0 if start is None else ids.index(start)
    room = _PAGE_MAX_CHARACTERS
    for place in range(first, len(asked)):
        room -= len(strict_json.dumps(asked[place].as_json(), ascii_only=True)) + 2
        if room < 0 and place > first:
            return tuple(asked[first:place]), ids[place]
    return tuple(asked[first:]), None


def read_answers(
    text: str, name: str, pool: Pool, read: Callable[[str], JudgedPage | None]
) -> tuple[list[Judgement], list[Refused]]:
    """The verdicts in an agent's answers, `{"answers": [{"id", "notes": [{"note", "grade", "quote"}]}]}`, and what was refused.

    `read` gives a page, or None. A grade above 0 needs a quote that stands in it, blanks aside. Raises
    LabelError for text that is no such JSON; an answer, or a note of one, that has another form is refused by itself.
    """
    taken: list[Judgement] = []
    refused: list[Refused] = []
    asked = _asked(pool)
    for answer in _answers(text, name, asked):
        said = answer if isinstance(answer, Refused) else _judged(answer, asked[answer.prompt], read)
        if isinstance(said, Refused):
            refused.append(said)
        else:
            taken.append(said)
    return taken, refused


def _asked(pool: Pool) -> dict[str, _Asked]:
    """What is asked by the id of its prompt: that of the query, with a suffix for the second look."""
    suffix = _AGAIN
    while any(query.id.endswith(suffix) for query in pool.queries):
        suffix += _AGAIN
    again = frozenset(pool.again)
    first = {query.id: _Asked(query, 1, {item.page: item.name for item in query.items}) for query in pool.queries}
    second = {
        query.id + suffix: _Asked(query, 2, {item.page: item.name for item in query.items if item.name in again})
        for query in pool.queries
    }
    return {name: one for name, one in (first | second).items() if one.items}


def _judged(answer: _Answer, asked: _Asked, read: Callable[[str], JudgedPage | None]) -> Judgement | Refused:
    item = asked.items.get(answer.note)
    verdict = _verdict(answer.grade)
    if verdict is None:
        return Refused(answer.prompt, answer.note, f"the grade is {quoted(repr(answer.grade))}; allowed are 0, 1, 2 and null")
    if item is None:
        return Refused(answer.prompt, answer.note, "the pool does not ask for this note with this query")
    found = read(answer.note)
    if found is None:
        return Refused(answer.prompt, answer.note, "the note cannot be read")
    fault = _fault(answer.quote, found.text) if GRADES.get(verdict, 0) > 0 else None
    return Judgement(item, asked.look, verdict, found.sha256) if fault is None else Refused(answer.prompt, answer.note, fault)


def _verdict(grade: JsonValue) -> Verdict | None:
    if grade is None:
        return "cannot tell"
    return next((verdict for verdict, its in GRADES.items() if type(grade) is int and its == grade), None)


def _fault(quote: str, text: str) -> str | None:
    """Why a quote is no evidence, or None."""
    folded = _folded(quote)
    if folded not in _folded(text):
        return f"the note does not say {quoted(quote)}"
    is_whole = _WORD.search(folded) is not None and folded in map(_folded, _places(text))
    if display_width(folded) < QUOTE_MIN_CHARACTERS and not is_whole:
        return f"a grade above 0 needs a quote of {QUOTE_MIN_CHARACTERS} characters or more, or a whole line, cell or value"
    return None


def _places(text: str) -> Iterator[str]:
    """What stands in a place of its own: each line, what follows its sign, each cell, each value behind a name."""
    for line in text.split("\n"):
        yield line
        yield from _PLACE_END.split(line)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _answers(text: str, name: str, known: Container[str]) -> Iterator[_Answer | Refused]:
    try:
        answers = _items(Node(strict_json.loads(text), name, _ADVICE)["answers"])
    except ValueError as error:
        raise LabelError(f"{name}: {error}; {_ADVICE}") from None
    except UsageError as error:
        raise LabelError(str(error)) from None
    for number, answer in enumerate(answers, start=1):
        prompt, notes = _member(answer, "id", Node.text), _member(answer, "notes", _items)
        if prompt is None:
            yield Refused(f"answer number {number}", "", "it has no id")
        elif prompt not in known:
            yield Refused(prompt, "", "the pool has no prompt of this id")
        elif notes is None:
            yield Refused(prompt, "", "it has no list of notes")
        else:
            yield from (_answer(prompt, note) for note in notes)


def _answer(prompt: str, note: Node) -> _Answer | Refused:
    page, grade = _member(note, "note", Node.text), _member(note, "grade", lambda grade: grade)
    if page is None:
        return Refused(prompt, "", "one of its notes has no path")
    if grade is None:
        return Refused(prompt, page, "it has no grade")
    return _Answer(prompt, page, grade.value, _member(note, "quote", Node.text) or "")


def _member(node: Node, key: str, read: Callable[[Node], T]) -> T | None:
    """What `read` makes of the value under `key`; None where there is no such key, or a value of another kind."""
    try:
        return read(node[key])
    except UsageError:
        return None


def _items(node: Node) -> list[Node]:
    return list(node.items())
