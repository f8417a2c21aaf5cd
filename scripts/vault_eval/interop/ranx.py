"""JSON of ranx and pytrec_eval: judgments `{qid: {docid: grade}}` and runs `{qid: {docid: score}}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vault_eval.interop.carried import Part, best_grades, kept, left_out
from vault_eval.interop.fields import FirstFault, top_object
from vault_eval.interop.ranked import Scored, falling_scores, lost_scores, ranked
from vault_eval.interop.records import ForeignRun, Judgment, Topic, Written
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import kind_of
from vault_eval.strict_json import JsonValue, dumps
from vault_eval.vault.paths import page_name, quoted

NAME = "ranx"
CARRIES = frozenset({Part.GRADES, Part.REFUSED})


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The judgments, a topic a query id; the file holds no query texts. A grade that is no whole number is reported."""
    return tuple(
        Topic(qid, "", tuple(Judgment(page, int(grade)) for page, grade in judged.items()), f"query {quoted(qid)}")
        for qid, judged in _numbers(text, place, int)
    )


def write_labels(topics: Sequence[Topic]) -> Written:
    """The judgments by page; ranx refuses a query without any, so one is left out."""
    qrels = {topic.id: best_grades(topic) for topic in kept(topics, CARRIES)}
    return Written({"qrels.json": dumps(qrels, spread=1) + "\n"}, left_out(topics, CARRIES))


def read_run(text: str, name: str) -> ForeignRun:
    """The rankings: score descending, equal ones in the order of the file, as ranx takes them; the run has no name.

    Raises UsageError that names file and query for what is no number, and a page twice in any Unicode form.
    """
    rankings = {
        qid: ranked(Scored(page, score, rank) for rank, (page, score) in enumerate(scores.items()))
        for qid, scores in _numbers(text, Place(FirstFault(), name), float)
    }
    return ForeignRun("", rankings)


def write_run(run: ForeignRun) -> Written:
    """The rankings, best first, with scores that fall strictly."""
    scores = {
        qid: {page.page: score for page, score in zip(ranking, falling_scores(ranking), strict=True)}
        for qid, ranking in run.rankings.items()
    }
    return Written({"run.json": dumps(scores, spread=1) + "\n"}, lost_scores(run.rankings))


def _numbers(text: str, place: Place, number: type[int | float]) -> Iterator[tuple[str, dict[str, float]]]:
    top = top_object(text, place)
    for qid, value in top.values.items() if top is not None else ():
        here = place.at(f"query {quoted(qid)}")
        if isinstance(value, dict):
            yield qid, _by_page(value, here, number)
        else:
            here.problem(f"it is {kind_of(value)}; it must be an object of page and number")


def _by_page(values: Mapping[str, JsonValue], place: Place, number: type[int | float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for written, value in values.items():
        page = page_name(written)
        if isinstance(value, bool) or not isinstance(value, (int, number)):
            allowed = "a whole number" if number is int else "a number"
            shown = str(value)[:20] if isinstance(value, float) else kind_of(value)
            place.problem(f"{quoted(written)} has {shown}; it must be {allowed}")
        elif page in found:
            place.problem(f"{quoted(written)} is there twice, in two Unicode forms; write it once")
        else:
            found[page] = value
    return found
