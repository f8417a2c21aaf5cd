"""The program on one page: labels and notes in, a ranking for each query, scores, causes, one report out.

Nothing below the vault is written, nothing is sent anywhere, and the report is about the bytes that were there when it
began: a change meanwhile is an error, not a figure.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from vault_eval import __version__, launcher
from vault_eval.data_folder import DataFolder
from vault_eval.diagnosis.label_findings import Examined, label_findings
from vault_eval.diagnosis.misses import Diagnosis, SearchedPages, Wanted, diagnose
from vault_eval.diagnosis.query_terms import QueryTerms, query_terms
from vault_eval.digests import sha256_of_lines
from vault_eval.errors import IndexUnusableError, UnreadableFileError, UsageError
from vault_eval.index.commands import advice_to_build, build_command, retrieve_command
from vault_eval.index.freshness import Freshness, compare_with_vault, without_index
from vault_eval.index.options import IndexOptions, options_from_json
from vault_eval.index.states import read_states
from vault_eval.index.seal import SEAL_NAME, open_index
from vault_eval.index.store import LABEL_NOTE
from vault_eval.labels.eligibility import SettledLabel, settle
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.sources import discover, label_property, open_sources, reread
from vault_eval.limits import COLD_SAMPLES_DEFAULT_QUERIES, DEPTH_DEFAULT_PAGES, DEPTH_MAX_PAGES, DEPTH_MIN_PAGES
from vault_eval.metrics.latency import summary
from vault_eval.model import Label, LabelSet, Ranking, Run
from vault_eval.rankings.binding import BoundFile, label_file, refuse_changes
from vault_eval.rankings.cold import ColdTimes, cold_sample, time_cold
from vault_eval.rankings.runner import run_queries
from vault_eval.reports.document import Coverage, QueryRow, Report, RunReport, RunTiming, Timing
from vault_eval.reports.json_report import report_value
from vault_eval.reports.summary import coverage, run_report
from vault_eval.retrievers.protocol import Explains, Retriever, RetrieverContext, WarmOnly
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import Spec, is_free_baseline, parse_specs
from vault_eval.strict_json import JsonValue
from vault_eval.vault.note_text import LABEL_PROPERTY, decode
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot

_ADVISED_PAGES_MAX = 5


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be measured. `data` and `index` are None where the default places are meant."""

    vault: str
    queries: tuple[str, ...] = ()
    retrievers: tuple[str, ...] = ("keyword",)
    depth: int = DEPTH_DEFAULT_PAGES
    data: str | None = None
    index: str | None = None
    collection: str | None = None
    split: str | None = None  # "dev" or "holdout"; None for all
    cold_samples: int = COLD_SAMPLES_DEFAULT_QUERIES


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

    Raises VaultEvalError, whose `exit_code` says the kind; never prints, never exits, writes nothing.
    """
    if product_root is not None:
        raise UsageError(
            "product_root: another product's own search cannot be measured yet; leave it out to measure the native index"
        )
    queries = (query_file,) if isinstance(query_file, str) else tuple(query_file)
    request = replace(Request(vault, queries, depth=top_k), **settings)  # type: ignore[arg-type]
    return report_value(evaluate(request, clock()))


def evaluate(request: Request, clock: Clock) -> Report:
    """Measure every configuration on the same labels and the same snapshot. Raises VaultEvalError; writes nothing."""
    _check(request)
    data = DataFolder(launcher.data_folder(request.data))
    options = index_options(data, request.vault)
    with open_snapshot(request.vault, options.exclude) as vault, ExitStack() as opened:
        documents = _open_labels(request, data, vault)
        labels = load_labels(documents)
        folder = os.path.abspath(request.index) if request.index else data.index_folder(vault.id)
        specs = parse_specs(request.retrievers)
        try:
            may_lack = request.index is None and is_free_baseline(specs)
            searchers, freshness, label_notes = _open_searchers(specs, vault, folder, documents, may_lack=may_lack)
        except IndexUnusableError as error:
            line = build_command(vault.root, options, index=request.index, data=request.data)
            raise IndexUnusableError(advice_to_build(str(error), line)) from None
        for searcher in searchers:
            opened.callback(searcher.close)
        settled = settle(labels.labels, vault.listing, vault.reader, request.collection, request.split, freshness.renamed.get)
        asked = [one.label for one in settled if one.status in ("scored", "negative")]
        runs = [run_queries(searcher, asked, request.depth, clock.now_ns, label_notes) for searcher in searchers]
        diagnosers = [_diagnoser(run, searcher, vault, freshness) for run, searcher in zip(runs, searchers, strict=True)]
        looks = [_look_at_terms(searcher, settled) for searcher in searchers]
        scored = [
            run_report(run, settled, diagnoser, look, lambda page: _text(vault, page))
            for run, diagnoser, look in zip(runs, diagnosers, looks, strict=True)
        ]
        explains = next((searcher for searcher in searchers if isinstance(searcher, Explains)), None)
        properties = tuple(dict.fromkeys([LABEL_PROPERTY, *filter(None, map(label_property, documents))]))
        found = label_findings(Examined(vault, freshness, settled, runs, label_notes, explains, properties))
        in_scope = frozenset((*vault.names, *(one.path for one in vault.listing.skipped)))
        covered = coverage(settled, in_scope, freshness.indexed, lambda page: page in freshness.changed)
        cold = [
            _time_cold(run, searcher, asked, request, vault.root, clock) for run, searcher in zip(runs, searchers, strict=True)
        ]
        refuse_changes([*_bound_labels(documents, vault), *_bound_indexes(searchers)], vault.reader)
        timing = Timing(f"{clock.started:%Y-%m-%dT%H:%M:%SZ}", _environment(), tuple(map(_timing, runs, cold, searchers)))
        return replace(_report(request, vault, freshness, labels, covered, scored, timing), label_findings=found)


def index_options(data: DataFolder, vault: str) -> IndexOptions:
    """The options that the vault's index is built with: those remembered, else the defaults."""
    from vault_eval.vault.location import vault_id, vault_root

    remembered = data.settings(vault_id(vault_root(vault))).index_options
    return options_from_json(dict(remembered)) if remembered else IndexOptions()


def _check(request: Request) -> None:
    if not DEPTH_MIN_PAGES <= request.depth <= DEPTH_MAX_PAGES:
        raise UsageError(f"--top {request.depth}: allowed are {DEPTH_MIN_PAGES} (recall@10 needs ten) to {DEPTH_MAX_PAGES:,}")
    if request.cold_samples < 0:
        raise UsageError(f"--cold-samples {request.cold_samples}: allowed are 0, a number of queries, or all")


def _open_labels(request: Request, data: DataFolder, vault: VaultSnapshot) -> list[LabelDocument]:
    sources = request.queries or discover(data.settings(vault.id).labels, vault.reader, vault.names)
    return open_sources(sources, vault.reader, vault.named, lambda: vault.names)


def _open_searchers(
    specs: Sequence[Spec], vault: VaultSnapshot, folder: str, documents: Sequence[LabelDocument], *, may_lack: bool
) -> tuple[list[Retriever], Freshness, frozenset[str]]:
    """The searchers in the order of the specs, how the index stands to the notes, and the notes that hold labels.

    Those with an index are opened first, since they verify its bytes: only then is anything else read from it.
    """
    opened = {spec.text: open_retriever(spec, RetrieverContext(vault, folder)) for spec in specs if not is_free_baseline([spec])}
    freshness = _index_freshness(folder, vault, verify=not opened, may_lack=may_lack)
    label_notes = _label_notes(documents, freshness)
    context = RetrieverContext(vault, folder, label_notes)
    opened |= {spec.text: open_retriever(spec, context) for spec in specs if spec.text not in opened}
    return [opened[spec.text] for spec in specs], freshness, label_notes


def _index_freshness(folder: str, vault: VaultSnapshot, *, verify: bool, may_lack: bool) -> Freshness:
    """How the index stands to the notes; where there may be none and is none, every note is what is searched."""
    if may_lack and not os.path.lexists(os.path.join(folder, SEAL_NAME)):
        return without_index(vault.listing, vault.pages)
    index, sha256 = open_index(folder, vault.id, verify=verify)
    with index:
        return compare_with_vault(vault.listing, index, read_states(folder, sha256), vault.pages)


def _diagnoser(
    run: Run, searcher: Retriever, vault: VaultSnapshot, freshness: Freshness
) -> Callable[[QueryRow, str, Wanted], Diagnosis]:
    skipped = {one.path: one.reason for one in vault.listing.skipped} | dict(freshness.left_out)
    pages = SearchedPages({one.path: one.reason for one in vault.listing.excluded}, skipped, lambda page: _text(vault, page))
    explains = searcher if isinstance(searcher, Explains) else None
    return lambda row, page, wanted: diagnose(
        row.query,
        page,
        run.rankings[row.id],
        explains,
        pages,
        wanted,
        tuple(place.target for place in row.places if place.page == page),
    )


def _label_notes(documents: Sequence[LabelDocument], freshness: Freshness) -> frozenset[str]:
    """The notes that hold labels: those named as sources, and those that the index left out as such."""
    named = {one.path_in_vault for one in documents if one.path_in_vault is not None}
    return frozenset(named | {page for page, reason in freshness.left_out.items() if reason == LABEL_NOTE})


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


def _text(vault: VaultSnapshot, page: str) -> str | None:
    try:
        return decode(vault.reader.read(page))
    except UnreadableFileError:
        return None


def _time_cold(run: Run, searcher: Retriever, asked: Sequence[Label], request: Request, root: str, clock: Clock) -> ColdTimes:
    if isinstance(searcher, WarmOnly):
        return ColdTimes({}, ())
    command = retrieve_command(root, run.retriever.name, request.depth, index=request.index, data=request.data)
    return time_cold(cold_sample(asked, request.cold_samples), command, clock.now_ns)


def _bound_labels(documents: Sequence[LabelDocument], vault: VaultSnapshot) -> list[BoundFile]:
    return [label_file(one.name, one.data, lambda one=one: reread(one, vault.reader)) for one in documents]  # type: ignore[misc]


def _bound_indexes(searchers: Sequence[Retriever]) -> list[BoundFile]:
    described = ((searcher, searcher.index()) for searcher in searchers)
    return [BoundFile("the index", index.sha256, searcher.bound_digest) for searcher, index in described if index is not None]


def _environment() -> dict[str, str]:
    machine = {"system": platform.system(), "machine": platform.machine(), "processors": str(os.cpu_count())}
    return {"python": platform.python_version(), **machine}


def _timing(run: Run, cold: ColdTimes, searcher: Retriever) -> RunTiming:
    return RunTiming(
        run.warm_ms,
        summary(run.warm_ms.values()),
        cold.queries,
        summary(cold.queries.values()),
        summary(cold.interpreter),
        searcher.why_no_cold if isinstance(searcher, WarmOnly) else None,
    )


def _report(
    request: Request,
    vault: VaultSnapshot,
    freshness: Freshness,
    labels: LabelSet,
    covered: Coverage,
    runs: Sequence[RunReport],
    timing: Timing,
) -> Report:
    digests = {**freshness.digests, **vault.pages.known()}
    digests = {page: digests[page] for page in sorted(digests)}
    return Report(
        tool_version=__version__,
        vault_name=os.path.basename(vault.root),
        vault_pages=len(vault.listing.notes),
        snapshot_sha256=sha256_of_lines(f"{digest}  {page}" for page, digest in digests.items()),
        page_digests=digests,
        label_sources=labels.sources,
        label_queries=len(labels.labels),
        split=request.split or "all",
        unavailable=(),
        warnings=(*labels.warnings, *vault.listing.warnings, *_advice(freshness)),
        coverage=covered,
        runs=tuple(runs),
        timing=timing,
    )


def _advice(freshness: Freshness) -> list[str]:
    """What a person should know of the index before reading any figure."""
    kinds = (
        (freshness.added, "added since the index was built, not in it"),
        (freshness.changed, "changed since the index was built: the old text is stale and not returned"),
        (freshness.removed, "in the index but no longer in the vault: stale and not returned"),
    )
    return [
        f"{len(pages):,} note{'s' * (len(pages) > 1)} {what}; run index again: {_some(pages)}" for pages, what in kinds if pages
    ]


def _some(pages: Sequence[str]) -> str:
    rest = len(pages) - _ADVISED_PAGES_MAX
    return ", ".join(map(repr, pages[:_ADVISED_PAGES_MAX])) + (f" and {rest} more" if rest > 0 else "")
