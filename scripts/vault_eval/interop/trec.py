"""TREC: judgments `qid iter docno rel` and runs `qid Q0 docno rank score tag`, parted by blanks, `#` comments.

A name cannot hold white space, so names are percent-encoded: a blank is `%20`, a per cent sign `%25`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from vault_eval.errors import UsageError
from vault_eval.interop.carried import Part, best_grades, kept, left_out, loss
from vault_eval.interop.ranked import Scored, falling_scores, lost_scores, ranked
from vault_eval.interop.records import ForeignRun, Judgment, Topic, Written
from vault_eval.interop.tokens import WHOLE_NUMBER, columns_of, first_token, name_of, token
from vault_eval.labels.problems import Place
from vault_eval.vault.paths import page_name, quoted

NAME = "trec"
CARRIES = frozenset({Part.GRADES, Part.REFUSED})
_QRELS_COLUMNS = ("qid", "iter", "docno", "rel")
_RUN_COLUMNS = ("qid", "Q0", "docno", "rank", "score", "tag")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


class _LineError(ValueError):
    """A line that is not as the format says; the message lacks file and line."""


def read_labels(text: str, place: Place, decode: Callable[[str], str] = name_of) -> tuple[Topic, ...]:
    """The judgments of a qrels file, a topic a qid in the order of their first lines; the file holds no query texts.

    `decode` gives the name that a column holds. The second column means nothing. Reported at its line: another number of
    columns, a rel that is no whole number, a pair that is judged twice.
    """
    topics: dict[str, dict[str, Judgment]] = {}
    for number, line, columns in _lines(text):
        here = place.at(f"line {number}")
        try:
            qid, _, page, rel = _names(line, columns, _QRELS_COLUMNS, decode)
            judgment = Judgment(page, _whole(rel, "rel"), here.where)
        except _LineError as error:
            here.problem(str(error))
            continue
        first = topics.setdefault(qid, {}).setdefault(page, judgment)
        if first is not judgment:
            here.problem(f"{quoted(page)} is judged twice for {quoted(qid)}, first at {first.where}; judge it once")
    return tuple(Topic(qid, "", tuple(judged.values()), next(iter(judged.values())).where) for qid, judged in topics.items())


def write_labels(topics: Sequence[Topic]) -> Written:
    """The judgments as qrels, by page."""
    lines = (
        f"{first_token(topic.id)} 0 {token(page)} {grade}\n"
        for topic in kept(topics, CARRIES)
        for page, grade in best_grades(topic).items()
    )
    return Written({"qrels.trec": "".join(lines)}, left_out(topics, CARRIES))


def read_run(text: str, name: str) -> ForeignRun:
    """The rankings of a run file; `name` is how messages call it.

    Score decides, then the rank column where scores are equal, then path; the second column means nothing.
    Raises UsageError with the line for a wrong number of columns, a number that is none, a page that a query names twice,
    and a second tag, which is another run.
    """
    pages: dict[str, dict[str, Scored]] = {}
    tags: list[str] = []
    for number, line, columns in _lines(text):
        try:
            qid, _, page, rank, score, tag = _names(line, columns, _RUN_COLUMNS, name_of)
            found = Scored(page, _number(score), _whole(rank, "rank"))
            if pages.setdefault(qid, {}).setdefault(page, found) is not found:
                raise _LineError(f"{quoted(page)} is there twice for the query {quoted(qid)}; a ranking names a page once")
            if tag not in (tags := tags or [tag]):
                raise _LineError(f"the tag {quoted(tag)} after {quoted(tags[0])}: one file is one run; part them")
        except _LineError as error:
            raise UsageError(f"{name}: line {number}: {error}") from None
    return ForeignRun(tags[0] if tags else "", {qid: ranked(found.values()) for qid, found in pages.items()})


def write_run(run: ForeignRun) -> Written:
    """The rankings as a run file, with scores that fall strictly, so that every tool keeps their order."""
    tag = token(run.tag) or "vault-eval"
    lines = (
        f"{first_token(qid)} Q0 {token(page.page)} {rank} {score!r} {tag}\n"
        for qid, ranking in run.rankings.items()
        for rank, (page, score) in enumerate(zip(ranking, falling_scores(ranking), strict=True), start=1)
    )
    silent = [qid for qid, ranking in run.rankings.items() if not ranking]
    lost = loss("that nothing was found: it has no row, and averages over rows leave it out", silent, run.rankings)
    return Written({"run.trec": "".join(lines)}, (*lost, *lost_scores(run.rankings)))


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The lines that hold something: number from 1, text, columns. They end at LF only, since names may hold other line ends."""
    found = ((number, line, columns_of(line)) for number, line in enumerate(text.split("\n"), start=1))
    return ((number, line, columns) for number, line, columns in found if columns)


def _names(line: str, columns: list[str], names: tuple[str, ...], decode: Callable[[str], str]) -> list[str]:
    if len(columns) != len(names):
        allowed = f"a line is {' '.join(names)!r}, and a blank in a name is written %20"
        raise _LineError(f"{len(columns)} columns, {quoted(line)}; {allowed}")
    try:
        decoded = [decode(column) for column in columns]
    except ValueError:
        problem = f"{quoted(line)} is percent-encoded, but not in UTF-8"
        raise _LineError(f"{problem}; a per cent sign in a name is written %25") from None
    return [page_name(column) if name == "docno" else column for name, column in zip(names, decoded, strict=True)]


def _whole(text: str, column: str) -> int:
    if WHOLE_NUMBER.fullmatch(text) is None:
        raise _LineError(f"{column} is {quoted(text)}; it must be a whole number")
    return int(text)


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text) is None or abs(float(text)) == float("inf"):
        raise _LineError(f"score is {quoted(text)}; it must be a finite number")
    return float(text)
