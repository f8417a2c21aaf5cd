"""Section-hit, page-hit and doc-hit: whether a page was found where in it the label says.

Only labels that name a heading, a block (section) or a page of a PDF (page) count; over the first ten pages, each by its
first-ranked chunk. Of several places of a label one is enough.
"""

from __future__ import annotations

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.judged_query import Grain, JudgedQuery
from vault_eval.metrics.metric import Metric


def place_hit(query: JudgedQuery, grain: Grain) -> float | None:
    """1 when some gold place of this grain was hit, else 0; None without one, or where the searcher does not tell."""
    hits = [place.is_hit for place in query.places if place.grain == grain]
    if True in hits:
        return 1.0
    return None if not hits or None in hits else 0.0


def doc_hit(query: JudgedQuery) -> float | None:
    """1 when the page of some gold place is among the first ten, wherever in it the hit lies; None without gold places."""
    if not query.places:
        return None
    found = query.ranked[:METRIC_CUTOFF_PAGES]
    return float(any(place.page in found for place in query.places))


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """section_hit, page_hit and doc_hit."""
    return (
        Metric(
            "section_hit",
            "share of queries whose label names a heading or block, with a page among the first 10 found in that section",
            lambda query: place_hit(query, "section"),
            540,
            binary=True,
            over="section",
            needs="where in a note something was found",
        ),
        Metric(
            "page_hit",
            "share of queries whose label names a page of a PDF, with the PDF among the first 10 found on that page",
            lambda query: place_hit(query, "page"),
            541,
            binary=True,
            over="page",
            needs="where in a note something was found",
        ),
        Metric(
            "doc_hit",
            "share of queries whose label names a place within a page, with that page among the first 10, wherever in it",
            doc_hit,
            542,
            binary=True,
            over="place",
        ),
    )
