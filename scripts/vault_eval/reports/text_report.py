"""The report as a person reads it in a terminal: short, in the order in which it is needed, bounded whatever was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vault_eval.limits import METRIC_CUTOFF_PAGES, WORST_MISSES_SHOWN_MAX
from vault_eval.reports import findings, label_trust, miss_findings, wording
from vault_eval.reports.document import STATEMENT, QueryRow, Report, RunReport, RunTiming
from vault_eval.reports.escaping import for_terminal
from vault_eval.reports.findings import GROUP_METRICS
from vault_eval.reports.miss_findings import Listed
from vault_eval.reports.text_layout import bounded, table, wrapped

if TYPE_CHECKING:
    from vault_eval.reports.since_last import SinceLast

LISTED_MAX = 10
WARNINGS_SHOWN_MAX = 10
GROUPS_SHOWN_MAX = 20
RUNS_SHOWN_MAX = 20
TRUST_LINES_MAX = 10
COMMANDS_SHOWN_MAX = 3
MISSED_PAGES_SHOWN_MAX = 3
PAGE_SHOWN_MAX_CHARACTERS = 160
QUERY_SHOWN_MAX_CHARACTERS = 120
PASTED_SHOWN_MAX_CHARACTERS = 4_096  # a path or a command is of use only when it is whole, on one line
LEGEND = (
    "recall@k: share of the expected pages among the first k; hit@k: whether any is",
    "MRR@k: mean of 1 / rank of the first expected page, 0 beyond k",
    "what the other figures are: in report.md, and in README.md under “What the figures mean”",
)
_CUT_OFF = "… cut here: the rest is in the saved report"


def text_report(report: Report, *, saved: str | None, since: SinceLast | None = None, width: int = 100) -> str:
    """The report as plain text ended by LF, in fewer than 30,000 characters; `saved` is where the whole was written.

    Lines are wrapped at `width` characters. Text of the vault is escaped: no line can move a cursor or colour a terminal.
    """
    lines = [*_measured(report, width), "", *_counts(report, width)]
    if len(report.runs) > 1:
        lines += ["", *_comparison(report, saved, width)]
    for run in report.runs[:1]:
        lines += ["", *_run(report, run, since, width)]
        lines += _label_trust(report, width)
    closing = ["", *_not_shown(report, width), *_saved(saved)]
    return bounded(lines, closing, _CUT_OFF)


def _measured(report: Report, width: int) -> Iterator[str]:
    yield from wrapped(f"vault-eval · {report.vault_name} · {wording.started_text(report.timing.started)}", width)
    pages = wording.counted(report.vault_pages, "page")
    yield from wrapped(f"{pages} in the vault · labels {findings.labels_sentence(report)}", width)
    if report.fixture is not None:
        changed = f"the shipped fixture, with {report.fixture.stale_page} changed after it was indexed"
        yield from wrapped(changed, width)
    for warning in report.warnings[:WARNINGS_SHOWN_MAX]:
        yield from wrapped(warning, width, first="! ")
    yield from _more(len(report.warnings) - WARNINGS_SHOWN_MAX, "warning")


def _counts(report: Report, width: int) -> Iterator[str]:
    yield from wrapped(wording.coverage_sentence(report.coverage), width, first="Coverage: ")
    for run in report.runs[:1]:
        yield from wrapped(wording.counts_sentence(run.counts), width, first="Counted: ")
        excluded = wording.excluded_sentence(run.counts)
        if excluded is not None:
            yield from wrapped(excluded, width, first="Excluded: ")


def _comparison(report: Report, saved: str | None, width: int) -> Iterator[str]:
    yield f"{len(report.runs)} runs"
    rows = [_compared(report, run, findings.timing_of(report, place)) for place, run in enumerate(report.runs[:RUNS_SHOWN_MAX])]
    yield from table(["run", *findings.compared_labels(report), "warm p50 ms", "p95 ms", "cold p50 ms"], rows)
    for run in report.runs:
        if run.counts.error:
            failed = f"{run.retriever.name} failed on {wording.queries(run.counts.error)}: they are in none of its figures"
            yield from wrapped(failed, width, first="  ! ")
    yield from _more(len(report.runs) - RUNS_SHOWN_MAX, "run")
    for said in (findings.without_meaning(report), label_trust.easy_sentence(report)):
        if said is not None:
            yield from wrapped(said, width, first="  ")
    if any(timing.warm is not None and timing.warm.p95_is_slowest for timing in report.timing.runs):
        yield "  with fewer than 20 times, p95 is only the slowest of them"
    yield f"  {_whole(wording.verdict_sentence(saved))}"
    yield "  below: the first run only; the saved report holds them all"


def _compared(report: Report, run: RunReport, timing: RunTiming) -> list[str]:
    warm = [timing.warm.p50, timing.warm.p95] if timing.warm else [None, None]
    times = [*warm, timing.cold.p50 if timing.cold else None]
    words = [wording.NOTHING if time is None else wording.milliseconds(time) for time in times]
    return [run.retriever.name, *findings.compared_values(report, run), *words]


def _run(report: Report, run: RunReport, since: SinceLast | None, width: int) -> Iterator[str]:
    described = [findings.meaning_sentence(run), f"depth {run.depth}", findings.index_sentence(run)]
    yield from wrapped(" · ".join([run.retriever.name, *(one for one in described if one)]), width, first="Run: ")
    rows = [(one.label, one.value, one.interval, one.n) for one in findings.figures(run)]
    yield from table(["", "value", "95 % interval", "n"], rows)
    for note in findings.notes(run):
        yield from wrapped(note, width, first="  · ")
    for line in LEGEND:
        yield from wrapped(line, width, first="  · ")
    yield from _categories(run)
    yield from _latency(findings.timing_of(report, 0), width)
    yield from _since(since, width)
    yield from _misses(run, width)
    yield from _listed("Missing gold: excluded, since an expected page does not exist", miss_findings.missing_gold(run), width)
    yield from _listed("Skipped: excluded by the label", miss_findings.skipped(run), width)
    yield from _listed("Errors: the searcher failed", miss_findings.errors(run), width)
    yield from _next_steps(run, width)


def _categories(run: RunReport) -> Iterator[str]:
    groups = findings.categories(run)
    if groups:
        yield from ("", "By category")
        rows = [(group.name, *group.values, group.n) for group in groups[:GROUPS_SHOWN_MAX]]
        yield from table(["", *map(wording.metric_label, GROUP_METRICS), "n"], rows)
        yield from _more(len(groups) - GROUPS_SHOWN_MAX, "category", "categories")


def _latency(timing: RunTiming, width: int) -> Iterator[str]:
    yield from ("", "Time a query, in milliseconds")
    shown = findings.latencies(timing)
    for one in shown:
        p95 = f"p95 {one.p95_note} {one.p95}" if one.p95_note else f"p95 {one.p95}"
        parts = (f"p50 {one.p50}", p95, f"max {one.max}", f"n {one.n}", one.beside)
        yield from wrapped(" · ".join(part for part in parts if part), width, first=f"  {one.name:<25}  ")
    for name, why in findings.not_timed(timing):
        yield from wrapped(f"0 samples: {why}", width, first=f"  {name:<25}  ")
    if not shown:
        yield "  no data: no query was timed"


def _since(since: SinceLast | None, width: int) -> Iterator[str]:
    if since is not None:
        yield from ("", *wrapped(since.title, width))
        for sentence in since.sentences():
            yield from wrapped(sentence, width, first="  · ")


def _misses(run: RunReport, width: int) -> Iterator[str]:
    missed = miss_findings.missed_rows(run)
    if not missed:
        return
    shown = miss_findings.worst_rows(run)[:WORST_MISSES_SHOWN_MAX]
    of_all = "" if len(shown) == len(missed) else f" ({len(shown)} of {len(missed)})"
    yield from ("", f"Worst misses{of_all}: an expected page is not among the first {METRIC_CUTOFF_PAGES}")
    for row in shown:
        yield from _miss(row, width)
    yield from _more(len(missed) - len(shown), "missed query", "missed queries")


def _label_trust(report: Report, width: int) -> Iterator[str]:
    """A few lines at most; what is left out is in the saved report."""
    lines = [line for sentence in label_trust.label_sentences(report) for line in wrapped(sentence, width, first="  · ")]
    judging = label_trust.to_judge(report, COMMANDS_SHOWN_MAX)
    if lines or judging is not None:
        yield from ("", label_trust.TITLE, *lines[:TRUST_LINES_MAX])
    if len(lines) > TRUST_LINES_MAX:
        yield "  … more in the saved report"
    if judging is not None:
        yield from wrapped(judging.sentence, width, first="  · ")
        yield from (f"      {_whole(command)}" for command in judging.commands)
        yield from _more(judging.rest, "such query", "such queries")


def _miss(row: QueryRow, width: int) -> Iterator[str]:
    query = wording.cut(row.query, QUERY_SHOWN_MAX_CHARACTERS)
    yield from wrapped(f"{wording.cut(row.id, PAGE_SHOWN_MAX_CHARACTERS)}: {query}", width, first="  ", indent="      ")
    for one in row.diagnosis[:MISSED_PAGES_SHOWN_MAX]:
        yield from wrapped(wording.cut(one.page, PAGE_SHOWN_MAX_CHARACTERS), width, first="      expected  ")
        yield from wrapped(wording.why(one), width, first="      why       ")
    rest = len(row.diagnosis) - MISSED_PAGES_SHOWN_MAX
    if rest > 0:
        yield f"                and {wording.counted(rest, 'more missed page')}"
    yield from wrapped(miss_findings.instead(row), width, first="      instead   ")


def _listed(title: str, listed: Sequence[Listed], width: int) -> Iterator[str]:
    if listed:
        yield from ("", *wrapped(title, width))
    for one in listed[:LISTED_MAX]:
        names = (wording.cut(name, PAGE_SHOWN_MAX_CHARACTERS) for name in (one.id, one.page) if name is not None)
        yield from wrapped(": ".join([*names, one.reason]), width, first="  ", indent="      ")
    yield from _more(len(listed) - LISTED_MAX, "such entry", "such entries")


def _next_steps(run: RunReport, width: int) -> Iterator[str]:
    yield from ("", "What to do next")
    for place, step in enumerate(miss_findings.next_steps(run), start=1):
        yield from wrapped(step, width, first=f"  {place}. ")


def _not_shown(report: Report, width: int) -> Iterator[str]:
    yield from wrapped(f"{STATEMENT} They do not show {'; '.join(report.not_shown)}.", width)
    if report.unavailable:
        yield from wrapped(f"Not available: {'; '.join(report.unavailable)}.", width)


def _saved(saved: str | None) -> Iterator[str]:
    if saved is not None:
        yield f"Saved: {_whole(saved)}"


def _whole(text: str) -> str:
    return wording.cut(for_terminal(text), PASTED_SHOWN_MAX_CHARACTERS)


def _more(number: int, one: str, many: str | None = None) -> Iterator[str]:
    if number > 0:
        yield f"  … and {wording.counted(number, one, many)} more in the saved report"
