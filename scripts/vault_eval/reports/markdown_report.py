"""The report as Markdown for Obsidian and GitHub. Two runs on the same state differ in the last section, Timing, alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import findings, miss_findings, wording
from vault_eval.reports.document import STATEMENT, QueryRow, Report, RunReport
from vault_eval.reports.escaping import for_markdown, obsidian_link
from vault_eval.reports.findings import GROUP_METRICS, HEADLINE_METRICS, Latency
from vault_eval.reports.miss_findings import Listed

QUERY_SHOWN_MAX_CHARACTERS = 500
DIGEST_SHOWN_CHARACTERS = 12


def markdown_report(report: Report) -> str:
    """The report as Markdown ended by LF: callouts for Obsidian, `obsidian://open` links, all text of the vault escaped."""
    lines = [f"# Search in {for_markdown(report.vault_name)}", "", *_measured(report), "", *_counts(report)]
    if len(report.runs) > 1:
        lines += ["", *_comparison(report)]
    for run in report.runs:
        lines += ["", *_figures(run), *_categories(run)]
    for run in report.runs[:1]:
        lines += _details(report, run)
    return "\n".join([*lines, "", *_not_shown(report), "", *_timing(report)]) + "\n"


def _measured(report: Report) -> Iterator[str]:
    pages = wording.counted(report.vault_pages, "page")
    yield "> [!info] What was measured"
    snapshot = for_markdown(report.snapshot_sha256[:DIGEST_SHOWN_CHARACTERS])
    yield f"> {pages} in the vault {for_markdown(report.vault_name)}, snapshot {snapshot}."
    yield f"> Labels: {for_markdown(findings.labels_sentence(report))}."
    yield f"> Measured with vault-eval {for_markdown(report.tool_version)}."
    if report.fixture is not None:
        yield f"> This is the shipped fixture, with {for_markdown(report.fixture.stale_page)} changed after it was indexed."
    if report.warnings:
        yield from ("", "> [!warning] Before you read the figures")
        yield from (f"> - {for_markdown(warning)}" for warning in report.warnings)


def _counts(report: Report) -> Iterator[str]:
    yield f"**Coverage:** {wording.coverage_sentence(report.coverage)}."
    for run in report.runs[:1]:
        yield from ("", f"**Counted:** {wording.counts_sentence(run.counts)}.")
        excluded = wording.excluded_sentence(run.counts)
        if excluded is not None:
            yield from ("", f"**Excluded:** {excluded}")


def _comparison(report: Report) -> Iterator[str]:
    yield from (f"## {len(report.runs)} runs", "")
    rows = []
    for run in report.runs:
        shown = findings.headline(run)[: len(HEADLINE_METRICS)]
        rows.append((for_markdown(run.retriever.name), *(figure.value for figure in shown), shown[0].n))
    yield from _table(["run", *map(wording.metric_label, HEADLINE_METRICS), "n"], rows)


def _figures(run: RunReport) -> Iterator[str]:
    described = [f"depth {run.depth}", findings.index_sentence(run), findings.settings_sentence(run)]
    yield from (f"## Run {for_markdown(run.retriever.name)}", "", for_markdown(" · ".join(one for one in described if one)), "")
    rows = [(one.label, one.value, one.interval, one.n, one.meaning) for one in findings.figures(run)]
    yield from _table(["figure", "value", "95 % interval", "n", "what it is"], rows, words=1)
    notes = findings.notes(run)
    if notes:
        yield ""
        yield from (f"- {for_markdown(note)}" for note in notes)


def _categories(run: RunReport) -> Iterator[str]:
    groups = findings.categories(run)
    if groups:
        yield from ("", "### By category", "")
        rows = [(for_markdown(group.name), *group.values, group.n) for group in groups]
        yield from _table(["category", *map(wording.metric_label, GROUP_METRICS), "n"], rows)


def _details(report: Report, run: RunReport) -> Iterator[str]:
    if len(report.runs) > 1:
        yield from ("", f"All that follows is about the run {for_markdown(run.retriever.name)}.")
    found = miss_findings.causes(run)
    if found:
        yield from ("", "## Causes of misses", "")
        rows = [(one.meaning, f"{one.queries:,}", f"{one.pages:,}", one.remedy) for one in found]
        yield from _table(["cause", "queries", "pages", "what helps"], rows, words=1)
    yield from _misses(report, run)
    yield from _listed("Missing gold", "an expected page does not exist", miss_findings.missing_gold(run))
    yield from _listed("Skipped", "their label says so", miss_findings.skipped(run))
    yield from _listed("Errors", "the searcher failed", miss_findings.errors(run))
    yield from ("", "## What to do next", "")
    yield from (f"{place}. {step}" for place, step in enumerate(miss_findings.next_steps(run), start=1))


def _misses(report: Report, run: RunReport) -> Iterator[str]:
    missed, shown = miss_findings.missed_rows(run), miss_findings.worst_rows(run)
    if missed:
        of_all = "" if len(shown) == len(missed) else f" ({len(shown)} of {len(missed)})"
        yield from ("", f"## Worst misses{of_all}", "")
        yield from (f"An expected page is not among the first {METRIC_CUTOFF_PAGES}.", "")
    for row in shown if missed else ():
        yield from _miss(report.vault_name, row)


def _miss(vault: str, row: QueryRow) -> Iterator[str]:
    yield f"- **{for_markdown(row.id)}**: {for_markdown(wording.cut(row.query, QUERY_SHOWN_MAX_CHARACTERS))}"
    for one in row.diagnosis:
        yield f"    - expected {_link(vault, one.page)}: {for_markdown(wording.why(one))}"
        more = (("evidence", miss_findings.evidence(one)), ("words that are not there", miss_findings.lacking(one)))
        yield from (f"        - {name}: {for_markdown(words)}" for name, words in more if words)
    first = miss_findings.came_first(row)
    instead = miss_findings.instead(row) if first is None else f"{_link(vault, first.page)} at rank {first.rank}"
    yield f"    - instead: {instead}"


def _listed(title: str, reason: str, listed: Sequence[Listed]) -> Iterator[str]:
    if listed:
        yield from ("", f"## {title}", "", f"Not in any mean: {reason}.", "")
    for one in listed:
        page = f" {for_markdown(one.page)}:" if one.page is not None else ""
        yield f"- **{for_markdown(one.id)}**:{page} {for_markdown(one.reason)}"


def _not_shown(report: Report) -> Iterator[str]:
    yield from ("## What the figures do not show", "", STATEMENT, "")
    yield from (f"- {one}" for one in report.not_shown)
    yield from (f"- not available: {for_markdown(one)}" for one in report.unavailable)


def _timing(report: Report) -> Iterator[str]:
    yield from ("## Timing", "", f"Measured {for_markdown(wording.started_text(report.timing.started))}.")
    environment = ", ".join(f"{name} {value}" for name, value in report.timing.environment.items())
    if environment:
        yield f"On {for_markdown(environment)}. Times in milliseconds; warm and cold are different things and never mixed."
    rows = [
        _timed(run.retriever.name, one)
        for place, run in enumerate(report.runs)
        for one in findings.latencies(findings.timing_of(report, place))
    ]
    yield ""
    if rows:
        yield from _table(["time a query", "p50", "p95", "max", "n", "beside"], rows, words=1)
    else:
        yield "No data: no query was timed."


def _timed(name: str, one: Latency) -> list[str]:
    cells = (f"{name}, {one.name}", one.p50, f"{one.p95} {one.p95_note}".rstrip(), one.max, one.n, one.beside or wording.NOTHING)
    return [for_markdown(cell) for cell in cells]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 0) -> Iterator[str]:
    """Rows of cells that are Markdown already; the first column and the last `words` hold words, the others numbers."""
    numbers = len(header) - 1 - words
    yield _row(header)
    yield _row([":--", *["--:"] * numbers, *[":--"] * words])
    yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _link(vault: str, page: str) -> str:
    return f"[{for_markdown(page)}]({obsidian_link(vault, page)})"
