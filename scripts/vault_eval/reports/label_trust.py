"""What a report says of its own labels: only what was found, a sentence each, the same in every rendering."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum

from vault_eval.diagnosis.label_findings import FindingKind, LabelFindings
from vault_eval.diagnosis.query_terms import STRATA
from vault_eval.metrics.metric import CUTOFFS
from vault_eval.metrics.score import MetricValue
from vault_eval.reports import wording
from vault_eval.reports.document import QueryRow, Report, RunReport
from vault_eval.retrievers.spec import FREE_BASELINES

TITLE = "Can the labels be trusted"
EXAMPLES_MAX = 2
COMMANDS_MAX = 10
ID_SHOWN_MAX_CHARACTERS = 24
PAGE_SHOWN_MAX_CHARACTERS = 48
EASY_METRIC = "mrr@10"
_STRATUM_METRIC = "recall@5"
_TIE_DIFFERENCE_MIN = 0.005
_NO_DATA = MetricValue(None, 0, "no data")
_GRADES = "grade 0 (does not help), 1 (a part of the answer) or 2 (answers)"

# What belongs to the measurement, not to the vault, and what may have made a label wrong: said before all else.
_SERIOUS: frozenset[FindingKind] = frozenset(
    ("label_note", "label_copy", "saved_report", "fixture_file", "edited_since_labelled")
)
# Serious kinds first. Of each kind: what one page and several pages are, and what to make of it.
_SAYS: dict[FindingKind, tuple[str, str, str]] = {
    "label_note": ("a label note is in the index", "label notes are in the index", "run index again, which leaves them out"),
    "label_copy": (
        "a page holds several queries word for word and is expected by none",
        "pages hold several queries word for word and are expected by none",
        "copies of the labels answer their own queries: move or exclude them",
    ),
    "saved_report": (
        "a saved report is among the notes",
        "saved reports are among the notes",
        "it quotes the queries: keep reports outside the vault",
    ),
    "fixture_file": (
        "a page of the shipped example is among the notes",
        "pages of the shipped example are among the notes",
        "exclude them: they are not your notes",
    ),
    "edited_since_labelled": (
        "an expected page was edited since it was labelled",
        "expected pages were edited since they were labelled",
        "look whether they still answer the query",
    ),
    "query_in_text": (
        "a query stands word for word in a page it expects",
        "queries stand word for word in a page they expect",
        "any search finds those",
    ),
    "query_in_properties": (
        "a query stands word for word in the properties of a page it expects",
        "queries stand word for word in the properties of a page they expect",
        "a search that reads properties finds those",
    ),
    "stale_label_only": (
        "an expected page changed in nothing but its label property since the index was built",
        "expected pages changed in nothing but their label property since the index was built",
        "writing the label did that; another search would call it stale",
    ),
}


@dataclass(frozen=True, slots=True)
class ToJudge:
    """Pages above the expected ones that nobody judged: what is said of them, and the commands that judge the first of them."""

    sentence: str
    commands: tuple[str, ...]
    rest: int


def label_sentences(report: Report) -> tuple[str, ...]:
    """All that was found, the most serious first; what is about rankings is about the first run."""
    found = [_finding(kind, report.label_findings) for kind in _SAYS if report.label_findings.counts.get(kind)]
    serious = sum(kind in _SERIOUS for kind in report.label_findings.counts)
    about_run = [sentence for run in report.runs[:1] for sentence in (*_strata(run), *_ties(run), *_threshold(run))]
    return (*found[:serious], *about_run, *found[serious:])


def to_judge(report: Report, most: int = COMMANDS_MAX) -> ToJudge | None:
    """What the first run found and no label judges, at most `most` of its commands; None where every page above is judged."""
    for run in report.runs[:1]:
        number, shown = run.trust.unjudged_queries, run.trust.unjudged[:most]
        if number:
            found = f"in {wording.queries(number)} a page that nobody judged stands above the expected ones"
            commands = tuple(_grade_command(one.id, one.pages[0]) for one in shown)
            return ToJudge(f"{found}; label me, {_GRADES}; --write writes it", commands, number - len(shown))
    return None


def easy_sentence(report: Report) -> str | None:
    """Set when a free baseline is within the interval of the best other run: the labels then cannot tell them apart."""
    others = [(run, value) for run, value in _values(report) if not _is_baseline(run)]
    if not others:
        return None
    best, value = max(others, key=lambda one: one[1].value or 0.0)
    low = value.interval.low if value.interval is not None else value.value or 0.0
    high = value.interval.high if value.interval is not None else value.value or 0.0
    baselines = [(run.retriever.name, one.value or 0.0) for run, one in _values(report) if _is_baseline(run)]
    near = [f"{name} {one:.3f}{' (above it)' if one > high else ''}" for name, one in baselines if one >= low]
    if not near:
        return None
    return (
        f"easy labels: {' and '.join(near)} in {wording.metric_label(EASY_METRIC)}, not below the interval of "
        f"{best.retriever.name} {value.value:.3f} ({wording.interval_text(value)}): these labels are too easy, or too few, "
        "to tell them apart"
    )


def _values(report: Report) -> Iterator[tuple[RunReport, MetricValue]]:
    for run in report.runs:
        value = run.metrics.get(EASY_METRIC, _NO_DATA)
        if value.status == "ok" and value.value is not None:
            yield run, value


def _is_baseline(run: RunReport) -> bool:
    return run.retriever.name.partition(":")[0] in FREE_BASELINES


def _finding(kind: FindingKind, found: LabelFindings) -> str:
    number = found.counts[kind]
    one, many, so = _SAYS[kind]
    rest = number - EXAMPLES_MAX
    named = "; ".join(_named(one.page, one.query) for one in found.of(kind)[:EXAMPLES_MAX]) + (
        f"; and {rest:,} more" if rest > 0 else ""
    )
    return f"{one if number == 1 else f'{number:,} {many}'} ({named}): {so}"


def _named(page: str, query: str | None) -> str:
    shown = wording.cut(page, PAGE_SHOWN_MAX_CHARACTERS)
    return shown if query is None else f"{wording.cut(query, ID_SHOWN_MAX_CHARACTERS)}: {shown}"


def _strata(run: RunReport) -> Iterator[str]:
    strata = [
        (stratum, run.trust.strata[stratum].get(_STRATUM_METRIC, _NO_DATA)) for stratum in STRATA if stratum in run.trust.strata
    ]
    if strata:
        words = {"literal": "every word", "partly": "some", "no shared term": "none"}
        shown = (f"{words[stratum]} in {value.n:,} ({wording.value_text(value)})" for stratum, value in strata)
        label = wording.metric_label(_STRATUM_METRIC)
        yield f"words of a query in the best section of its expected page, and {label} there: {', '.join(shown)}"


def _grade_command(name: str, page: str) -> str:
    """The line that judges one page for one query, quoted for a shell; the vault's folder is not known here."""
    asked = (_option("--id", name), _option("--grade", f"{page}=0"))
    return f"python3 scripts/vault-eval.py labels add --vault DIR {' '.join(asked)}"


def _option(name: str, value: str) -> str:
    """A value that begins with `-` would be taken for an option where it stands alone."""
    return f"{name}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def _ties(run: RunReport) -> Iterator[str]:
    """Where the paths' order decided more than a lot would: recall as returned, and on average over all orders."""
    scored = [row for row in run.rows if row.status == "scored"]
    for cutoff in CUTOFFS:
        tied = [row for row in scored if any(tie.cutoff == cutoff and tie.expected for tie in row.ties)]
        given = fsum(row.recall[cutoff] or 0.0 for row in scored) / len(scored) if tied else 0.0
        drawn = fsum(_drawn(row, cutoff) for row in scored) / len(scored) if tied else 0.0
        if abs(given - drawn) >= _TIE_DIFFERENCE_MIN:
            tied_in = f"equal scores straddle place {cutoff} in {wording.queries(len(tied))}"
            orders = "over all orders of the pages that came back"
            yield f"{tied_in}: recall@{cutoff} is {given:.3f} as returned, {drawn:.3f} on average {orders}"


def _drawn(row: QueryRow, cutoff: int) -> float:
    expected = next((tie.expected for tie in row.ties if tie.cutoff == cutoff), None)
    return expected.recall if expected is not None else row.recall[cutoff] or 0.0


def _threshold(run: RunReport) -> Iterator[str]:
    rate, lost = (run.metrics.get(name, _NO_DATA) for name in ("false_answer_rate", "answerable_recall_lost"))
    if run.trust.threshold is not None:
        yield (
            f"answering only from a top score of {run.trust.threshold:.3f} on, chosen on dev, would on holdout still answer "
            f"{wording.value_text(rate)} of the queries without an answer and lose {wording.value_text(lost)} of recall@10"
        )
