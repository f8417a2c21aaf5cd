"""From what was found to the one report document."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from vault_eval import __version__
from vault_eval.index.freshness import Freshness
from vault_eval.metrics.latency import summary
from vault_eval.model import LabelSet, Run
from vault_eval.rankings.cold import ColdTimes
from vault_eval.reports.document import Coverage, Report, RunReport, RunTiming, Timing, snapshot_digest
from vault_eval.retrievers.protocol import ColdOnly, Retriever, WarmOnly
from vault_eval.vault.paths import quoted
from vault_eval.vault.snapshot import VaultSnapshot

_ADVISED_PAGES_MAX = 5


def assembled(
    vault: VaultSnapshot,
    freshness: Freshness,
    by_searcher: Mapping[str, Freshness],
    labels: LabelSet,
    covered: Coverage,
    runs: Sequence[RunReport],
    timing: Timing,
    split: str | None,
) -> Report:
    """The report of runs on one snapshot and one label set; `split` is None where all labels were asked.

    `freshness` is that of the first index; `by_searcher` has that of each index, by a searcher of it.
    """
    digests = {**freshness.digests, **vault.pages.known()}
    digests = {page: digests[page] for page in sorted(digests)}
    return Report(
        tool_version=__version__,
        vault_name=os.path.basename(vault.root),
        vault_pages=len(vault.listing.pages),
        snapshot_sha256=snapshot_digest(digests),
        page_digests=digests,
        label_sources=labels.sources,
        label_queries=len(labels.labels),
        split=split or "all",
        unavailable=(),
        warnings=(
            *labels.warnings,
            *vault.listing.warnings,
            *_advice(freshness),
            *_advice_on_others(freshness, by_searcher),
            *_advice_on_comparing(runs),
        ),
        coverage=covered,
        runs=tuple(runs),
        timing=timing,
    )


def environment() -> dict[str, str]:
    """The machine and the interpreter that were measured on."""
    system, machine = _system_and_machine()
    version = "{}.{}.{}".format(*sys.version_info)
    return {"python": version, "system": system, "machine": machine, "processors": str(os.cpu_count())}


def _system_and_machine() -> tuple[str, str]:
    if hasattr(os, "uname"):
        named = os.uname()
        return named.sysname, named.machine
    import platform

    return platform.system(), platform.machine()


def run_timing(run: Run, cold: ColdTimes, searcher: Retriever) -> RunTiming:
    """The times of one run, warm and cold, and why a searcher has none of a kind."""
    not_timed = {"cold": searcher.why_no_cold} if isinstance(searcher, WarmOnly) else {}
    not_timed |= {"warm": searcher.why_no_warm} if isinstance(searcher, ColdOnly) else {}
    warm_ms = {} if "warm" in not_timed else run.elapsed_ms
    return RunTiming(
        warm_ms,
        summary(warm_ms.values()),
        cold.queries,
        summary(cold.queries.values()),
        summary(cold.interpreter),
        not_timed,
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


def _advice_on_others(first: Freshness, by_searcher: Mapping[str, Freshness]) -> list[str]:
    """The same of every further index for which it is not the same."""
    known = _advice(first)
    return [f"index of {name}: {line}" for name, one in by_searcher.items() for line in _advice(one) if line not in known]


def _advice_on_comparing(runs: Sequence[RunReport]) -> list[str]:
    """Which runs may not be set against the first one, since their indexes hold the notes in another state."""
    told = [(run.retriever.name, run.index.notes_sha256) for run in runs if run.index is not None and run.index.notes_sha256]
    return [
        f"the indexes of {quoted(told[0][0])} and {quoted(name)} were built from other states of the notes, so that a difference "
        "is not that of the settings alone; run index again, and name what differs with --vary"
        for name, notes in told
        if notes != told[0][1]
    ]


def _some(pages: Sequence[str]) -> str:
    rest = len(pages) - _ADVISED_PAGES_MAX
    return ", ".join(map(repr, pages[:_ADVISED_PAGES_MAX])) + (f" and {rest} more" if rest > 0 else "")
