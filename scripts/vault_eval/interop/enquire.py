"""JSON Lines of enquire-mcp: `{"id"?, "query", "relevant": [path], "category"?}`; blank lines and `//` lines mean nothing."""

from __future__ import annotations

from collections.abc import Sequence

from vault_eval.interop.carried import Part, best_grades, ids_shown, kept, left_out, loss
from vault_eval.interop.fields import lines_of_objects
from vault_eval.interop.records import Judgment, Topic, Written
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import normalise_query, query_id
from vault_eval.strict_json import dumps

NAME = "enquire-mcp"
CARRIES = frozenset({Part.QUERY, Part.NEGATIVE, Part.CATEGORY})


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The queries; without an id a query is named by its text. `[]` is a negative here, and a warning: there it scores 0."""
    topics = []
    for line in lines_of_objects(text, place):
        query = line.text("query")
        name = line.text("id") if "id" in line.values else query_id(normalise_query(query))
        judgments = tuple(Judgment(page) for page in line.texts("relevant"))
        topics.append(Topic(name, query, judgments, line.place.where, category=line.text_or_none("category")))
    negatives = [topic.id for topic in topics if not topic.judgments]
    if negatives:
        place.warn(f"no page is expected in {ids_shown(negatives)}; enquire-mcp scores such a query 0, here it is a negative")
    return tuple(topics)


def write_labels(topics: Sequence[Topic]) -> Written:
    """The queries, one a line; a negative is written, and named, since enquire-mcp scores it 0."""
    carried = kept(topics, CARRIES)
    lines = []
    for topic in carried:
        pages = [page for page, grade in best_grades(topic).items() if grade > 0]
        category = {} if topic.category is None else {"category": topic.category}
        lines.append(dumps({"id": topic.id, "query": topic.query, "relevant": pages, **category}))
    negatives = [topic.id for topic in carried if not topic.relevant]
    scored = loss("that a query without pages is a negative: it is scored 0 there", negatives, topics)
    return Written({"queries.jsonl": "".join(f"{line}\n" for line in lines)}, (*left_out(topics, CARRIES), *scored))
