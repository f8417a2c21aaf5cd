"""One query of a report, as a person reads it in a terminal or in a note: why it was missed, what came instead, what helps."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.reports.document import QueryRow, Report, RunReport
from vault_eval.reports.escaping import for_markdown, for_terminal
from vault_eval.reports.markdown_table import markdown_table
from vault_eval.reports.query_findings import Part, Point, query_findings
from vault_eval.reports.text_layout import bounded, table, wrapped

_CUT_OFF = "… cut here: --format json prints the rest"
_UNTOLD = "Which words of the query each page matched is not in the report; this shows it:"


def query_text(report: Report, run: RunReport, row: QueryRow, *, explain: str | None, width: int = 100) -> str:
    """`row` of `run` as plain text ended by LF, in fewer than 30,000 characters; `explain` is the command that tells more.

    That command is printed where the row does not tell of any page which words it matched. Lines are wrapped at `width`
    characters. Text of the vault is escaped: no line can move a cursor or colour a terminal.
    """
    found = query_findings(report, run, row, explain)
    lines = [*wrapped(found.measured, width), "", *wrapped(found.title, width), *wrapped(found.outcome, width, first="  ")]
    for part in found.parts:
        lines += ["", *_part(part, width)]
    closing = ["", *wrapped(_UNTOLD, width), f"  {for_terminal(found.command)}"] if found.command else []
    return bounded(lines, closing, _CUT_OFF)


def query_markdown(report: Report, run: RunReport, row: QueryRow, *, explain: str | None) -> str:
    """The same as Markdown ended by LF, with `obsidian://open` links, text escaped."""
    found = query_findings(report, run, row, explain)
    lines = [f"# {for_markdown(found.title)}", "", for_markdown(found.outcome), "", for_markdown(found.measured)]
    for part in found.parts:
        lines += ["", f"## {part.title}", "", *_markdown_part(part)]
    if found.command:
        lines += ["", _UNTOLD, "", f"    {for_terminal(found.command)}"]
    return "\n".join(lines) + "\n"


def _part(part: Part, width: int) -> Iterator[str]:
    yield part.title
    for point in part.points:
        first = "  " if point.rank is None else f"  {point.rank:>2}. "
        yield from wrapped(f"{point.page} · {point.said}" if point.page else point.said, width, first=first, indent="      ")
        for one in point.more:
            yield from wrapped(one, width, first="    · ")
    for words in part.tables:
        yield from ("", *wrapped(f"Word by word: {words.page}", width, first="  "))
        yield from table(words.header, words.rows)


def _markdown_part(part: Part) -> Iterator[str]:
    for point in part.points:
        mark, named = "-" if point.rank is None else f"{point.rank}.", f"{_linked(point)} · " if point.page else ""
        yield f"{mark} {named}{for_markdown(point.said)}"
        yield from (f"    - {for_markdown(one)}" for one in point.more)
    for words in part.tables:
        yield from ("", f"Word by word: {for_markdown(words.page)}", "")
        yield from markdown_table(words.header, [[*map(for_markdown, row)] for row in words.rows])


def _linked(point: Point) -> str:
    return f"[{for_markdown(point.page)}]({point.link})" if point.link else for_markdown(point.page)
