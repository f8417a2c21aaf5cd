"""Our own JSON `{"schema_version": 1, "queries": [{"query", "expect": [path]}]}`, in which the query makes the id."""

from __future__ import annotations

from collections.abc import Sequence

from vault_eval.interop.carried import Part, kept, left_out, loss
from vault_eval.interop.records import Topic, Written
from vault_eval.labels.rules import query_id
from vault_eval.strict_json import JsonValue, dumps

NAME = "expect"
OWN = True
CARRIES = frozenset({Part.QUERY, Part.NEGATIVE, Part.PLACES, Part.PDF_PAGES})


def write_labels(topics: Sequence[Topic]) -> Written:
    """The queries; of several with one text the first is written, since the text names a query there."""
    first: dict[str, Topic] = {}
    for topic in kept(topics, CARRIES):
        first.setdefault(topic.query, topic)
    queries: list[JsonValue] = [
        {"query": one.query, "expect": [place.target for place in one.relevant]} for one in first.values()
    ]
    document = dumps({"schema_version": 1, "queries": queries}, spread=2) + "\n"
    twins = [topic.id for topic in kept(topics, CARRIES) if first[topic.query] is not topic]
    renamed = [topic.id for topic in first.values() if topic.id != query_id(topic.query)]
    lost = (
        *loss("the query, which another id has too: it is left out", twins, topics),
        *loss("ids: a query is named by its text", renamed, topics),
    )
    return Written({"queries.json": document}, (*left_out(topics, CARRIES), *lost))
