"""The report as one HTML file: no network, light and dark, for the keyboard, a screen reader and paper; no script needed."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from vault_eval.diagnosis.causes import CAUSE_NAMES
from vault_eval.errors import MissingPackageError
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import findings, label_trust, miss_findings, svg_plots, wording
from vault_eval.reports.document import STATEMENT, QueryRow, Report, RunReport, RunTiming
from vault_eval.reports.escaping import visible
from vault_eval.reports.shown_queries import KINDS, Extent, shown_queries

if TYPE_CHECKING:
    from jinja2 import Environment, Template

TEMPLATE = "report.html.jinja"
STYLE = "report.css"
SCRIPT = "report.js"
MISSING = (
    "the HTML report needs the package jinja2, which is not installed; run `python3 scripts/vault-eval.py doctor --install`, "
    "or write the report as JSON or Markdown"
)
# What a browser opens at once and a mail takes along. A report that would be larger is rendered with less in its rows.
HTML_MAX_BYTES = 2_000_000
SAMPLE_ROWS = 40
LISTED_SHOWN_MAX = 200
EXTENTS = (
    Extent(ranks=METRIC_CUTOFF_PAGES, linked=METRIC_CUTOFF_PAGES, expected=10, compared=3, rivals=2, parts=True, text=500),
    Extent(ranks=METRIC_CUTOFF_PAGES, linked=2, expected=5, compared=1, rivals=2, parts=True, text=500),
    Extent(ranks=METRIC_CUTOFF_PAGES, linked=0, expected=3, compared=1, rivals=1, parts=False, text=300),
    Extent(ranks=5, linked=0, expected=3, compared=1, rivals=1, parts=False, text=300),
    Extent(ranks=3, linked=0, expected=2, compared=1, rivals=1, parts=False, text=300),
    Extent(ranks=3, linked=0, expected=1, compared=0, rivals=0, parts=False, text=200),
    Extent(ranks=0, linked=0, expected=0, compared=0, rivals=0, parts=False, text=100),
)


@dataclass(frozen=True, slots=True)
class TimedRun:
    """The times of one run as they are shown: the table's entries, each with its distribution where times are known."""

    name: str
    times: tuple[tuple[findings.Latency, svg_plots.Histogram | None], ...]
    no_cold: str | None


def html_report(report: Report) -> str:
    """The report as an HTML document ended by LF, below two megabytes for 1,000 queries.

    Raises MissingPackageError where jinja2 is not installed.
    """
    page = _Page(_template(), report.vault_name, _shared(report))
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
    shared: Mapping[str, object]

    def rendered(self, rows: Sequence[QueryRow], extent: Extent) -> str:
        return self.template.render(self.shared, queries=shown_queries(self.vault, rows, extent)) + "\n"

    def may_fit(self, rows: Sequence[QueryRow], extent: Extent) -> bool:
        """Whether a sample of the rows tells that all of them fit; rendering all to find out would take its time each try."""
        step = len(rows) // SAMPLE_ROWS
        if step < 2:
            return True
        sample = rows[::step]
        rest = len(self.rendered((), extent).encode())
        sampled = len(self.rendered(sample, extent).encode()) - rest
        return rest + sampled * len(rows) / len(sample) < HTML_MAX_BYTES


def _shared(report: Report) -> dict[str, object]:
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
    return TimedRun(run.retriever.name, tuple(zip(findings.latencies(timing), plots, strict=True)), timing.no_cold)


def _template() -> Template:
    """The template with style and script inlined, their hashes in its policy, and indentation taken out."""
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise MissingPackageError(MISSING) from None
    environment: Environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_finalize)
    for name, source in (("style", _read(STYLE) + _lengths()), ("script", _read(SCRIPT))):
        digest = b64encode(sha256(source.encode()).digest()).decode()
        environment.globals |= {name: Markup(source), f"{name}_hash": f"sha256-{digest}"}  # noqa: S704 - our own files
    return environment.from_string("\n".join(line.strip() for line in _read(TEMPLATE).splitlines()))


def _read(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _lengths() -> str:
    """A class for each length of a bar, so that no element needs a style of its own and the policy can forbid them."""
    return "".join(f".w{n}{{width:{n}%}}.l{n}{{left:{n}%}}" for n in range(101)) + "\n"


def _finalize(value: object) -> object:
    """Every plain text with its control characters shown, before it is escaped; escaped text comes by here as it is."""
    return visible(value) if type(value) is str else value
