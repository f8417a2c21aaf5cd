"""A comparison as JSON: `vault-eval.comparison.v1`, keys in one order, nothing in it but what the reports say."""

from __future__ import annotations

from collections.abc import Sequence

from vault_eval import strict_json
from vault_eval.comparison.records import CategoryChange, Comparison, Finding, MetricChange, QueryChange, Side
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.strict_json import JsonValue

SCHEMA = "vault-eval.comparison.v1"
SCHEMA_OF_SEVERAL = "vault-eval.comparisons.v1"
# Levels that stand a line an entry: one query is one line.
_SPREAD = 2


def comparison_json(comparisons: Sequence[Comparison], *, ascii_only: bool = False) -> str:
    """One comparison, or a list of several candidates against the same baseline, as a JSON document ended by LF."""
    if len(comparisons) == 1:
        return strict_json.dumps(comparison_value(comparisons[0]), spread=_SPREAD, ascii_only=ascii_only) + "\n"
    value = {"schema": SCHEMA_OF_SEVERAL, "comparisons": [comparison_value(one) for one in comparisons]}
    return strict_json.dumps(value, spread=_SPREAD + 2, ascii_only=ascii_only) + "\n"


def comparison_value(comparison: Comparison) -> dict[str, JsonValue]:
    """One comparison as plain JSON values; `metrics` is empty where it was refused."""
    verdict = comparison.verdict
    return {
        "schema": SCHEMA,
        "baseline": _side(comparison.baseline),
        "candidate": _side(comparison.candidate),
        "primary": comparison.primary,
        "family": comparison.family,
        "verdict": verdict.word,
        "reasons": list(verdict.reasons),
        "queries_needed": verdict.queries_needed,
        "findings": [_finding(one) for one in comparison.findings],
        "metrics": {change.name: _metric(change) for change in comparison.metrics},
        "categories": {one.category: _category(one) for one in comparison.categories},
        "better": [_query(change) for change in comparison.of("better")],
        "worse": [_query(change) for change in comparison.of("worse")],
        "same": [_query(change) for change in comparison.of("same")],
        "unpaired": [{"id": one.id, "query": one.query, "kind": one.kind, "reason": one.reason} for one in comparison.unpaired],
    }


def _side(side: Side) -> JsonValue:
    return {
        "retriever": {"name": side.name, **side.settings},
        "depth": side.depth,
        "started": side.started,
        "vault": {"name": side.vault_name, "snapshot_sha256": side.snapshot_sha256},
        "index_sha256": side.index_sha256,
        "labels": [{"name": one.name, "sha256": one.sha256, "format": one.format} for one in side.label_sources],
    }


def _finding(finding: Finding) -> JsonValue:
    return {
        "subject": finding.subject,
        "effect": finding.effect,
        "sentence": finding.sentence,
        "changed": list(finding.changed),
    }


def _metric(change: MetricChange) -> JsonValue:
    """One metric; `wins_needed` is null where wins alone do not decide: there is no place for a condition."""
    interval, chance = change.interval, change.chance
    return {
        "baseline": change.baseline,
        "candidate": change.candidate,
        "delta": change.delta,
        "interval": None if interval is None else {"low": interval.low, "high": interval.high, "method": interval.method},
        "n": change.n,
        "wins": change.wins,
        "losses": change.losses,
        "ties": change.ties,
        "wins_needed": chance.wins_needed if chance and chance.wins_decide else None,
        "detectable": chance.detectable if chance else None,
        "effective_n": chance.effective_n if chance else None,
        "test": chance.test if chance else None,
        "p": chance.p if chance else None,
        "p_smallest": chance.smallest_p if chance else None,
        "p_adjusted": chance.p_adjusted if chance else None,
        "p_t": chance.t_p if chance else None,
    }


def _category(one: CategoryChange) -> JsonValue:
    return {"delta": one.delta, "n": one.n, "wins": one.wins, "losses": one.losses, "against_the_mean": one.against}


def _query(change: QueryChange) -> JsonValue:
    before, after = (list[JsonValue](ranking[:METRIC_CUTOFF_PAGES]) for ranking in change.rankings)
    return {
        "id": change.id,
        "query": change.query,
        "category": change.category,
        "delta": change.delta,
        "baseline": {"value": change.values[0], "rank": change.ranks[0], "ranking": before},
        "candidate": {"value": change.values[1], "rank": change.ranks[1], "ranking": after},
    }
