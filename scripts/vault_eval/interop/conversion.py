"""Between the records of foreign formats and our labels; what comes in is held against every rule of our own label files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from vault_eval.interop.carried import ids_shown
from vault_eval.interop.records import Judgment, Topic
from vault_eval.labels.entry import Entry, read_entries
from vault_eval.labels.formats.native import entry_shape
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import EXTENDED_SCHEMA, report_duplicates, usable_target
from vault_eval.model import Label, Target
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import TargetError, parse_target, target_text

_GRADE_MAX = 2


def topics_of(labels: Sequence[Label]) -> tuple[Topic, ...]:
    """The labels as records: each gold place with its grade, 1 where it has none, then the other graded places."""
    return tuple(_topic(label) for label in labels)


def labels_of(topics: Sequence[Topic], place: Place, resolve: Callable[[str], Target] = parse_target) -> tuple[Label, ...]:
    """The records as labels of the file at `place`; grade 1 is what gold without a grade means, and is not written.

    Every fault is reported at its line or query: a target that is no page, a query without a text, an id used twice, and all
    that our own label files are held against. What only changes its form is a warning.
    """
    before = place.problems.count
    entries = list(_entries(topics, place, resolve))
    _warn_of_changes(topics, place)
    if not entries and place.problems.count > before:
        return ()
    labels = read_entries(entries, place, entry_shape(EXTENDED_SCHEMA))
    report_duplicates((label, place.at(label.place)) for label in labels)
    return labels


def with_texts(topics: Sequence[Topic], texts: Mapping[str, str], place: Place) -> tuple[Topic, ...]:
    """The topics with the texts of their queries; texts that nothing is judged for are counted in a warning."""
    judged = {topic.id for topic in topics}
    unjudged = [name for name in texts if name not in judged]
    if unjudged:
        place.warn(f"queries that have a text and no judgment are left out: {ids_shown(unjudged)}")
    return tuple(replace(topic, query=texts.get(topic.id, topic.query)) for topic in topics)


def _topic(label: Label) -> Topic:
    gold = {target_text(target): label.grades.get(target_text(target), 1) for target in label.gold}
    judged = gold | {target: grade for target, grade in label.grades.items() if target not in gold}
    return Topic(
        id=label.id,
        query=label.query,
        judgments=tuple(Judgment(target, grade) for target, grade in judged.items()),
        category=label.category,
        tags=label.tags,
        skip_reason=label.skip_reason,
        split=label.split,
        origin=label.origin,
        note=label.note,
        collection=label.collection,
    )


def _entries(topics: Sequence[Topic], place: Place, resolve: Callable[[str], Target]) -> Iterator[Entry]:
    for topic in topics:
        before = place.problems.count
        here = place.at(topic.where or f"query {quoted(topic.id)}")
        if not topic.query.strip():
            here.problem(f"query {quoted(topic.id)} has no text; name a file of lines 'ID TAB TEXT' with --topics")
        grades = _grades(topic, here, resolve)
        if place.problems.count == before:
            yield Entry(_entry(topic, grades), topic.where)


def _grades(topic: Topic, place: Place, resolve: Callable[[str], Target]) -> dict[str, int]:
    """The grade of each place, as our labels have grades; a place that cannot be gold, or is there twice, is reported."""
    grades: dict[str, int] = {}
    for judgment in topic.judgments:
        here = place.at(judgment.where) if judgment.where else place
        try:
            target = target_text(usable_target(judgment.target, resolve))
        except TargetError as error:
            here.problem(str(error))
            continue
        if target in grades:
            here.problem(f"{quoted(judgment.target)} is judged twice for {quoted(topic.id)}; judge it once")
        grades[target] = min(max(judgment.grade, 0), _GRADE_MAX)
    return grades


def _entry(topic: Topic, grades: Mapping[str, int]) -> dict[str, JsonValue]:
    entry: dict[str, JsonValue] = {"id": topic.id, "query": topic.query}
    entry["expected_pages"] = [target for target, grade in grades.items() if grade > 0]
    extras: dict[str, JsonValue] = {
        "category": topic.category,
        "skip_reason": topic.skip_reason,
        "tags": list(topic.tags) or None,
        "split": topic.split,
        "origin": topic.origin,
        "note": topic.note,
        "collection": topic.collection,
        "grades": {target: grade for target, grade in grades.items() if grade != 1} or None,
    }
    return entry | {key: value for key, value in extras.items() if value is not None}


def _warn_of_changes(topics: Sequence[Topic], place: Place) -> None:
    capped = [topic.id for topic in topics if any(one.grade > _GRADE_MAX for one in topic.judgments)]
    if capped:
        place.warn(f"grades above {_GRADE_MAX} count as {_GRADE_MAX}, the highest there is, in {ids_shown(capped)}")
    raised = [topic.id for topic in topics if any(one.grade < 0 for one in topic.judgments)]
    if raised:
        place.warn(f"grades below 0 count as 0, judged not relevant, in {ids_shown(raised)}")
    negative = [topic.id for topic in topics if topic.judgments and not topic.relevant]
    if negative:
        place.warn(f"nothing that was judged is relevant, so no page is expected, in {ids_shown(negative)}: check each")
