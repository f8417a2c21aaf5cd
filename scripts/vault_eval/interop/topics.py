"""The texts of queries beside TREC judgments: `qid TAB text`, one a line, the qid as it stands in the qrels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from vault_eval.interop.carried import Part, kept, left_out
from vault_eval.interop.records import Topic, Written
from vault_eval.interop.tokens import first_token, name_of
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import normalise_query
from vault_eval.vault.paths import quoted

NAME = "topics"
CARRIES = frozenset({Part.QUERY})
# What is judged stands in the qrels, and is not lost here.
_BESIDE_IT = frozenset({Part.GRADES, Part.REFUSED, Part.PLACES, Part.PDF_PAGES})


def read_topics(text: str, place: Place, decode: Callable[[str], str] = name_of) -> Mapping[str, str]:
    """The text of each query by its id, which `decode` takes from its column.

    A line without an id, a TAB and a text, and an id that is there twice, are reported at the line.
    """
    texts: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        here = place.at(f"line {number}")
        column, tab, query = line.partition("\t")
        try:
            qid = decode(column)
        except ValueError:
            here.problem(f"the id {quoted(column)} is percent-encoded, but not in UTF-8; a per cent sign is written %25")
            continue
        if not tab or not qid.strip() or not query.strip():
            here.problem(f"found {quoted(line)}; a line is an id, a TAB and the text of the query")
        elif texts.setdefault(qid, query) is not query:
            here.problem(f"the id {quoted(qid)} is there twice; name each query once")
    return texts


def write_labels(topics: Sequence[Topic]) -> Written:
    """The texts of the queries that the judgments beside them hold."""
    lines = (f"{first_token(topic.id)}\t{normalise_query(topic.query)}\n" for topic in kept(topics, CARRIES))
    return Written({"topics.tsv": "".join(lines)}, left_out(topics, CARRIES | _BESIDE_IT))
