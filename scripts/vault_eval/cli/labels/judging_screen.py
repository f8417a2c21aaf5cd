"""The screen of a judge: the query, the section with its line numbers, one letter for an answer."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator

from vault_eval.authoring.judged_page import JudgedPage
from vault_eval.authoring.judgements import Judgement, Verdict, append_judgement, read_judgements
from vault_eval.authoring.pool import Item, Pool, PooledQuery
from vault_eval.reports.escaping import for_terminal

_ANSWERS: dict[str, Verdict] = {"y": "yes", "p": "partly", "n": "no", "l": "later", "c": "cannot tell"}
_KEYS = "y yes · p partly · n no · l later · c cannot tell · w whole note · b back · q stop"
# Lines of a section beside which the query and the keys still stand on a small screen.
_SECTION_MAX_LINES = 16


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
        while place is not None:
            _, query, item = self._looks[place]
            page = self._read(item.page)
            answer = _answer(f"[{place + 1} of {len(self._looks)}]", query, item, page)
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


def _answer(place: str, query: PooledQuery, item: Item, page: JudgedPage | None) -> str:
    """The key that was pressed, `q` at the end of the input."""
    whole = False
    while True:
        _print(_shown(place, query, item, page, whole=whole))
        print(f"{_KEYS}\n> ", end="", flush=True)
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1] if line else "q"
        if answer in _ANSWERS or answer in ("b", "q"):
            return answer
        whole = whole or answer == "w"


def _shown(place: str, query: PooledQuery, item: Item, page: JudgedPage | None, *, whole: bool) -> Iterator[str]:
    yield from ("", f"{place}  query: {query.query}")
    if query.need:
        yield f"need: {query.need}"
    yield " › ".join((item.page, *item.heading))
    if page is None:
        yield "  (the note cannot be read now)"
        return
    lines = (page.text if whole else page.section(item.heading)).split("\n")
    first, last = (1, len(lines)) if whole or item.lines is None else item.lines
    end = last if whole else min(last, first + _SECTION_MAX_LINES - 1)
    yield from (f"{number:>6}  {lines[number - 1]}" for number in range(first, min(end, len(lines)) + 1))
    if end < last:
        yield f"        … {last - end} more lines of this section; w shows the whole note"


def _print(lines: Iterator[str]) -> None:
    width = shutil.get_terminal_size().columns
    for line in lines:
        shown = for_terminal(line)
        print("\n".join(shown[start : start + width] for start in range(0, len(shown), width)) or "")
