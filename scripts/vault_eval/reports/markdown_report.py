"""The report as Markdown for Obsidian and GitHub. Two runs on the same state differ in the last section, Timing, alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vault_eval.diagnosis.misses import Rival
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import evidence_findings, findings, label_trust, miss_findings, wording
from vault_eval.reports.document import STATEMENT, QueryRow, Report, RunReport
from vault_eval.reports.escaping import for_markdown, obsidian_link
from vault_eval.reports.findings import GROUP_METRICS, Latency
from vault_eval.reports.markdown_table import markdown_table
from vault_eval.reports.miss_findings import Listed

if TYPE_CHECKING:
    from vault_eval.reports.since_last import SinceLast

QUERY_SHOWN_MAX_CHARACTERS = 500
DIGEST_SHOWN_CHARACTERS = 12


def markdown_report(report: Report, since: SinceLast | None = None) -> str:
    """The report as Markdown ended by LF: callouts that Obsidian and GitHub both know, `obsidian://open` links, text escaped."""
    lines = [f"# Search in {for_markdown(report.vault_name)}", "", *_measured(report), "", *_counts(report)]
    for run in report.runs[:1]:
        lines += ["", *_headline(run)]
    if len(report.runs) > 1:
        lines += ["", *_comparison(report)]
    for run in report.runs:
        lines += ["", *_figures(run), *_curve(run), *_groups(run)]
    lines += _since(since)
    lines += _label_trust(report)
    for run in report.runs[:1]:
        lines += _details(report, run)
    return "\n".join([*lines, "", *_not_shown(report), "", *_timing(report)]) + "\n"


def _measured(report: Report) -> Iterator[str]:
    pages = wording.counted(report.vault_pages, "page")
    yield from ("> [!note]", "> **What was measured.**")
    snapshot = for_markdown(report.snapshot_sha256[:DIGEST_SHOWN_CHARACTERS])
    yield f"> {pages} in the vault {for_markdown(report.vault_name)}, snapshot {snapshot}."
    yield f"> Labels: {for_markdown(findings.labels_sentence(report))}."
    yield f"> Measured with vault-eval {for_markdown(report.tool_version)}."
    if report.fixture is not None:
        yield f"> This is the shipped fixture, with {for_markdown(report.fixture.stale_page)} changed after it was indexed."
    if report.warnings:
        yield from ("", "> [!warning]", "> **Before you read the figures**", ">")
        yield from (f"> - {for_markdown(warning)}" for warning in report.warnings)


def _counts(report: Report) -> Iterator[str]:
    yield f"**Coverage:** {wording.coverage_sentence(report.coverage)}."
    for run in report.runs[:1]:
        yield from ("", f"**Counted:** {wording.counts_sentence(run.counts)}.")
        excluded = wording.excluded_sentence(run.counts)
        if excluded is not None:
            yield from ("", f"**Excluded:** {excluded}")


def _headline(run: RunReport) -> Iterator[str]:
    yield "> [!important]"
    for place, one in enumerate(findings.headline(run)):
        interval = "" if one.interval == wording.NOTHING else f"{one.interval}, "
        yield f"> {'· ' if place else ''}**{one.label} {one.value}** ({interval}n {one.n})"


def _comparison(report: Report) -> Iterator[str]:
    yield from (f"## {len(report.runs)} runs", "")
    rows = [(for_markdown(run.retriever.name), *findings.compared_values(report, run)) for run in report.runs]
    yield from markdown_table(["run", *findings.compared_labels(report)], rows)
    for said in (findings.without_meaning(report), label_trust.easy_sentence(report), wording.verdict_sentence()):
        if said is not None:
            yield from ("", for_markdown(said))


def _figures(run: RunReport) -> Iterator[str]:
    described = [
        findings.meaning_sentence(run),
        f"depth {run.depth}",
        findings.index_sentence(run),
        findings.settings_sentence(run),
    ]
    yield from (f"## Run {for_markdown(run.retriever.name)}", "", for_markdown(" · ".join(one for one in described if one)), "")
    rows = [(one.label, one.value, one.interval, one.n, one.meaning) for one in findings.figures(run)]
    yield from markdown_table(["figure", "value", "95 % interval", "n", "what it is"], rows, words=1)
    notes = findings.notes(run)
    if notes:
        yield ""
        yield from (f"- {for_markdown(note)}" for note in notes)


def _curve(run: RunReport) -> Iterator[str]:
    curve = findings.recall_curve(run)
    if curve:
        yield from ("", "### Recall@k", "")
        yield from markdown_table(["k", *map(str, curve)], [("recall@k", *map(wording.score_text, curve.values()))])


def _groups(run: RunReport) -> Iterator[str]:
    named = (
        ("category", "category", findings.categories(run)),
        ("tag", "tag", findings.tags(run)),
        ("query words in the expected note", "words in its best section", findings.strata(run)),
    )
    for title, noun, groups in named:
        if groups:
            yield from ("", f"### By {title}", "")
            first, *others = map(wording.metric_label, GROUP_METRICS)
            rows = [(for_markdown(one.name), one.values[0], one.interval, *one.values[1:], one.n) for one in groups]
            yield from markdown_table([noun, first, "95 % interval", *others, "n"], rows)


def _since(since: SinceLast | None) -> Iterator[str]:
    if since is not None:
        yield from ("", f"## {for_markdown(since.title)}", "")
        yield from (f"- {for_markdown(sentence)}" for sentence in since.sentences())


def _label_trust(report: Report) -> Iterator[str]:
    sentences, judging = label_trust.label_sentences(report), label_trust.to_judge(report)
    if sentences or judging is not None:
        yield from ("", f"## {label_trust.TITLE}", "")
    yield from (f"- {for_markdown(sentence)}" for sentence in sentences)
    if judging is not None:
        yield f"- {for_markdown(judging.sentence)}"
        yield from (f"    - {for_markdown(command)}" for command in judging.commands)
        if judging.rest:
            yield f"    - and {wording.queries(judging.rest)} more"


def _details(report: Report, run: RunReport) -> Iterator[str]:
    if len(report.runs) > 1:
        yield from ("", f"All that follows is about the run {for_markdown(run.retriever.name)}.")
    found = miss_findings.causes(run)
    if found:
        yield from ("", "## Causes of misses", "")
        rows = [(one.meaning, f"{one.queries:,}", f"{one.pages:,}", one.remedy) for one in found]
        yield from markdown_table(["cause", "queries", "pages", "what helps"], rows, words=1)
    yield from _misses(report, run)
    yield from _listed("Missing gold", "an expected page does not exist", miss_findings.missing_gold(run))
    yield from _listed("Skipped", "their label says so", miss_findings.skipped(run))
    yield from _listed("Errors", "the searcher failed", miss_findings.errors(run))
    yield from ("", "## What to do next", "")
    yield from (f"{place}. {for_markdown(step)}" for place, step in enumerate(miss_findings.next_steps(run), start=1))


def _misses(report: Report, run: RunReport) -> Iterator[str]:
    missed, shown = miss_findings.missed_rows(run), miss_findings.worst_rows(run)
    if missed:
        of_all = "" if len(shown) == len(missed) else f" ({len(shown)} of {len(missed)})"
        yield from ("", f"## Worst misses{of_all}", "")
        yield from (f"An expected page is not among the first {METRIC_CUTOFF_PAGES}.", "")
    for row in shown if missed else ():
        yield from _miss(report.vault_name, row)
    rest = len(missed) - len(shown)
    if rest > 0:
        yield from ("", f"And {wording.counted(rest, 'missed query', 'missed queries')} more in report.json and report.html.")


def _miss(vault: str, row: QueryRow) -> Iterator[str]:
    yield f"- **{for_markdown(row.id)}**: {for_markdown(wording.cut(row.query, QUERY_SHOWN_MAX_CHARACTERS))}"
    for one in row.diagnosis:
        yield f"    - expected {_link(vault, one.page)}: {for_markdown(wording.why(one))}"
        lacking = miss_findings.lacking(row, one)
        more = (
            miss_findings.evidence(one),
            *(f"{rival.page} at rank {rival.rank} {_scores(rival)}" for rival in one.rivals),
            f"words that are not there: {lacking}" if lacking else None,
            evidence_findings.with_words(one),
        )
        yield from (f"        - {for_markdown(words)}" for words in more if words)
    yield from (f"    - {for_markdown(tie)}" for tie in evidence_findings.tie_sentences(row))
    first = miss_findings.came_first(row)
    instead = miss_findings.instead(row) if first is None else f"{_link(vault, first.page)} at rank {first.rank}"
    yield f"    - instead: {instead}"


def _scores(rival: Rival) -> str:
    """`scores 3.120: tide 2.000, neap 1.120`, the words that add nothing left out."""
    terms = [f"{term.term} {term.contribution:.3f}" for term in rival.evidence.terms if term.tf]
    return f"scores {rival.evidence.score:.3f}: {wording.some(terms)}"


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
        yield from markdown_table(["time a query", "p50", "p95", "max", "n", "beside"], rows, words=1)
    else:
        yield "No data: no query was timed."
    for place, run in enumerate(report.runs):
        for kind, why in findings.not_timed(findings.timing_of(report, place)):
            yield from ("", for_markdown(f"{run.retriever.name}, {kind}: {why}"))


def _timed(name: str, one: Latency) -> list[str]:
    cells = (f"{name}, {one.name}", one.p50, f"{one.p95} {one.p95_note}".rstrip(), one.max, one.n, one.beside or wording.NOTHING)
    return [for_markdown(cell) for cell in cells]


def _link(vault: str, page: str) -> str:
    return f"[{for_markdown(page)}]({obsidian_link(vault, page)})"
