"""The benchmark fixture of qmd: `{"queries": [{"id", "query", "type", "description", "expected_files", "expected_in_top_k"}]}`.

qmd matches a file by the end of its path, we by the whole path, so its figures may be higher than ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vault_eval.interop.carried import Part, best_grades, kept, left_out, loss
from vault_eval.interop.fields import Fields, top_object
from vault_eval.interop.records import Judgment, Topic, Written
from vault_eval.labels.problems import Place
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.strict_json import JsonValue, dumps

NAME = "qmd"
CARRIES = frozenset({Part.QUERY, Part.CATEGORY, Part.NOTE})
_KIND = re.compile(r"(lex|vec|hyde|intent):\s*")


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The queries; `type` is their category, `description` their note. `lex:` and its like before a query are dropped."""
    top = top_object(text, place)
    if top is None:
        return ()
    collection = top.text_or_none("collection")
    return tuple(_topic(entry, collection) for entry in top.objects("queries"))


def write_labels(topics: Sequence[Topic]) -> Written:
    """The fixture; name the collection when it is run: `qmd bench FILE -c NAME`."""
    queries: list[JsonValue] = [
        {
            "id": topic.id,
            "query": topic.query,
            "type": topic.category or "",
            "description": topic.note or "",
            "expected_files": [page for page, grade in best_grades(topic).items() if grade > 0],
            "expected_in_top_k": METRIC_CUTOFF_PAGES,
        }
        for topic in kept(topics, CARRIES)
    ]
    fixture: dict[str, JsonValue] = {"description": "", "version": 1, "queries": queries}
    structured = [topic.id for topic in kept(topics, CARRIES) if _KIND.match(topic.query)]
    lost = loss("that the text is one text: qmd takes what stands before its colon for a kind of search", structured, topics)
    return Written({"fixture.json": dumps(fixture, spread=2) + "\n"}, (*left_out(topics, CARRIES), *lost))


def _topic(entry: Fields, collection: str | None) -> Topic:
    return Topic(
        entry.text("id"),
        _query(entry),
        tuple(map(Judgment, entry.texts("expected_files"))),
        entry.place.where,
        category=entry.text_or_none("type"),
        note=entry.text_or_none("description"),
        collection=collection,
    )


def _query(entry: Fields) -> str:
    """The text that is searched for; a query of several lines is several searches in one, which no other searcher knows."""
    lines = [line for line in entry.text("query").split("\n") if line.strip()]
    if len(lines) > 1:
        entry.place.problem(f"query holds {len(lines)} searches, one a line; write one text")
    return _KIND.sub("", lines[0], count=1) if lines and _KIND.match(lines[0]) else "".join(lines)
