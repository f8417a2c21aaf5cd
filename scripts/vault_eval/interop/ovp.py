"""JSON Lines of ovp's `qrel/v1`, one a query.

`{"id", "question", "language", "class", "relevant": [{"surface", "id", "grade", "why"}], "no_answer", "confidence"}`
"""

from __future__ import annotations

from vault_eval.interop.carried import ids_shown
from vault_eval.interop.fields import Fields, lines_of_objects
from vault_eval.interop.records import Judgment, Topic
from vault_eval.labels.problems import Place
from vault_eval.vault.paths import quoted

NAME = "ovp"
_UNREVIEWED = "needs_review"


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The queries whose judgments somebody reviewed; the others are left out and named in a warning.

    `class` is the category, `language` a tag. A query that has no answer and relevant pages is reported.
    """
    lines = list(lines_of_objects(text, place))
    ids = [line.text("id") for line in lines if _needs_review(line)]
    if ids:
        place.warn(f"queries that still need review are left out, {len(ids):,} of {len(lines):,}: {ids_shown(ids)}")
    return tuple(_topic(line) for line in lines if not _needs_review(line))


def _needs_review(line: Fields) -> bool:
    return line.values.get("confidence") == _UNREVIEWED


def _topic(line: Fields) -> Topic:
    name = line.text("id")
    judgments = tuple(Judgment(one.text("id"), one.whole("grade"), line.place.where) for one in line.objects("relevant"))
    if (line.values.get("no_answer") is True) == bool(judgments):
        line.place.problem(f"{quoted(name)}: either no_answer is true or relevant names a page; mend one of them")
    language = line.text_or_none("language")
    return Topic(
        name,
        line.text("question"),
        judgments,
        line.place.where,
        category=line.text_or_none("class"),
        tags=() if language is None else (language,),
    )
