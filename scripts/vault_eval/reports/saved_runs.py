"""The runs of a saved report: what was searched and how, and the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from vault_eval.diagnosis.query_terms import STRATA
from vault_eval.metrics.score import MetricValue, Status
from vault_eval.model import IndexDescription, RetrieverDescription
from vault_eval.reports.document import CUTOFFS, Counts, RunReport, Trust, Unjudged
from vault_eval.reports.saved_node import Node
from vault_eval.reports.saved_rows import read_row
from vault_eval.significance.intervals import Interval

METRIC_STATUSES: tuple[Status, ...] = get_args(Status)


def read_runs(node: Node) -> tuple[RunReport, ...]:
    """The runs with their rows. Raises UsageError that names the place of the first value which is not as we write reports."""
    runs = tuple(_run(run) for run in node.items())
    if not runs:
        raise node.refused("at least one run")
    return runs


def _run(node: Node) -> RunReport:
    index = node["index"].or_none(lambda one: one)
    names = ("queries", "scored", "negative", "missing_gold", "missing_pages", "skipped", "other_collection", "error")
    groups = node["groups"]
    return RunReport(
        retriever=_retriever(node["retriever"]),
        index=_index(index) if index is not None else None,
        skipped_stale=index["skipped_stale"].whole() if index is not None else 0,
        stale_label_only=index["stale_label_only"].whole() if index is not None else 0,
        depth=node["depth"].whole(),
        counts=Counts(*(node["counts"][name].whole() for name in names)),
        metrics=_metrics(node["metrics"]),
        over_cutoff={cutoff: node["more_gold_than_cutoff"][str(cutoff)].whole() for cutoff in CUTOFFS},
        categories={name: _metrics(metrics) for name, metrics in groups["category"].members()},
        tags={name: _metrics(metrics) for name, metrics in groups["tag"].members()},
        worst_misses=node["worst_misses"].texts(),
        rows=tuple(map(read_row, node["queries"].items())),
        trust=_trust(node["trust"]),
    )


def _retriever(node: Node) -> RetrieverDescription:
    settings: dict[str, str | int | float | bool | None] = {}
    for name, setting in node.members():
        if name != "name":
            if isinstance(setting.value, (list, dict)):
                raise setting.refused("text, a number, true, false or null")
            settings[name] = setting.value
    return RetrieverDescription(node["name"].text(), settings)


def _index(node: Node) -> IndexDescription:
    return IndexDescription(
        format=node["format"].text(),
        sha256=node["sha256"].text(),
        pages=node["pages"].whole(),
        chunks=node["chunks"].whole(),
        skipped_malformed=node["skipped_malformed"].whole(),
        skipped_undecodable=node["skipped_undecodable"].whole(),
        notes_sha256=node.optional("notes_sha256", lambda one: one.or_none(Node.text), None),
    )


def _metrics(node: Node) -> Mapping[str, MetricValue]:
    return {name: _metric(metric) for name, metric in node.members()}


def _metric(node: Node) -> MetricValue:
    status = node["status"].one_of(METRIC_STATUSES)
    interval = node["interval"].or_none(lambda one: Interval(one["low"].number(), one["high"].number(), one["method"].text()))
    return MetricValue(node["value"].or_none(Node.number), node["n"].whole(), status, interval)


def _trust(node: Node) -> Trust:
    return Trust(
        {Node(name, node.place).one_of(STRATA): _metrics(metrics) for name, metrics in node["strata"].members()},
        tuple(Unjudged(one["id"].text(), one["pages"].texts()) for one in node["unjudged"].items()),
        node["unjudged_queries"].whole(),
        node["threshold"].or_none(Node.number),
    )
