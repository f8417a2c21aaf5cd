"""The program on one page: labels and notes in, a ranking for each query, scores, causes, one report out.

Nothing below the vault is written, nothing is sent anywhere, and the report is about the bytes that were there when it
began: a change meanwhile is an error, not a figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from vault_eval.command_lines import retrieve_command
from vault_eval.diagnosis.label_findings import Examined, label_findings
from vault_eval.diagnosis.misses import Diagnosis, SearchedPages, Wanted, diagnose
from vault_eval.diagnosis.query_terms import QueryTerms, query_terms
from vault_eval.index.freshness import Freshness
from vault_eval.inputs import Inputs, open_inputs
from vault_eval.labels.eligibility import SettledLabel
from vault_eval.limits import DEPTH_DEFAULT_PAGES
from vault_eval.model import Label, Ranking, Run
from vault_eval.rankings.cold import ColdTimes, beside_interpreters, cold_sample, time_cold
from vault_eval.rankings.runner import run_queries
from vault_eval.reports.assembly import assembled, environment, run_timing
from vault_eval.reports.document import QueryRow, Report, Timing
from vault_eval.reports.json_report import report_value
from vault_eval.reports.summary import coverage, run_report
from vault_eval.request import Request
from vault_eval.retrievers.protocol import ColdOnly, Explains, KnowsPages, Retriever, WarmOnly
from vault_eval.retrievers.spec import CLAUDE_OBSIDIAN, KEYWORD
from vault_eval.strict_json import JsonValue

if TYPE_CHECKING:
    from vault_eval.reports.snippets import Snippets


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, passed in: the moment of the start, and a monotonic clock in nanoseconds."""

    started: datetime
    now_ns: Callable[[], int]


def clock() -> Clock:
    """The clock of this machine."""
    return Clock(datetime.now(timezone.utc), time.perf_counter_ns)


def run_quality(
    vault: str,
    query_file: str | Sequence[str],
    product_root: str | None = None,
    top_k: int = DEPTH_DEFAULT_PAGES,
    **settings: object,
) -> dict[str, JsonValue]:
    """The report (`vault-eval.report.v1`) of one evaluation as plain values; `settings` are further fields of Request.

    With `product_root`, the checkout of claude-obsidian, that product's own search is measured instead of the native index.
    Raises VaultEvalError, whose `exit_code` says the kind; never prints, never exits, writes nothing.
    """
    queries = (query_file,) if isinstance(query_file, str) else tuple(query_file)
    searchers = (KEYWORD,) if product_root is None else (CLAUDE_OBSIDIAN,)
    request = Request(vault, queries, searchers, top_k, product_root=product_root)
    request = replace(request, **settings)  # type: ignore[arg-type]
    return report_value(evaluate(request, clock()))


def evaluate(request: Request, clock: Clock) -> Report:
    """Measure every configuration on the same labels and the same snapshot. Raises VaultEvalError; writes nothing."""
    with open_inputs(request) as inputs:
        report = _measured(inputs, request, clock)
        inputs.refuse_changes()
        return report


def evaluate_with_snippets(request: Request, clock: Clock) -> tuple[Report, Snippets]:
    """The same, and the lines of notes that the first run's misses are about, for the owner's own page."""
    from vault_eval.reports.snippets import snippets_of

    with open_inputs(request) as inputs:
        report = _measured(inputs, request, clock)
        moved = (*inputs.freshness.changed, *inputs.freshness.label_only) if report.runs[0].index is not None else ()
        snippets = snippets_of(report.runs[0], inputs.text, moved)
        inputs.refuse_changes()
        return report, snippets


def _measured(inputs: Inputs, request: Request, clock: Clock) -> Report:
    vault, settled, asked, searchers = inputs.vault, inputs.settled, inputs.asked, inputs.searchers
    runs = [run_queries(searcher, asked, request.depth, clock.now_ns, inputs.label_notes) for searcher in searchers]
    scored = [
        run_report(run, settled, _diagnoser(run, searcher, inputs), _look_at_terms(searcher, settled), inputs.text)
        for run, searcher in zip(runs, searchers, strict=True)
    ]
    examined = Examined(vault, inputs.freshness, settled, runs, inputs.label_notes, inputs.explains, inputs.label_properties)
    found = label_findings(examined)
    stale = frozenset(inputs.freshness.changed)
    covered = coverage(settled, inputs.in_scope, inputs.freshness.indexed, stale.__contains__)
    cold = [_time_cold(run, searcher, inputs, request, clock) for run, searcher in zip(runs, searchers, strict=True)]
    timing = Timing(f"{clock.started:%Y-%m-%dT%H:%M:%SZ}", environment(), tuple(map(run_timing, runs, cold, searchers)))
    by_searcher, chosen = _by_searcher(runs, inputs), (request.split, request.collection)
    report = assembled(vault, inputs.freshness, by_searcher, inputs.labels, covered, scored, timing, *chosen)
    return replace(report, label_findings=found)


def _by_searcher(runs: Sequence[Run], inputs: Inputs) -> dict[str, Freshness]:
    """How each index stands to the notes, by the first searcher of it."""
    named = {run.index.sha256: run.retriever.name for run in reversed(runs) if run.index is not None}
    return {named[sha256]: freshness for sha256, freshness in inputs.by_index.items()}


def _diagnoser(run: Run, searcher: Retriever, inputs: Inputs) -> Callable[[QueryRow, str, Wanted], Diagnosis]:
    """Why a gold page of a row was missed, for the pages of this vault and what the searcher can tell."""
    listing = inputs.vault.listing
    skipped = {one.path: one.reason for one in listing.skipped} | dict(inputs.left_out(searcher))
    excluded = {one.path: one.reason for one in listing.excluded}
    pages = SearchedPages(excluded, skipped, inputs.text, label_properties=inputs.label_properties)
    told = searcher if isinstance(searcher, (Explains, KnowsPages)) else None
    return lambda row, page, wanted: diagnose(
        row.query,
        page,
        run.rankings[row.id],
        told,
        pages,
        wanted,
        tuple(place.target for place in row.places if place.page == page),
    )


def _look_at_terms(searcher: Retriever, settled: Sequence[SettledLabel]) -> Callable[[Label, Ranking], QueryTerms] | None:
    """Where the words of a query stand, for a searcher that can be looked into; coverage only where it can be put to use."""
    index = searcher.index()
    if not isinstance(searcher, Explains) or index is None:
        return None
    with_coverage = {"scored", "negative"} <= {one.status for one in settled}
    return lambda label, ranking: query_terms(
        label.query,
        label.pages,
        ranking.pages[0].page if ranking.pages else None,
        searcher,
        index.chunks,
        with_coverage=with_coverage,
    )


def _time_cold(run: Run, searcher: Retriever, inputs: Inputs, request: Request, clock: Clock) -> ColdTimes:
    if isinstance(searcher, WarmOnly):
        return ColdTimes({}, ())
    if isinstance(searcher, ColdOnly):
        return beside_interpreters(run.elapsed_ms, request.cold_samples, clock.now_ns)
    places = {"index": request.index, "data": request.data}
    command = retrieve_command(inputs.vault.root, run.retriever.name, request.depth, **places, no_rerank=request.no_rerank)
    return time_cold(cold_sample(inputs.asked, request.cold_samples), command, clock.now_ns)
