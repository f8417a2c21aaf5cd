"""The golden set of obsidian-hybrid-search: `[{"id", "query", "relevant_paths", "partial_paths", "category", "notes"}]`."""

from __future__ import annotations

from vault_eval.interop.fields import list_of_objects
from vault_eval.interop.records import Judgment, Topic
from vault_eval.labels.problems import Place

NAME = "obsidian-hybrid-search"
_GRADES = {"relevant_paths": 2, "partial_paths": 1}


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The queries; a relevant path has grade 2, a partial one, which counts half there, grade 1."""
    topics = []
    for entry in list_of_objects(text, place):
        judged = [Judgment(path, grade) for key, grade in _GRADES.items() for path in entry.texts_or_none(key)]
        if "relevant_paths" not in entry.values:
            entry.place.problem("relevant_paths is missing; write [] if no page is expected")
        topics.append(
            Topic(
                entry.text("id"),
                entry.text("query"),
                tuple(judged),
                entry.place.where,
                category=entry.text_or_none("category"),
                note=entry.text_or_none("notes"),
            )
        )
    return tuple(topics)
