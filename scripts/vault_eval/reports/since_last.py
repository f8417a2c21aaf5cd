"""Gained and lost since the last kept report of the same labels and searcher: said after every evaluation, kept in no file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vault_eval.comparison.compare import PRIMARY, compare
from vault_eval.comparison.records import Comparison, Outcome, QueryChange
from vault_eval.errors import VaultEvalError
from vault_eval.metrics.catalogue import mean_metrics
from vault_eval.reports import comparison_findings, comparison_sentences, wording
from vault_eval.reports.compared import compared_query, side
from vault_eval.reports.document import Report
from vault_eval.reports.last_report import last_side

QUERIES_SHOWN_MAX = 6
ID_SHOWN_MAX_CHARACTERS = 60
_WORDS: dict[Outcome, str] = {"better": "gained", "worse": "lost"}


@dataclass(frozen=True, slots=True)
class SinceLast:
    """The first run of a report against the same run of the last report, by the primary metric alone."""

    comparison: Comparison

    @property
    def title(self) -> str:
        """When the last one was measured, and the word for what changed."""
        measured = wording.started_text(self.comparison.baseline.started)
        return f"Since the last report ({measured}): {self.comparison.verdict.word}"

    def sentences(self) -> Iterator[str]:
        """The effect, gained, lost, and what else is different; plain text that may hold text of a vault."""
        effect = comparison_sentences.effect(self.comparison)
        if effect is None:
            yield from self.comparison.verdict.reasons
            return
        yield effect
        for outcome, word in _WORDS.items():
            changes = comparison_findings.by_size(self.comparison, outcome)
            if changes:
                yield f"{word} {len(changes):,}: {_listed(changes)}"
        yield from comparison_sentences.warnings(self.comparison)


def since_last(report: Report, reports_folder: str) -> SinceLast | None:
    """What changed since the last report below `reports_folder`; None where there is none to compare with.

    Call it before this report is kept there. Nothing is written, and whatever is wrong with an old file is passed over.
    """
    if not report.runs:
        return None
    metric = next(one for one in mean_metrics(report.runs[0].depth) if one.name == PRIMARY)
    before = last_side(report, reports_folder, metric)
    if before is None:
        return None
    run = report.runs[0]
    after = side(report, run, [compared_query(row, [metric]) for row in run.rows])
    try:
        return SinceLast(compare(before, [after])[0])
    except VaultEvalError:
        return None


def _listed(changes: tuple[QueryChange, ...]) -> str:
    shown = [
        f"{wording.cut(change.id, ID_SHOWN_MAX_CHARACTERS)} (rank {comparison_findings.ranks_text(change)})"
        for change in changes[:QUERIES_SHOWN_MAX]
    ]
    rest = len(changes) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")
