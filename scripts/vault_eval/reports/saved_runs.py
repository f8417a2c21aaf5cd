"""The runs of a saved report: what was searched and how, and the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from vault_eval.diagnosis.query_terms import STRATA
from vault_eval.json_node import Node
from vault_eval.limits import DEPTH_MAX_PAGES, DEPTH_MIN_PAGES
from vault_eval.metrics.metric import CUTOFFS
from vault_eval.metrics.score import MetricValue, Status
from vault_eval.model import IndexDescription, RetrieverDescription
from vault_eval.reports.document import Counts, RunReport, Trust, Unjudged
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
        skipped_stale=index["skipped_stale"].count() if index is not None else 0,
        stale_label_only=index["stale_label_only"].count() if index is not None else 0,
        depth=_depth(node["depth"]),
        counts=Counts(*(node["counts"][name].count() for name in names)),
        metrics=_metrics(node["metrics"]),
        over_cutoff={cutoff: node["more_gold_than_cutoff"][str(cutoff)].count() for cutoff in CUTOFFS},
        categories={name: _metrics(metrics) for name, metrics in groups["category"].members()},
        tags={name: _metrics(metrics) for name, metrics in groups["tag"].members()},
        worst_misses=node["worst_misses"].texts(),
        rows=tuple(map(read_row, node["queries"].items())),
        trust=_trust(node["trust"]),
    )


def _depth(node: Node) -> int:
    depth = node.whole()
    if not DEPTH_MIN_PAGES <= depth <= DEPTH_MAX_PAGES:
        raise node.refused(f"{DEPTH_MIN_PAGES} to {DEPTH_MAX_PAGES:,}")
    return depth


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
        pages=node["pages"].count(),
        chunks=node["chunks"].count(),
        skipped_malformed=node["skipped_malformed"].count(),
        skipped_undecodable=node["skipped_undecodable"].count(),
        notes_sha256=node.optional("notes_sha256", lambda one: one.or_none(Node.text), None),
    )


def _metrics(node: Node) -> Mapping[str, MetricValue]:
    return {name: _metric(metric) for name, metric in node.members()}


def _metric(node: Node) -> MetricValue:
    status = node["status"].one_of(METRIC_STATUSES)
    value, n = node["value"].or_none(Node.share), node["n"].count()
    if (value is None) != (n == 0):
        raise node["n"].refused("0 where there is no value, and only there")
    return MetricValue(value, n, status, node["interval"].or_none(_interval))


def _interval(node: Node) -> Interval:
    low, high = node["low"].share(), node["high"].share()
    if low > high:
        raise node["low"].refused(f"{high} at most, where the interval ends")
    return Interval(low, high, node["method"].text())


def _trust(node: Node) -> Trust:
    return Trust(
        {Node(name, node.place, node.advice).one_of(STRATA): _metrics(metrics) for name, metrics in node["strata"].members()},
        tuple(Unjudged(one["id"].text(), one["pages"].texts()) for one in node["unjudged"].items()),
        node["unjudged_queries"].count(),
        node["threshold"].or_none(Node.number),
    )
