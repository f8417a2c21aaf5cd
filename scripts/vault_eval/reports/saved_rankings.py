"""The rankings of a saved report, which its means follow from, without the evidence beside them, which is most of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vault_eval.json_node import Node
from vault_eval.reports.document import QueryRow, RowStatus
from vault_eval.reports.saved_json import parsed
from vault_eval.reports.saved_rows import ROW_STATUSES, read_grades

_RANKED_PAGE = re.compile(rb'"page": ("[^"\\]*(?:\\.[^"\\]*)*"), "score": ')


@dataclass(frozen=True, slots=True)
class SavedRanking:
    """What one row says was expected and came back, and where it belongs."""

    id: str
    status: RowStatus
    category: str | None
    tags: tuple[str, ...]
    expected: tuple[str, ...]
    missing: tuple[str, ...]
    grades: Mapping[str, int]
    ranking: tuple[str, ...]  # pages, rank 1 first


def ranking_of(row: QueryRow) -> SavedRanking:
    """The ranking of a row that was read whole."""
    pages = tuple(ranked.page for ranked in row.ranking)
    return SavedRanking(row.id, row.status, row.category, row.tags, row.expected, tuple(row.missing), row.grades, pages)


def short_rows(rows: bytes, file: str) -> Iterator[Node]:
    """The rows of a run, whose JSON text is `rows`, each with a list of pages for its ranking and nothing after its places.

    Parsing the rest takes most of the time. Raises UsageError where they are not laid out as we write them.
    """
    # A quotation mark within text is escaped in JSON, so that neither a query nor a note can look like a key.
    return parsed(b"[" + b",".join(map(_short, rows.split(b"\n")[1:-1])) + b"]", file).items()


def read_ranking(row: Node) -> SavedRanking:
    """The ranking of a short row. Raises UsageError that names the place of the first value which is not as we write rows."""
    return SavedRanking(
        id=row["id"].text(),
        status=row["status"].one_of(ROW_STATUSES),
        category=row["category"].or_none(Node.text),
        tags=row["tags"].texts(),
        expected=row["expected"].texts(),
        missing=row["missing"].texts(),
        grades=read_grades(row),
        ranking=row["ranking"].texts(),
    )


def _short(row: bytes) -> bytes:
    start, _, rest = row.partition(b', "ranking": [')
    ranking, _, rest = rest.partition(b', "no_result": ')
    return b'%b, "ranking": [%b], "no_result": %b}' % (
        start,
        b",".join(_RANKED_PAGE.findall(ranking)),
        rest.partition(b', "diagnosis": ')[0],
    )
