"""From what was found to the one report document."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from vault_eval import __version__
from vault_eval.index.freshness import Freshness
from vault_eval.labels.sources import PROPERTY_PREFIX
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.latency import summary
from vault_eval.model import LabelSet, Run
from vault_eval.rankings.cold import ColdTimes
from vault_eval.reports.document import Coverage, Report, RunReport, RunTiming, Timing, snapshot_digest
from vault_eval.reports.wording import metric_label
from vault_eval.retrievers.protocol import ColdOnly, Retriever, WarmOnly
from vault_eval.vault.note_text import LABEL_PROPERTY
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
    collection: str | None,
) -> Report:
    """The report of runs on one snapshot and one label set; `split` and `collection` are None where all labels were asked.

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
        unavailable=_unavailable(runs),
        warnings=(
            *labels.warnings,
            *vault.listing.warnings,
            *_advice(freshness),
            *_advice_on_labels(freshness, labels),
            *_advice_on_others(freshness, by_searcher),
            *_advice_on_comparing(runs),
        ),
        coverage=covered,
        runs=tuple(runs),
        timing=timing,
        collection=collection,
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


def _unavailable(runs: Sequence[RunReport]) -> tuple[str, ...]:
    """Each metric for which some searcher does not tell what it needs: which searchers, and what."""
    needs = {metric.name: metric.needs for metric in metrics_for(runs[0].depth)} if runs else {}
    hidden = {name: [one.retriever.name for one in runs if one.metrics[name].status == "unavailable"] for name in needs}
    return tuple(
        f"{metric_label(name)}: {' and '.join(map(quoted, names))} {'do' if len(names) > 1 else 'does'} not tell {needs[name]}"
        for name, names in hidden.items()
        if names
    )


def _advice(freshness: Freshness) -> list[str]:
    """What a person should know of the index before reading any figure."""
    skipped = freshness.records_skipped
    lost = f"not in the index: added since it was built, or of its {skipped:,} record{'s' * (skipped > 1)} skipped as malformed"
    kinds = (
        (freshness.added, lost if skipped else "added since the index was built, not in it"),
        (freshness.changed, "changed since the index was built: the old text is stale and not returned"),
        (freshness.removed, "in the index but no longer in the vault: stale and not returned"),
    )
    remedy = freshness.remedy
    return [f"{len(pages):,} note{'s' * (len(pages) > 1)} {what}; {remedy}: {_some(pages)}" for pages, what in kinds if pages]


def _advice_on_labels(freshness: Freshness, labels: LabelSet) -> list[str]:
    """What writing labels has to do with changed notes, where they stand in a property that an index does not know."""
    usual = f"{PROPERTY_PREFIX}{LABEL_PROPERTY}"
    named = [one.name for one in labels.sources if one.name.startswith(PROPERTY_PREFIX) and one.name != usual]
    aside = f"an index leaves {quoted(LABEL_PROPERTY)} alone aside"
    return [f"a note of which only {quoted(name)} changed is stale too: {aside}" for name in named if freshness.changed]


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
