"""The words of every rendering: labels of metrics, numbers, times, statuses and causes, so that no two renderings differ.

Everything returned is plain text that may hold text of a vault; the rendering escapes it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from vault_eval.diagnosis.causes import CAUSES
from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.index.terms import is_run
from vault_eval.metrics.latency import LatencySummary
from vault_eval.metrics.score import MetricValue
from vault_eval.reports.document import Counts, Coverage, QueryRow, RowStatus
from vault_eval.retrievers.protocol import Counterfactual

NOTHING = "–"
SOME_MAX = 12
EXCLUDED = "Excluded is not missed: these queries are in no mean."

_COMPARE = "whether they differ beyond chance: python3 scripts/vault-eval.py compare"
_FAMILIES = {"mrr": "MRR", "ndcg": "nDCG", "ap": "AP"}
_WHOLE_NAMES = {
    "no_result_accuracy": "no-result accuracy",
    "section_hit": "section-hit",
    "page_hit": "page-hit",
    "doc_hit": "doc-hit",
    "usable_candidate_recall": "usable-candidate recall",
    "raw_candidate_recall": "raw-candidate recall",
    "no_result_auroc": "no-result AUROC",
    "coverage_auroc": "coverage AUROC",
    "false_answer_rate": "false-answer rate",
}
STATUS_NOTES = {
    "no data": "no data: no query of that kind was answered, so there is nothing to average",
    "unavailable": "unavailable: this searcher hides what the figure needs",
    "unreliable": "unreliable: some queries ended in an error or hid what is needed; a mean of the rest would mislead",
}
ROW_STATUSES: dict[RowStatus, str] = {
    "scored": "scored",
    "negative": "negative",
    "missing-gold": "excluded: missing gold",
    "skipped": "excluded: skipped",
    "error": "error",
}
_STARTED = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\dZ")


def cut(text: str, limit: int) -> str:
    """The text, or its first `limit` - 1 characters and an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 query`, `1,200 queries`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def queries(number: int) -> str:
    """`1 query`, `12 queries`."""
    return counted(number, "query", "queries")


def verdict_sentence(saved: str | None = None) -> str:
    """The command that says whether runs differ beyond chance; `saved` is where the report was written, quoted for a shell."""
    if saved is None or saved.lower().endswith((".md", ".html")):  # those are for people: nothing reads them again
        return f"{_COMPARE} FOLDER, that of the saved report"
    return f"{_COMPARE} {shlex.quote(saved)}"


def some(words: Sequence[str]) -> str:
    """The words with commas between them, the first twelve of a longer list."""
    rest = len(words) - SOME_MAX
    return ", ".join(words[:SOME_MAX]) + (f" and {rest} more" if rest > 0 else "")


def metric_label(name: str) -> str:
    """`MRR@10` for `mrr@10`, `no-result accuracy` for `no_result_accuracy`; a name without an own label loses its underscores."""
    if name in _WHOLE_NAMES:
        return _WHOLE_NAMES[name]
    family, at, cutoff = name.partition("@")
    return _FAMILIES.get(family, family.replace("_", " ")) + at + cutoff


def value_text(metric: MetricValue) -> str:
    """Three decimals where the value may be relied on, else the status in words."""
    return f"{metric.value:.3f}" if metric.status == "ok" and metric.value is not None else metric.status


def interval_text(metric: MetricValue) -> str:
    """`0.364 – 0.829`, or a dash where there is no value to be relied on."""
    if metric.status != "ok" or metric.interval is None:
        return NOTHING
    return f"{metric.interval.low:.3f} – {metric.interval.high:.3f}"


def score_text(score: float | None) -> str:
    """A searcher's own score with three decimals, or a dash where it gives none."""
    return NOTHING if score is None else f"{score:.3f}"


def setting_text(value: str | float | bool | None) -> str:
    """One setting of a searcher: yes, no, `not set`, else as it is."""
    return {None: "not set", True: "yes", False: "no"}[value] if value is None or isinstance(value, bool) else str(value)


def milliseconds(value: float) -> str:
    """A time that keeps about three digits; never a bare zero for what was too quick to tell."""
    if value < 0.01:
        return "< 0.01"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def p95_note(summary: LatencySummary) -> str:
    """`(= slowest of 14)`: what p95 only is below 20 times; else empty."""
    return f"(= slowest of {summary.n})" if summary.p95_is_slowest else ""


def times_bare(cold: LatencySummary, interpreter: LatencySummary | None) -> str | None:
    """How a cold query compares with starting Python for nothing; None where that was not measured."""
    if interpreter is None or interpreter.p50 <= 0:
        return None
    return f"{cold.p50 / interpreter.p50:.1f} times a bare Python start ({milliseconds(interpreter.p50)} ms)"


def started_text(started: str) -> str:
    """`2026-03-01 09:30 UTC` for `2026-03-01T09:30:00Z`; anything else as it stands."""
    found = _STARTED.fullmatch(started)
    return f"{found[1]} {found[2]} UTC" if found else started


def coverage_sentence(coverage: Coverage) -> str:
    """How many of the pages that are expected a search could return at all."""
    if not coverage.gold_pages:
        return "no gold pages: these labels expect no page"
    return (
        f"{counted(coverage.gold_pages, 'gold page')}: {coverage.exist:,} exist, {coverage.in_scope:,} in scope, "
        f"{coverage.indexed:,} indexed, {coverage.fresh:,} fresh"
    )


def counts_sentence(counts: Counts) -> str:
    """What became of the queries that were asked."""
    negative = f"{counts.negative:,} negative" + (" (no page is expected)" if counts.negative else "")
    failed = f", {counts.error:,} ended in an error" if counts.error else ""
    return f"{queries(counts.queries)}: {counts.scored:,} scored, {negative}{failed}"


def excluded_sentence(counts: Counts) -> str | None:
    """What was left out of every mean and why; None where nothing was."""
    kinds = (
        (counts.missing_gold, f"for missing gold ({counted(counts.missing_pages, 'page')})"),
        (counts.skipped, "skipped by a label"),
        (counts.other_collection, "of another collection or split"),
    )
    shown = [f"{number:,} {why}" for number, why in kinds if number]
    return f"{', '.join(shown)}. {EXCLUDED}" if shown else None


def why(diagnosis: Diagnosis) -> str:
    """The cause of a miss in words, with what was seen."""
    cause = CAUSES[diagnosis.cause]
    if diagnosis.detail and cause.detail_says_all:
        return diagnosis.detail
    return f"{cause.meaning}: {diagnosis.detail}" if diagnosis.detail else cause.meaning


def heading_text(heading: tuple[str, ...]) -> str:
    """The headings above a chunk, outermost first."""
    return " › ".join(heading)


def outcome(row: QueryRow, cutoff: int) -> str:
    """What became of one query, in a few words."""
    if row.status == "negative":
        return "found nothing, as it should" if not row.ranking else "found something, should not have"
    missed = row.misses(cutoff)
    if missed is None:
        return ROW_STATUSES[row.status]
    if not missed:
        return "found" if len(row.expected) == 1 else f"found all {len(row.expected)}"
    return "missed" if len(row.expected) == 1 else f"missed {len(missed)} of {len(row.expected)}"


def writable(tried: Sequence[Counterfactual]) -> tuple[Counterfactual, ...]:
    """Those whose term is a word that somebody could write; runs cut from scripts without blanks stay in the JSON alone."""
    return tuple(one for one in tried if not is_run(one.term))
