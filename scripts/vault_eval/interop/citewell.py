"""JSON Lines of citewell: `{"id", "query", "relevant": [{"source", "page" | "pages"}], "collection"?, "tags"?}`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from vault_eval.interop.carried import Part, kept, left_out
from vault_eval.interop.conversion import topics_of
from vault_eval.interop.records import Topic, Written
from vault_eval.labels.formats import LabelText, jsonl
from vault_eval.labels.problems import Place
from vault_eval.labels.wikilinks import PageNames
from vault_eval.strict_json import JsonValue, dumps
from vault_eval.vault.targets import parse_target

NAME = "citewell"
CARRIES = frozenset({Part.QUERY, Part.NEGATIVE, Part.TAGS, Part.COLLECTION, Part.PDF_PAGES})


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The queries: it is a label format of our own too, `jsonl`, and read as that."""
    return topics_of(jsonl.read(LabelText(place.file, text, None, PageNames(list)), place).labels)


def write_labels(topics: Sequence[Topic]) -> Written:
    """The queries, one a line; pages of a PDF that follow one another in a label stand together, any of them counts."""
    lines = [dumps(_line(topic)) for topic in kept(topics, CARRIES)]
    return Written({"queries.jsonl": "".join(f"{line}\n" for line in lines)}, left_out(topics, CARRIES))


def _line(topic: Topic) -> dict[str, JsonValue]:
    line: dict[str, JsonValue] = {"id": topic.id, "query": topic.query, "relevant": list(_sources(topic))}
    if topic.collection is not None:
        line["collection"] = topic.collection
    if topic.tags:
        line["tags"] = list(topic.tags)
    return line


def _sources(topic: Topic) -> Iterator[JsonValue]:
    # A section or block is written as its note, which is then named once.
    places = dict.fromkeys((one.page, one.pdf_page) for one in (parse_target(judged.target) for judged in topic.relevant))
    for (source, paged), group in groupby(places, lambda place: (place[0], place[1] is not None)):
        pages: list[JsonValue] = [page for _, page in group]
        if not paged:
            yield {"source": source}
        else:
            yield {"source": source, "page": pages[0]} if len(pages) == 1 else {"source": source, "pages": pages}
