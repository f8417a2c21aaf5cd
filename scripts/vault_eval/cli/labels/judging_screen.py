"""The screen of a judge: the query, the section with its line numbers, one letter for an answer."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from vault_eval.authoring.judged_page import JudgedPage
from vault_eval.authoring.judgements import MEANING, Judgement, Verdict, append_judgement, read_judgements
from vault_eval.authoring.pool import Item, Pool, PooledQuery
from vault_eval.cli.labels.screen_rows import rows

_ANSWERS: dict[str, Verdict] = {"y": "yes", "p": "partly", "n": "no", "l": "later", "c": "cannot tell"}
_KEYS = "y yes · p partly · n no · l later · c cannot tell · w whole · b back · q stop"
# Fences, rules and blank lines hold nothing to read.
_WORD = re.compile(r"\w")
_MEANING = " · ".join(f"{verdict}: {meaning}" for verdict, meaning in MEANING.items())
# Rows of a section beside which the query, the keys and what they mean still stand on a small screen.
_SECTION_MAX_ROWS = 14


class JudgingScreen:
    """Asks for one look after the other, and keeps each verdict before it asks for the next."""

    def __init__(self, pool: Pool, kept: str, read: Callable[[str], JudgedPage | None]) -> None:
        self._kept = kept
        self._read = read
        items = pool.items
        self._looks = [(1, *pair) for pair in items.values()] + [(2, *items[name]) for name in pool.again]

    def ask_all(self) -> None:
        """From the first look that was not judged, or was put off, until the last one or `q`."""
        place = next(self._open(0), None)
        meaning = [_MEANING]
        while place is not None:
            _, query, item = self._looks[place]
            page = self._read(item.page)
            answer = _answer(f"[{place + 1} of {len(self._looks)}]", query, item, page, meaning)
            meaning = []
            if answer == "q":
                return
            if answer == "b":
                place = max(0, place - 1)
            else:
                self._keep(place, _ANSWERS[answer], page)
                place = next(self._open(place + 1), None)

    def _open(self, start: int) -> Iterator[int]:
        """The places from `start` on without a verdict; "later" is none, but is not asked again in the same round."""
        said = {(one.item, one.look): one.verdict for one in read_judgements(self._kept)}
        for place in range(start, len(self._looks)):
            look, _, item = self._looks[place]
            if said.get((item.name, look), "later") == "later":
                yield place

    def _keep(self, place: int, verdict: Verdict, page: JudgedPage | None) -> None:
        look, _, item = self._looks[place]
        append_judgement(self._kept, Judgement(item.name, look, verdict, page.sha256 if page is not None else None))


def _answer(place: str, query: PooledQuery, item: Item, page: JudgedPage | None, meaning: Sequence[str]) -> str:
    """The key that was pressed, `q` at the end of the input."""
    whole = False
    while True:
        width = shutil.get_terminal_size().columns
        need = [f"need: {query.need}"] if query.need else []
        above = (f"{place}  query: {query.query}", *need, " › ".join((item.page, *item.heading)))
        shown = (*(rows(line, width) for line in above), _note(item, page, width, whole=whole))
        keys = (rows(line, width) for line in (*meaning, _KEYS))
        print("\n".join(["", *chain(*shown, *keys), "> "]), end="", flush=True)
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1] if line else "q"
        if answer in _ANSWERS or answer in ("b", "q"):
            return answer
        whole = whole or answer == "w"


def _note(item: Item, page: JudgedPage | None, width: int, *, whole: bool) -> Iterator[str]:
    """The section, or all of the note, with its line numbers; the section only as far as it fits beside the rest."""
    if page is None or not page.text.strip():
        yield "  (the note cannot be read now)" if page is None else "  (the note holds no text)"
        return
    lines, first = _lines(item, page, whole=whole)
    left = _SECTION_MAX_ROWS
    for number, line in enumerate(lines, start=first):
        numbered = list(rows(line, width, first=f"{number:>6}  "))
        if not whole and len(numbered) > left:
            yield from islice(numbered, left)
            yield f"        … to line {first + len(lines) - 1}; w shows the whole note"
            return
        left -= len(numbered)
        yield from numbered


def _lines(item: Item, page: JudgedPage, *, whole: bool) -> tuple[list[str], int]:
    """What is to be read, and the number of its first line: all of the note too where the section holds nothing to read."""
    if not whole:
        lines = page.section(item.heading).split("\n")
        first, last = item.lines or (1, len(lines))
        if any(map(_WORD.search, lines[first - 1 : last])):
            return lines[first - 1 : last], first
    return page.text.split("\n"), 1
