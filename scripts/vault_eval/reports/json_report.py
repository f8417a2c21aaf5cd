"""The report as JSON: `vault-eval.report.v1`, keys in one order, everything that may differ between two runs under `timing`."""

from __future__ import annotations

from collections.abc import Mapping

from vault_eval import strict_json
from vault_eval.diagnosis.label_findings import LabelFindings
from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.metrics.latency import LatencySummary
from vault_eval.metrics.metric import CUTOFFS
from vault_eval.metrics.score import MetricValue
from vault_eval.model import IndexDescription, RankedPage
from vault_eval.reports.document import SCHEMA, STATEMENT, QueryRow, Report, RunReport, RunTiming, TieGroup, Trust
from vault_eval.reports.rows import recall_caps
from vault_eval.retrievers.protocol import PageEvidence
from vault_eval.strict_json import JsonValue

# Levels that stand a line an entry: one query row is one line, so that two reports can be compared with a diff.
_SPREAD = 4


def report_text(report: Report, *, ascii_only: bool = False) -> str:
    """The JSON document, ended by LF; with `ascii_only` for a stream that is not UTF-8."""
    return strict_json.dumps(report_value(report), spread=_SPREAD, ascii_only=ascii_only, end="\n")


def pages_text(report: Report) -> str:
    """The file pages.json: every page and its SHA-256, so that a later comparison can say which pages changed."""
    return strict_json.dumps({"schema": "vault-eval.pages.v1", "pages": dict(report.page_digests)}, spread=2, end="\n")


def report_value(report: Report) -> dict[str, JsonValue]:
    """The report as plain JSON values; what `run_quality` returns."""
    value: dict[str, JsonValue] = {
        "schema": SCHEMA,
        "tool": {"name": "vault-eval", "version": report.tool_version},
        "vault": {"name": report.vault_name, "pages": report.vault_pages, "snapshot_sha256": report.snapshot_sha256},
        "labels": {
            "sources": [{"name": one.name, "sha256": one.sha256, "format": one.format} for one in report.label_sources],
            "queries": report.label_queries,
            "split": report.split,
            **({} if report.collection is None else {"collection": report.collection}),
        },
        "scope": {"statement": STATEMENT, "not_shown": list(report.not_shown), "unavailable": list(report.unavailable)},
        "warnings": list(report.warnings),
        "coverage": {
            "gold_pages": report.coverage.gold_pages,
            "exist": report.coverage.exist,
            "in_scope": report.coverage.in_scope,
            "indexed": report.coverage.indexed,
            "fresh": report.coverage.fresh,
        },
    }
    if report.fixture is not None:
        files: list[JsonValue] = [{"path": one.path, "sha256": one.sha256} for one in report.fixture.files]
        value["fixture"] = {"files": files, "stale_page": report.fixture.stale_page}
    value["label_findings"] = _label_findings(report.label_findings)
    value["runs"] = [_run(run) for run in report.runs]
    value["timing"] = {
        "started": report.timing.started,
        "environment": dict(report.timing.environment),
        "runs": [_timing(timing) for timing in report.timing.runs],
    }
    return value


def _run(run: RunReport) -> JsonValue:
    counts = run.counts
    return {
        "retriever": {"name": run.retriever.name, **run.retriever.settings},
        "index": _index(run.index, run) if run.index is not None else None,
        "depth": run.depth,
        "counts": {
            "queries": counts.queries,
            "scored": counts.scored,
            "negative": counts.negative,
            "missing_gold": counts.missing_gold,
            "missing_pages": counts.missing_pages,
            "skipped": counts.skipped,
            "other_collection": counts.other_collection,
            "error": counts.error,
        },
        "metrics": _metrics(run.metrics),
        "more_gold_than_cutoff": {str(cutoff): number for cutoff, number in run.over_cutoff.items()},
        "recall_cap": {str(cutoff): share for cutoff, share in recall_caps(run).items()},
        "groups": {
            "category": {name: _metrics(metrics) for name, metrics in run.categories.items()},
            "tag": {name: _metrics(metrics) for name, metrics in run.tags.items()},
        },
        "worst_misses": list(run.worst_misses),
        "trust": _trust(run.trust),
        "queries": [row_value(row) for row in run.rows],
    }


def _trust(trust: Trust) -> JsonValue:
    return {
        "strata": {stratum: _metrics(metrics) for stratum, metrics in trust.strata.items()},
        "unjudged_queries": trust.unjudged_queries,
        "unjudged": [{"id": one.id, "pages": list(one.pages)} for one in trust.unjudged],
        "threshold": trust.threshold,
    }


def _label_findings(found: LabelFindings) -> JsonValue:
    findings: list[JsonValue] = [{"kind": one.kind, "page": one.page, "query": one.query} for one in found.findings]
    return {"counts": dict[str, JsonValue](found.counts.items()), "findings": findings}


def _index(index: IndexDescription, run: RunReport) -> JsonValue:
    return {
        "format": index.format,
        "sha256": index.sha256,
        "pages": index.pages,
        "chunks": index.chunks,
        "skipped_malformed": index.skipped_malformed,
        "skipped_undecodable": index.skipped_undecodable,
        "notes_sha256": index.notes_sha256,
        "skipped_stale": run.skipped_stale,
        "stale_label_only": run.stale_label_only,
    }


def _metrics(metrics: Mapping[str, MetricValue]) -> dict[str, JsonValue]:
    return {
        name: {
            "value": one.value,
            "n": one.n,
            "status": one.status,
            "interval": None
            if one.interval is None
            else {"low": one.interval.low, "high": one.interval.high, "method": one.interval.method},
        }
        for name, one in metrics.items()
    }


def row_value(row: QueryRow) -> dict[str, JsonValue]:
    """One query row as plain JSON values; `grades` only where a label grades."""
    misses: dict[str, JsonValue] = {}
    for cutoff in CUTOFFS:
        missed = row.misses(cutoff)
        misses[str(cutoff)] = None if missed is None else list(missed)
    return {
        "id": row.id,
        "query": row.query,
        "category": row.category,
        "tags": list(row.tags),
        "split": row.split,
        "status": row.status,
        "skip_reason": row.skip_reason,
        "error": row.error,
        "expected": list(row.expected),
        "missing": list(row.missing),
        "not_indexed": list(row.not_indexed),
        **({"grades": {**row.grades}} if row.grades else {}),
        "ranks": {page: row.rank(page) for page in row.expected} if row.is_answered else {},
        "ranking": [ranked_value(one) for one in row.ranking],
        "no_result": not row.ranking if row.is_answered else None,
        "recall": {str(cutoff): row.recall.get(cutoff) for cutoff in CUTOFFS},
        "rr": row.rr,
        "misses": misses,
        "places": [
            {"target": place.target, "page": place.page, "grain": place.grain, "hit": place.is_hit} for place in row.places
        ],
        "diagnosis": [_diagnosis(one) for one in row.diagnosis],
        "diagnostics": {
            "pool_chunks": row.pool_chunks,
            "stale_chunks": row.stale_chunks,
            "stale_pages": list(row.stale_pages),
            "pool_exhausted": row.pool_exhausted,
            "label_hits_removed": row.label_hits_removed,
            "outside_vault": row.outside_vault,
            "usable_gold": None if row.usable_gold is None else list(row.usable_gold),
            "raw_gold": None if row.raw_gold is None else list(row.raw_gold),
            "stratum": row.terms.stratum,
            "query_coverage": row.terms.coverage,
        },
        "ties": [_tie(tie) for tie in row.ties],
    }


def _tie(tie: TieGroup) -> JsonValue:
    value: dict[str, JsonValue] = {"cutoff": tie.cutoff, "first_rank": tie.first, "last_rank": tie.last}
    if tie.expected is not None:
        one = tie.expected
        value["expected"] = {"hit": one.hit, "recall": one.recall, "rr": one.reciprocal_rank}
    return value


def ranked_value(one: RankedPage) -> JsonValue:
    """One place of a ranking as plain JSON values."""
    lines: JsonValue = None if one.lines is None else list(one.lines)
    return {"rank": one.rank, "page": one.page, "score": one.score, "heading": list(one.heading), "lines": lines}


def _diagnosis(one: Diagnosis) -> JsonValue:
    value: dict[str, JsonValue] = {"page": one.page, "cause": one.cause, "detail": one.detail}
    if one.missing_terms:
        value["missing_terms"] = list(one.missing_terms)
    if one.unseen_terms:
        value["unseen_terms"] = list(one.unseen_terms)
    if one.winner is not None:
        value["winner"] = one.winner
    if one.evidence is not None:
        value |= _evidence(one.evidence)
    if one.rivals:
        value["rivals"] = [{"rank": rival.rank, "page": rival.page, **_evidence(rival.evidence)} for rival in one.rivals]
    if one.counterfactuals:
        value["counterfactuals"] = [
            {"term": would.term, "rank": would.rank, "score": would.score, "after_line": would.after_line}
            for would in one.counterfactuals
        ]
    return value


def _evidence(evidence: PageEvidence) -> dict[str, JsonValue]:
    return {
        "score": evidence.score,
        "heading": list(evidence.heading),
        "lines": list(evidence.lines),
        "terms": [{**term.as_json()} for term in evidence.terms],
        "exact_rank": evidence.rank,
        "pool_needed": evidence.pool,
    }


def _timing(timing: RunTiming) -> JsonValue:
    ids = dict.fromkeys((*timing.warm_ms, *timing.cold_ms))
    value: dict[str, JsonValue] = {
        "queries": {one: {"warm_ms": timing.warm_ms.get(one), "cold_ms": timing.cold_ms.get(one)} for one in ids},
        "warm": _latency(timing.warm),
        "cold": None if timing.cold is None else {**_latency(timing.cold), "interpreter": _latency(timing.interpreter)},
    }
    return value | ({"not_timed": {**timing.not_timed}} if timing.not_timed else {})


def _latency(summary: LatencySummary | None) -> dict[str, JsonValue]:
    if summary is None:
        return {"n": 0, "p50": None, "p95": None, "mean": None, "max": None}
    return {"n": summary.n, "p50": summary.p50, "p95": summary.p95, "mean": summary.mean, "max": summary.max}
