"""JSON Lines of claude-memory: `{"q", "gold": [path]}`; the query makes the id."""

from __future__ import annotations

from vault_eval.interop.fields import Fields, lines_of_objects
from vault_eval.interop.records import Judgment, Topic
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import normalise_query, query_id

NAME = "claude-memory"


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The queries, one a line, named by their texts."""
    return tuple(map(_topic, lines_of_objects(text, place)))


def _topic(line: Fields) -> Topic:
    query = line.text("q")
    return Topic(query_id(normalise_query(query)), query, tuple(map(Judgment, line.texts("gold"))), line.place.where)
