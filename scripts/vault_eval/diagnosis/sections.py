"""Gold places within a page: whether the chunk that brought the page into the ranking lies where the label says.

A heading is compared as a person reads it (link text, no emphasis), in NFC and case-folded, with every heading above the
chunk, so that a chunk below the gold heading counts. `A#B` names B somewhere below A. What Obsidian leaves out when it completes
a link to a heading is a blank on both sides. A block is the chunk whose lines hold its id. A page of a PDF is the chunk under
the heading `page N`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.judged_query import JudgedPlace
from vault_eval.model import Label, RankedPage, Ranking, Target
from vault_eval.vault.targets import target_text

PageText = Callable[[str], "str | None"]  # the text of a page now, decoded; None where it cannot be read

# A link cannot hold them: its completion writes a blank instead.
_NOT_IN_LINKS = re.compile(r"[:#|^\\]|%%|\[\[|\]\]")
# In a quotation or a list too; what follows backticks on their line holds none (CommonMark 4.5).
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)")


def tells_sections(rankings: Iterable[Ranking]) -> bool:
    """Whether a searcher says where in a page its hits lie; one that found nothing is taken at its word."""
    hits = [ranked for ranking in rankings for ranked in ranking.pages[:1]]
    return not hits or any(ranked.heading or ranked.lines is not None for ranked in hits)


def judged_places(label: Label, ranking: Ranking, text: PageText, *, is_told: bool) -> tuple[JudgedPlace, ...]:
    """The label's gold places within pages, each with whether the page was found there among the first ten."""
    places = [target for target in label.gold if target.heading or target.block or target.pdf_page is not None]
    if not places:
        return ()
    found = {ranked.page: ranked for ranked in ranking.pages[:METRIC_CUTOFF_PAGES]}
    return tuple(
        JudgedPlace(
            target_text(target),
            target.page,
            "section" if target.pdf_page is None else "page",
            _is_hit(target, found.get(target.page), text) if is_told else None,
        )
        for target in places
    )


def lies_under(gold: str, headings: Sequence[str]) -> bool:
    """Whether a chunk with these headings above it, outermost first, lies at or below the heading `gold`."""
    if _compared(gold) in map(_compared, headings):  # in which a `#` may be a part of its name
        return True
    path = map(_linked, headings)
    return all(name in path for name in map(_linked, gold.split("#")))


def compared_place(target: Target) -> Target:
    """The target as places of one page are compared: two are the same place where these are equal."""
    if target.block is not None:
        return replace(target, block=target.block.casefold())
    return target if target.heading is None else replace(target, heading="#".join(map(_linked, target.heading.split("#"))))


def block_line(text: str, block: str) -> int | None:
    """The line, from 1, that ends with `^block`, code in fences aside; None where none does."""
    marked = re.compile(rf"(?:^|\s)\^{re.escape(block)}\s*$", re.IGNORECASE)
    return next((number for number, line in outside_fences(text.split("\n")) if marked.search(line)), None)


def outside_fences(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines that are no code between fences of backticks or tildes, each with its number from 1."""
    fence = ""
    for number, line in enumerate(lines, 1):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
        elif not fence:
            yield number, line


def _is_hit(target: Target, ranked: RankedPage | None, text: PageText) -> bool | None:
    if ranked is None:
        return False
    if target.block is None:
        return lies_under(target.heading or f"page {target.pdf_page}", ranked.heading)
    if ranked.lines is None:
        return None
    line = block_line(text(target.page) or "", target.block)
    return line is not None and ranked.lines[0] <= line <= ranked.lines[1]


def _compared(heading: str) -> str:
    from vault_eval.index.markdown_blocks import readable  # here: most labels name no section

    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", readable(heading)).casefold())


def _linked(heading: str) -> str:
    """The heading as it can stand in a link, for comparing."""
    return " ".join(_NOT_IN_LINKS.sub(" ", _compared(heading)).split())
