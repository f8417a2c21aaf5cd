"""A comparison as a person reads it in a terminal: what may be said, the effect with its interval, what could be seen, then p."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_eval.comparison.records import Comparison, Outcome
from vault_eval.reports import comparison_findings as found
from vault_eval.reports import comparison_sentences as said
from vault_eval.reports import wording
from vault_eval.reports.text_layout import bounded, table, wrapped

QUERIES_SHOWN_MAX, QUERIES_SHOWN_LEAST = 10, 3  # over all candidates, and of each at least
QUERY_SHOWN_MAX_CHARACTERS = 120
NAME_SHOWN_MAX_CHARACTERS = 160
CATEGORIES_SHOWN_MAX = 20
UNPAIRED_SHOWN_MAX = 10
WARNINGS_SHOWN_MAX = 10
CANDIDATES_SHOWN_MAX = 20
_CUT_OFF = "… cut here: the rest is in the JSON, --format json"


def comparison_text(comparisons: Sequence[Comparison], *, width: int = 100) -> str:
    """One or several candidates against one baseline as plain text ended by LF, in fewer than 30,000 characters.

    Text of the vault is escaped: no line can move a cursor or colour a terminal.
    """
    lines: list[str] = list(wrapped(f"vault-eval compare · {comparisons[0].baseline.vault_name}", width))
    if len(comparisons) > 1:
        lines += ["", *_candidates(comparisons, width)]
    shown_max = max(QUERIES_SHOWN_LEAST, QUERIES_SHOWN_MAX // len(comparisons))
    for comparison in comparisons:
        lines += ["", *_comparison(comparison, width, shown_max)]
    return bounded(lines, ["", *wrapped(said.scope(), width)], _CUT_OFF)


def _candidates(comparisons: Sequence[Comparison], width: int) -> Iterator[str]:
    label = wording.metric_label(comparisons[0].primary)
    baseline = wording.cut(comparisons[0].baseline.name, NAME_SHOWN_MAX_CHARACTERS)
    yield from wrapped(f"{len(comparisons)} candidates against {baseline}", width)
    names = found.candidate_names(comparisons)
    rows = [(name, *found.primary_cells(one), one.verdict.word) for name, one in zip(names, comparisons, strict=True)]
    yield from table(["", f"{label} difference", "95 % interval", "n", "verdict"], rows[:CANDIDATES_SHOWN_MAX])
    yield from _more(len(comparisons) - CANDIDATES_SHOWN_MAX, "candidate")


def _comparison(comparison: Comparison, width: int, shown_max: int) -> Iterator[str]:
    for side in found.compared_sides(comparison):
        name = wording.cut(side.name, NAME_SHOWN_MAX_CHARACTERS)
        yield from wrapped(f"{name} · {side.measured}", width, first=f"{side.role:<9}  ")
    settings = found.setting_changes(comparison)
    if settings:
        yield from wrapped(wording.some(settings), width, first=f"{'changed':<9}  ")
    warnings = said.warnings(comparison)
    for warning in warnings[:WARNINGS_SHOWN_MAX]:
        yield from wrapped(warning, width, first="! ")
    yield from _more(len(warnings) - WARNINGS_SHOWN_MAX, "warning")
    yield from ("", *_verdict(comparison, width))
    yield from _figures(comparison)
    yield from _categories(comparison)
    for outcome in found.OUTCOME_TITLES:
        yield from _queries(comparison, outcome, width, shown_max)
    yield from _unpaired(comparison, width)


def _verdict(comparison: Comparison, width: int) -> Iterator[str]:
    yield f"Verdict: {comparison.verdict.word}"
    effect = said.effect(comparison)
    for sentence in (*([effect] if effect else []), *said.sentences(comparison)):
        yield from wrapped(sentence, width, first="  · ")


def _figures(comparison: Comparison) -> Iterator[str]:
    figures = found.compared_figures(comparison)
    if figures:
        header = ["", "baseline", "candidate", "difference", "95 % interval", "n", "better", "worse", "same"]
        yield from ("", *table(header, [one.cells for one in figures]))


def _categories(comparison: Comparison) -> Iterator[str]:
    categories = found.changed_categories(comparison)
    if categories:
        label = wording.metric_label(comparison.primary)
        rows = [(one.name, one.delta, one.n, one.wins, one.losses) for one in categories[:CATEGORIES_SHOWN_MAX]]
        yield from ("", "By category (described, not tested)", *table(["", f"{label} difference", "n", "better", "worse"], rows))
        yield from _more(len(categories) - CATEGORIES_SHOWN_MAX, "category", "categories")


def _queries(comparison: Comparison, outcome: Outcome, width: int, shown_max: int) -> Iterator[str]:
    changed = found.changed_queries(comparison, outcome)
    if not changed:
        return
    yield from ("", f"{found.OUTCOME_TITLES[outcome]} ({len(changed):,})")
    for one in changed[:shown_max]:
        query = wording.cut(one.query, QUERY_SHOWN_MAX_CHARACTERS)
        yield from wrapped(f"{wording.cut(one.id, NAME_SHOWN_MAX_CHARACTERS)}: {query}", width, first="  ", indent="      ")
        yield from wrapped(f"first expected page at rank {one.ranks} ({one.delta})", width, first="      ")
        if one.first[0] != one.first[1]:
            before, after = (wording.cut(page, NAME_SHOWN_MAX_CHARACTERS) for page in one.first)
            yield from wrapped(f"on top: {before} → {after}", width, first="      ")
    yield from _more(len(changed) - shown_max, "query", "queries")


def _unpaired(comparison: Comparison, width: int) -> Iterator[str]:
    unpaired = comparison.unpaired
    if unpaired:
        yield from ("", f"Not paired, in no difference ({len(unpaired):,})")
    for one in unpaired[:UNPAIRED_SHOWN_MAX]:
        name = wording.cut(one.id, NAME_SHOWN_MAX_CHARACTERS)
        yield from wrapped(f"{name}: {one.reason}", width, first="  ", indent="      ")
    yield from _more(len(unpaired) - UNPAIRED_SHOWN_MAX, "query", "queries")


def _more(number: int, one: str, many: str | None = None) -> Iterator[str]:
    if number > 0:
        yield f"  … and {wording.counted(number, one, many)} more, with --format json"
