"""The report as one HTML file: no network, light and dark, for the keyboard, a screen reader and paper; no script needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_eval.diagnosis.causes import CAUSE_NAMES
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import findings, label_trust, miss_findings, svg_plots, wording
from vault_eval.reports.document import STATEMENT, QueryRow, Report, RunReport, RunTiming
from vault_eval.reports.html_page import page_template
from vault_eval.reports.shown_queries import KINDS, Extent, shown_queries
from vault_eval.reports.snippets import SNIPPET_MAX_CHARACTERS, Snippets

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATE = "report.html.jinja"
SCRIPT = "report.js"
# What a browser opens at once and a mail takes along. A report that would be larger is rendered with less in its rows.
HTML_MAX_BYTES = 2_000_000
SAMPLE_ROWS = 40
LISTED_SHOWN_MAX = 200
_TEN = METRIC_CUTOFF_PAGES
EXTENTS = (
    Extent(ranks=_TEN, linked=_TEN, expected=10, compared=3, rivals=2, parts=True, snippet=SNIPPET_MAX_CHARACTERS, text=500),
    Extent(ranks=_TEN, linked=2, expected=5, compared=1, rivals=2, parts=True, snippet=SNIPPET_MAX_CHARACTERS, text=500),
    Extent(ranks=_TEN, linked=0, expected=3, compared=1, rivals=1, parts=False, snippet=SNIPPET_MAX_CHARACTERS, text=300),
    Extent(ranks=5, linked=0, expected=3, compared=1, rivals=1, parts=False, snippet=200, text=300),
    Extent(ranks=3, linked=0, expected=2, compared=1, rivals=1, parts=False, snippet=100, text=300),
    Extent(ranks=3, linked=0, expected=1, compared=0, rivals=0, parts=False, snippet=100, text=200),
    Extent(ranks=3, linked=0, expected=1, compared=0, rivals=0, parts=False, snippet=0, text=200),
    Extent(ranks=0, linked=0, expected=0, compared=0, rivals=0, parts=False, snippet=0, text=100),
)


@dataclass(frozen=True, slots=True)
class TimedRun:
    """The times of one run as they are shown: the table's entries, each with its distribution where times are known."""

    name: str
    times: tuple[tuple[findings.Latency, svg_plots.Histogram | None], ...]
    not_timed: tuple[tuple[str, str], ...]


def html_report(report: Report, snippets: Snippets | None = None) -> str:
    """The report as an HTML document ended by LF, below two megabytes for 1,000 queries; `snippets` are lines of its notes.

    Raises MissingPackageError where jinja2 is not installed.
    """
    shown = snippets or {}
    page = _Page(page_template(TEMPLATE, script=SCRIPT), report.vault_name, shown, _shared(report, shown))
    rows = report.runs[0].rows if report.runs else ()
    rendered = ""
    for extent in EXTENTS:
        if extent is EXTENTS[-1] or page.may_fit(rows, extent):
            rendered = page.rendered(rows, extent)
            if len(rendered.encode()) < HTML_MAX_BYTES:
                break
    return rendered


@dataclass(frozen=True, slots=True)
class _Page:
    """The template, and all that is shown of a report but its queries."""

    template: Template
    vault: str
    snippets: Snippets
    shared: Mapping[str, object]

    def rendered(self, rows: Sequence[QueryRow], extent: Extent) -> str:
        return self.template.render(self.shared, queries=shown_queries(self.vault, rows, self.snippets, extent)) + "\n"

    def may_fit(self, rows: Sequence[QueryRow], extent: Extent) -> bool:
        """Whether a sample of the rows tells that all of them fit; rendering all to find out would take its time each try."""
        step = len(rows) // SAMPLE_ROWS
        if step < 2:
            return True
        sample = rows[::step]
        rest = len(self.rendered((), extent).encode())
        sampled = len(self.rendered(sample, extent).encode()) - rest
        return rest + sampled * len(rows) / len(sample) < HTML_MAX_BYTES


def _shared(report: Report, snippets: Snippets) -> dict[str, object]:
    return {
        "report": report,
        "statement": STATEMENT,
        "find": findings,
        "misses": miss_findings,
        "trust": label_trust,
        "words": wording,
        "plot": svg_plots,
        "cause_names": _cause_names(report.runs[0]) if report.runs else (),
        "kinds": KINDS,
        "lacks_text": not snippets and any(miss_findings.missed_rows(run) for run in report.runs[:1]),
        "first": report.runs[0] if report.runs else None,
        "curves": _curves(report.runs),
        "cutoff": METRIC_CUTOFF_PAGES,
        "listed_max": LISTED_SHOWN_MAX,
        "timings": [_timed(run, findings.timing_of(report, place)) for place, run in enumerate(report.runs)],
    }


def _cause_names(run: RunReport) -> list[str]:
    """The causes that a row can be filtered by."""
    present = {one.cause for row in run.rows for one in row.diagnosis}
    return [name for name in CAUSE_NAMES if name in present]


def _curves(runs: Sequence[RunReport]) -> list[tuple[svg_plots.Curve, dict[int, float]]]:
    """The recall curve of each run that has one, and its values by cutoff."""
    means = [(run, dict(findings.recall_curve(run))) for run in runs]
    drawn = [(run, values) for run, values in means if values]
    return [
        (svg_plots.curve(run.retriever.name, place, values, run.metrics), values) for place, (run, values) in enumerate(drawn)
    ]


def _timed(run: RunReport, timing: RunTiming) -> TimedRun:
    measured = [
        (times.values(), summary) for times, summary in ((timing.warm_ms, timing.warm), (timing.cold_ms, timing.cold)) if summary
    ]
    plots = [svg_plots.histogram(tuple(times), summary.p50, summary.p95) for times, summary in measured]
    return TimedRun(run.retriever.name, tuple(zip(findings.latencies(timing), plots, strict=True)), findings.not_timed(timing))
