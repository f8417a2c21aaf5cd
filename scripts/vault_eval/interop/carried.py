"""What a format holds of our labels, and the sentences about what it does not: nothing is dropped without a word."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Sized
from enum import Enum

from vault_eval.interop.records import Topic
from vault_eval.limits import LABEL_PROBLEMS_SHOWN_MAX
from vault_eval.vault.paths import is_markdown, quoted
from vault_eval.vault.targets import split_fragment


class Part(Enum):
    """A part of a label that some formats cannot hold; the value says what a query loses without it."""

    QUERY = "the text of the query (--to topics writes it)"
    NEGATIVE = "that no page is expected: the query is left out"
    SKIP_REASON = "the reason to skip it: the query is left out"
    GRADES = "grades above 1: every relevant page counts the same"
    REFUSED = "pages judged not relevant"
    PLACES = "sections and blocks: the note stands for them"
    PDF_PAGES = "pages of a PDF: the whole document stands for them"
    CATEGORY = "category"
    TAGS = "tags"
    SPLIT = "split"
    COLLECTION = "collection"
    ORIGIN = "origin"
    NOTE = "note"


_USES: dict[Part, Callable[[Topic], bool]] = {
    Part.QUERY: lambda topic: bool(topic.query),
    Part.NEGATIVE: lambda topic: not topic.relevant,
    Part.SKIP_REASON: lambda topic: topic.skip_reason is not None,
    Part.GRADES: lambda topic: any(one.grade > 1 for one in topic.judgments),
    Part.REFUSED: lambda topic: len(topic.relevant) < len(topic.judgments),
    Part.PLACES: lambda topic: any(_is_within(one.target, in_note=True) for one in topic.judgments),
    Part.PDF_PAGES: lambda topic: any(_is_within(one.target, in_note=False) for one in topic.judgments),
    Part.CATEGORY: lambda topic: topic.category is not None,
    Part.TAGS: lambda topic: bool(topic.tags),
    Part.SPLIT: lambda topic: topic.split is not None,
    Part.COLLECTION: lambda topic: topic.collection is not None,
    Part.ORIGIN: lambda topic: topic.origin is not None,
    Part.NOTE: lambda topic: topic.note is not None,
}
# A tool that cannot hold these would count the query as an ordinary one, so the query goes.
_WHOLE_QUERY = (Part.SKIP_REASON, Part.NEGATIVE)


def kept(topics: Iterable[Topic], carries: Collection[Part]) -> list[Topic]:
    """The topics that a format can hold at all, which `carries` these parts."""
    return [topic for topic in topics if _reason_to_go(topic, carries) is None]


def left_out(topics: Sequence[Topic], carries: Collection[Part]) -> tuple[str, ...]:
    """A sentence for each part that is used and not carried, with the number of queries and the first of their ids."""
    sentences: list[str] = []
    for part, uses in _USES.items():
        if part not in carries:
            asked = topics if part in _WHOLE_QUERY else kept(topics, carries)
            losing = [one.id for one in asked if _reason_to_go(one, carries) in (None, part) and uses(one)]
            sentences += loss(part.value, losing, asked)
    return tuple(sentences)


def loss(what: str, ids: Sequence[str], queries: Sized) -> tuple[str, ...]:
    """The sentence about what some of the queries lose; none where there is none."""
    if not ids:
        return ()
    named = "" if len(ids) == len(queries) > 1 else f": {ids_shown(ids)}"
    return (f"{what}; {len(ids):,} of {len(queries):,} queries{named}",)


def ids_shown(ids: Sequence[str]) -> str:
    """The first ids, quoted, and how many more there are."""
    shown = ", ".join(map(quoted, ids[:LABEL_PROBLEMS_SHOWN_MAX]))
    rest = len(ids) - LABEL_PROBLEMS_SHOWN_MAX
    return shown if rest <= 0 else f"{shown} and {rest:,} more"


def best_grades(topic: Topic) -> dict[str, int]:
    """The best grade of each page of the topic, places within it folded together, in the order given."""
    grades: dict[str, int] = {}
    for judgment in topic.judgments:
        page = split_fragment(judgment.target)[0]
        grades[page] = max(judgment.grade, grades.get(page, judgment.grade))
    return grades


def _is_within(target: str, *, in_note: bool) -> bool:
    page, fragment = split_fragment(target)
    return fragment is not None and is_markdown(page) == in_note


def _reason_to_go(topic: Topic, carries: Collection[Part]) -> Part | None:
    return next((part for part in _WHOLE_QUERY if part not in carries and _USES[part](topic)), None)
