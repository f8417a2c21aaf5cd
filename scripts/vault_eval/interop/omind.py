"""Cases of omind: `query TAB file name`, one a line; a query on several lines expects each of their files."""

from __future__ import annotations

from vault_eval.interop.records import Judgment, Topic
from vault_eval.labels.problems import Place
from vault_eval.labels.rules import normalise_query, query_id
from vault_eval.vault.paths import quoted

NAME = "omind"
# A file name is no path: only a vault can tell which page it is.
NEEDS_VAULT = True


def read_labels(text: str, place: Place) -> tuple[Topic, ...]:
    """The queries, named by their texts; a file name is a link, which one page of the vault must answer to."""
    judged: dict[str, list[Judgment]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        here = place.at(f"line {number}")
        written, tab, name = line.rstrip("\r").partition("\t")
        query = normalise_query(written)
        if not line.strip():
            continue
        if not tab or not query or not name.strip():
            here.problem(f"found {quoted(line)}; a line is a query, a TAB and the name of a file")
        else:
            judged.setdefault(query, []).append(Judgment(f"[[{name.strip()}]]", where=here.where))
    return tuple(Topic(query_id(query), query, tuple(found), found[0].where) for query, found in judged.items())
