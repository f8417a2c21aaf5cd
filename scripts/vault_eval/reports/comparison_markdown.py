"""A comparison as Markdown for a pull request: the verdict, one table, and which queries got better or worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_eval.comparison.records import Comparison, Outcome
from vault_eval.reports import comparison_findings as found
from vault_eval.reports import comparison_sentences as said
from vault_eval.reports import wording
from vault_eval.reports.escaping import for_markdown
from vault_eval.reports.markdown_table import markdown_table

QUERIES_SHOWN_MAX = 20
UNPAIRED_SHOWN_MAX = 20
TEXT_SHOWN_MAX_CHARACTERS = 400
FIGURES_HEADER = ["figure", "baseline", "candidate", "difference", "95 % interval", "n", "better", "worse", "same"]


def comparison_markdown(comparisons: Sequence[Comparison]) -> str:
    """One or several candidates against one baseline as Markdown ended by LF, for GitHub and Obsidian, text escaped."""
    lines = [f"# Did it help: search in {for_markdown(comparisons[0].baseline.vault_name)}"]
    if len(comparisons) > 1:
        lines += ["", *_candidates(comparisons)]
    for comparison in comparisons:
        lines += ["", *_comparison(comparison)]
    return "\n".join([*lines, "", said.scope()]) + "\n"


def _candidates(comparisons: Sequence[Comparison]) -> Iterator[str]:
    label = wording.metric_label(comparisons[0].primary)
    names = found.candidate_names(comparisons)
    rows = [
        (for_markdown(name), one.verdict.word, *found.primary_cells(one)) for name, one in zip(names, comparisons, strict=True)
    ]
    yield from markdown_table(["candidate", "verdict", f"{label} difference", "95 % interval", "n"], rows)


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield from (f"## {_title(comparison)}", "", *_sides(comparison))
    warnings = said.warnings(comparison)
    if warnings:
        yield from ("", "> [!warning]", *(f"> - {_text(warning)}" for warning in warnings))
    yield from _verdict(comparison)
    yield from _figures(comparison)
    yield from _categories(comparison)
    for outcome in found.OUTCOME_TITLES:
        yield from _queries(comparison, outcome)
    yield from _unpaired(comparison)


def _title(comparison: Comparison) -> str:
    return f"{comparison.verdict.word[0].upper()}{comparison.verdict.word[1:]}"


def _sides(comparison: Comparison) -> Iterator[str]:
    for side in found.compared_sides(comparison):
        yield f"- {side.role}: {for_markdown(side.name)}, measured {for_markdown(side.measured)}"
    settings = found.setting_changes(comparison)
    if settings:
        yield f"- changed: {for_markdown(wording.some(settings))}"


def _verdict(comparison: Comparison) -> Iterator[str]:
    effect = said.effect(comparison)
    if effect is not None:
        yield from ("", f"**{for_markdown(effect)}**")
    yield ""
    yield from (f"- {_text(sentence)}" for sentence in said.sentences(comparison))


def _figures(comparison: Comparison) -> Iterator[str]:
    figures = found.compared_figures(comparison)
    if figures:
        yield from ("", *markdown_table(FIGURES_HEADER, [one.cells for one in figures]))


def _categories(comparison: Comparison) -> Iterator[str]:
    categories = found.changed_categories(comparison)
    if categories:
        rows = [(for_markdown(one.name), one.delta, one.n, one.wins, one.losses) for one in categories]
        difference = f"{wording.metric_label(comparison.primary)} difference"
        header = ["category (described, not tested)", difference, "n", "better", "worse"]
        yield from ("", *markdown_table(header, rows))


def _queries(comparison: Comparison, outcome: Outcome) -> Iterator[str]:
    changed = found.changed_queries(comparison, outcome)
    if changed:
        shown = changed[:QUERIES_SHOWN_MAX]
        of_all = "" if len(shown) == len(changed) else f" ({len(shown)} of {len(changed)})"
        rows = [(for_markdown(one.id), one.ranks, one.delta, _text(one.query)) for one in shown]
        yield from ("", f"### {found.OUTCOME_TITLES[outcome]}{of_all}", "")
        yield from markdown_table(["query", "rank", "difference", "text"], rows, words=1)


def _unpaired(comparison: Comparison) -> Iterator[str]:
    unpaired = comparison.unpaired
    if unpaired:
        shown = unpaired[:UNPAIRED_SHOWN_MAX]
        of_all = "" if len(shown) == len(unpaired) else f" ({len(shown)} of {len(unpaired)})"
        yield from ("", f"### Not paired, in no difference{of_all}", "")
        yield from (f"- **{for_markdown(one.id)}**: {_text(one.reason)}" for one in shown)


def _text(text: str) -> str:
    return for_markdown(wording.cut(text, TEXT_SHOWN_MAX_CHARACTERS))
