"""A comparison as one HTML file: no network, no script, light and dark, for the keyboard, a screen reader and paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_eval.comparison.records import Comparison, QueryChange, Side, Unpaired
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import comparison_findings as found
from vault_eval.reports import comparison_plots, wording
from vault_eval.reports import comparison_sentences as said
from vault_eval.reports.escaping import obsidian_link
from vault_eval.reports.html_page import page_template

TEMPLATE = "comparison.html.jinja"
STYLE = "comparison.css"
# Over all candidates: each opens to twenty links, and a browser should open the file at once.
QUERIES_SHOWN_MAX = 200
UNPAIRED_SHOWN_MAX = 200


@dataclass(frozen=True, slots=True)
class RankedLink:
    """One page of a ranking; `link` opens it in Obsidian."""

    page: str
    link: str
    is_expected: bool


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A changed query with both rankings, cut at ten."""

    line: found.ChangedQuery
    before: tuple[RankedLink, ...]
    after: tuple[RankedLink, ...]


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """One comparison as the template lays it out."""

    name: str  # of the candidate, unlike that of any other
    sides: tuple[found.ComparedSide, found.ComparedSide]
    settings: tuple[str, ...]
    warnings: tuple[str, ...]
    word: str
    effect: str | None
    balance: str | None
    primary: tuple[str, str, str]
    sentences: tuple[str, ...]
    bars: tuple[comparison_plots.DifferenceBar, ...]
    slopes: tuple[comparison_plots.SlopeLine, ...]
    changed: int
    figures: tuple[found.ComparedFigure, ...]
    categories: tuple[found.ChangedCategory, ...]
    queries: tuple[tuple[str, tuple[ShownChange, ...], int], ...]  # title, those shown, how many more there are
    unpaired: tuple[Unpaired, ...]
    unpaired_rest: int


def comparison_html(comparisons: Sequence[Comparison]) -> str:
    """One or several candidates against one baseline as an HTML document ended by LF.

    Raises MissingPackageError where jinja2 is not installed.
    """
    named = zip(found.candidate_names(comparisons), comparisons, strict=True)
    shown_max = max(1, QUERIES_SHOWN_MAX // (len(found.OUTCOME_TITLES) * len(comparisons)))
    return (
        page_template(TEMPLATE, style=STYLE).render(
            vault=comparisons[0].baseline.vault_name,
            metric=wording.metric_label(comparisons[0].primary),
            pages=[_page(name, comparison, shown_max) for name, comparison in named],
            plot=comparison_plots,
            words=wording,
            scope=said.scope(),
        )
        + "\n"
    )


def _page(name: str, comparison: Comparison, shown_max: int) -> ComparisonPage:
    changes = comparison.changes if said.effect(comparison) is not None else ()
    return ComparisonPage(
        name=name,
        sides=found.compared_sides(comparison),
        settings=found.setting_changes(comparison),
        warnings=said.warnings(comparison),
        word=comparison.verdict.word,
        effect=said.effect(comparison),
        balance=said.balance(comparison),
        primary=found.primary_cells(comparison),
        sentences=said.sentences(comparison),
        bars=comparison_plots.difference_bars(changes),
        slopes=comparison_plots.slope_lines(changes),
        changed=sum(change.outcome != "same" for change in changes),
        figures=found.compared_figures(comparison),
        categories=found.changed_categories(comparison),
        queries=tuple(
            _queries(title, found.changed_queries(comparison, outcome), comparison, shown_max)
            for outcome, title in found.OUTCOME_TITLES.items()
        ),
        unpaired=comparison.unpaired[:UNPAIRED_SHOWN_MAX],
        unpaired_rest=max(0, len(comparison.unpaired) - UNPAIRED_SHOWN_MAX),
    )


def _queries(
    title: str, changed: Sequence[found.ChangedQuery], comparison: Comparison, shown_max: int
) -> tuple[str, tuple[ShownChange, ...], int]:
    changes = {change.id: change for change in comparison.changes}
    expected = {query.id: frozenset(query.pages) for query in comparison.baseline.queries}
    shown = tuple(_shown(line, changes[line.id], expected[line.id], comparison.candidate) for line in changed[:shown_max])
    return title, shown, len(changed) - len(shown)


def _shown(line: found.ChangedQuery, change: QueryChange, expected: frozenset[str], side: Side) -> ShownChange:
    before, after = (
        tuple(RankedLink(page, obsidian_link(side.vault_name, page), page in expected) for page in ranking[:METRIC_CUTOFF_PAGES])
        for ranking in change.rankings
    )
    return ShownChange(line, before, after)
