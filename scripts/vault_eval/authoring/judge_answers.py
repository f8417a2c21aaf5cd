"""What an agent is asked to judge, and its answers: taken only where the quote stands in the note, whatever the note says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vault_eval import strict_json
from vault_eval.authoring.judged_page import JudgedPage
from vault_eval.authoring.judgements import GRADES, Judgement, Verdict
from vault_eval.authoring.pool import Pool, PooledQuery
from vault_eval.errors import LabelError
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

_AGAIN = "~again"
# Shorter, a quote stands in every note.
QUOTE_MIN_CHARACTERS = 8


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
    """An answer that was not taken, and why."""

    prompt: str
    note: str
    reason: str


def prompts(pool: Pool) -> tuple[Prompt, ...]:
    """One a query, then one a query with the notes that are shown again."""
    again = frozenset(pool.again)
    first = [_prompt(query, query.id, frozenset(item.name for item in query.items)) for query in pool.queries]
    second = [_prompt(query, query.id + _AGAIN, again) for query in pool.queries]
    return tuple(prompt for prompt in (*first, *second) if prompt.notes)


def read_answers(
    text: str, name: str, pool: Pool, read: Callable[[str], JudgedPage | None]
) -> tuple[list[Judgement], list[Refused]]:
    """The verdicts in an agent's answers, `{"answers": [{"id", "notes": [{"note", "grade", "quote"}]}]}`, and what was refused.

    `read` gives a page, or None. A grade above 0 needs a quote that stands in it, blanks aside. Raises
    LabelError for text that is no such JSON.
    """
    taken: list[Judgement] = []
    refused: list[Refused] = []
    for prompt, note, grade, quote in _answers(text, name):
        item, look = _item(pool, prompt, note)
        found = read(note) if item is not None else None
        verdict = _verdict(grade)
        reason = _fault(item, verdict, quote, found) if verdict is not None else _no_grade(grade)
        if reason is None and item is not None and found is not None and verdict is not None:
            taken.append(Judgement(item, look, verdict, found.sha256))
        else:
            refused.append(Refused(prompt, note, reason or "the note cannot be read"))
    return taken, refused


def _prompt(query: PooledQuery, name: str, items: frozenset[str]) -> Prompt:
    return Prompt(name, query.query, query.need, tuple(sorted(item.page for item in query.items if item.name in items)))


def _item(pool: Pool, prompt: str, note: str) -> tuple[str | None, int]:
    is_again = prompt.endswith(_AGAIN)
    asked = prompt.removesuffix(_AGAIN)
    items = (item for query in pool.queries if query.id == asked for item in query.items if item.page == note)
    return next((item.name for item in items if not is_again or item.name in pool.again), None), 2 if is_again else 1


def _verdict(grade: JsonValue) -> Verdict | None:
    if grade is None:
        return "cannot tell"
    return next((verdict for verdict, its in GRADES.items() if type(grade) is int and its == grade), None)


def _no_grade(grade: JsonValue) -> str:
    return f"the grade is {quoted(repr(grade))}; allowed are 0, 1, 2 and null"


def _fault(item: str | None, verdict: Verdict, quote: str, found: JudgedPage | None) -> str | None:
    if item is None:
        return "the pool does not ask for this note with this query"
    if found is None:
        return "the note cannot be read"
    is_relevant = GRADES.get(verdict, 0) > 0
    if is_relevant and len(_folded(quote)) < QUOTE_MIN_CHARACTERS:
        return f"a grade above 0 needs a quote of {QUOTE_MIN_CHARACTERS} characters or more"
    if is_relevant and _folded(quote) not in _folded(found.text):
        return f"the note does not say {quoted(quote)}"
    return None


def _folded(text: str) -> str:
    return " ".join(text.split())


def _answers(text: str, name: str) -> Iterator[tuple[str, str, JsonValue, str]]:
    try:
        content = strict_json.loads(text)
    except ValueError as error:
        raise LabelError(f"{name}: {error}") from None
    answers = content.get("answers") if isinstance(content, dict) else None
    if not isinstance(answers, list):
        raise LabelError(f'{name}: write {{"answers": [{{"id": …, "notes": [{{"note": …, "grade": …, "quote": …}}]}}]}}')
    for answer in answers:
        prompt, notes = (answer.get("id"), answer.get("notes")) if isinstance(answer, dict) else (None, None)
        if not isinstance(prompt, str) or not isinstance(notes, list):
            raise LabelError(f"{name}: an answer without its id or its notes")
        for note in notes:
            page = note.get("note") if isinstance(note, dict) else None
            if not isinstance(note, dict) or not isinstance(page, str) or "grade" not in note:
                raise LabelError(f"{name}: answer {quoted(prompt)}: a note without its path or its grade")
            quote = note.get("quote")
            yield prompt, page, note["grade"], quote if isinstance(quote, str) else ""
