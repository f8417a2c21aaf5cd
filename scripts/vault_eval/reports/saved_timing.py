"""The times of a saved report."""

from __future__ import annotations

from collections.abc import Mapping

from vault_eval.json_node import Node
from vault_eval.metrics.latency import LatencySummary
from vault_eval.reports.document import RunTiming, Timing


def read_timing(node: Node) -> Timing:
    """When and where it was measured, and how long each query took. Raises UsageError for a value that is none of ours."""
    environment = {name: one.text() for name, one in node["environment"].members()}
    return Timing(node["started"].moment(), environment, tuple(_run_timing(one) for one in node["runs"].items()))


def _run_timing(node: Node) -> RunTiming:
    rows = dict(node["queries"].members())
    warm = {name: row["warm_ms"].or_none(Node.milliseconds) for name, row in rows.items()}
    cold = {name: row["cold_ms"].or_none(Node.milliseconds) for name, row in rows.items()}
    block = node["cold"].or_none(lambda one: one)
    return RunTiming(
        {name: value for name, value in warm.items() if value is not None},
        _latency(node["warm"]),
        {name: value for name, value in cold.items() if value is not None},
        _latency(block) if block is not None else None,
        _latency(block["interpreter"]) if block is not None else None,
        node.optional("not_timed", _reasons, {}),
    )


def _reasons(node: Node) -> Mapping[str, str]:
    return {kind: why.text() for kind, why in node.members()}


def _latency(node: Node) -> LatencySummary | None:
    n = node["n"].count()
    return LatencySummary(n, *(node[name].milliseconds() for name in ("p50", "p95", "mean", "max"))) if n else None
