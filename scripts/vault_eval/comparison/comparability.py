"""What differs between two sides besides the configuration: that refuses a comparison, confounds it, or is worth knowing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vault_eval.comparison.pairing import Pairing
from vault_eval.comparison.records import Effect, Finding, Side
from vault_eval.vault.paths import quoted


def findings(baseline: Side, candidate: Side, pairing: Pairing, *, allow_different: bool = False) -> tuple[Finding, ...]:
    """Labels, depth and pool must be the same: where they differ it refuses, or with `allow_different` confounds.

    Other pages, an index of another state of them, or another index of the same settings and pages, confound: a difference is
    no longer the configuration's own.
    """
    effect: Effect = "confounds" if allow_different else "refuses"
    sides = baseline, candidate
    return (
        *_labels(*sides, pairing, effect),
        *_numbers(*sides, effect),
        *_pages(*sides),
        *index_findings(*sides),
    )


def _labels(baseline: Side, candidate: Side, pairing: Pairing, effect: Effect) -> Iterator[Finding]:
    drifted = pairing.of("drifted")
    if drifted:
        first = f"{quoted(drifted[0].id)}: {drifted[0].reason}"
        more = f", and {len(drifted) - 1} more" if len(drifted) > 1 else ""
        yield Finding("labels", effect, f"the labels differ ({first}{more})", tuple(query.id for query in drifted))
    elif {source.sha256 for source in baseline.label_sources} != {source.sha256 for source in candidate.label_sources}:
        names = tuple(dict.fromkeys(source.name for side in (baseline, candidate) for source in side.label_sources))
        yield Finding("labels", "notes", "the label files differ, but no id, query, expected page or grade does", names)


def _numbers(baseline: Side, candidate: Side, effect: Effect) -> Iterator[Finding]:
    if baseline.depth != candidate.depth:
        yield Finding("depth", effect, f"the depth differs (--top): {baseline.depth} and {candidate.depth} pages")
    pools = baseline.pool_chunks, candidate.pool_chunks
    if None not in pools and pools[0] != pools[1]:
        yield Finding("pool", effect, f"the candidate pool differs: {pools[0]} and {pools[1]} chunks")
    exhausted = baseline.pool_exhausted, candidate.pool_exhausted
    if exhausted[0] != exhausted[1]:
        sentence = f"the pool was exhausted before {baseline.depth} pages in {exhausted[0]} and {exhausted[1]} queries"
        yield Finding("pool", "notes", sentence)


def _pages(baseline: Side, candidate: Side) -> Iterator[Finding]:
    if baseline.vault_name != candidate.vault_name:
        names = f"{quoted(baseline.vault_name)} and {quoted(candidate.vault_name)}"
        yield Finding("vault", "confounds", f"the vaults have different names: {names}")
    if baseline.snapshot_sha256 == candidate.snapshot_sha256:
        return
    if baseline.page_digests is None or candidate.page_digests is None:
        yield Finding("pages", "confounds", "pages changed; which ones is unknown, since a report has no pages.json beside it")
        return
    changed = _changed(baseline.page_digests, candidate.page_digests)
    count = f"{len(changed)} page{'' if len(changed) == 1 else 's'}" if changed else "pages"
    yield Finding("pages", "confounds", f"{count} changed", changed)


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """The pages that were edited, added or removed."""
    return tuple(sorted(page for page in before.keys() | after.keys() if before.get(page) != after.get(page)))


def index_findings(baseline: Side, candidate: Side) -> Iterator[Finding]:
    """At most one: another index of the same notes. One that other settings built from them is what it was made, and none."""
    indexes = baseline.index_sha256, candidate.index_sha256
    if None in indexes or indexes[0] == indexes[1] or baseline.snapshot_sha256 != candidate.snapshot_sha256:
        return
    notes = baseline.notes_sha256, candidate.notes_sha256
    if None not in notes and notes[0] != notes[1]:
        yield Finding("index", "confounds", "the indexes were built from other states of the notes: one of them is stale")
    elif baseline.settings == candidate.settings and baseline.name == candidate.name:
        sentence = "the index differs although settings and pages do not: one of them was stale, or built otherwise"
        yield Finding("index", "confounds", sentence)
