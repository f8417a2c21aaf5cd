"""The trend as JSON: `vault-eval.history.v1`."""

from __future__ import annotations

from vault_eval import strict_json
from vault_eval.reports.history import History, Point
from vault_eval.strict_json import JsonValue

SCHEMA = "vault-eval.history.v1"
_SPREAD = 4


def history_json(history: History, *, ascii_only: bool = False) -> str:
    """The trend as a JSON document ended by LF: a list of points for each configuration, one a line."""
    value = {
        "schema": SCHEMA,
        "vault": {"name": history.vault_name},
        "metric": history.metric,
        "series": [
            {"retriever": series.name, "depth": series.depth, "points": [_point(point) for point in series.points]}
            for series in history.series
        ],
        "read": history.read,
        "left_out": [{"file": file, "reason": reason} for file, reason in history.left_out.items()],
        "older": history.older,
    }
    return strict_json.dumps(value, spread=_SPREAD, ascii_only=ascii_only) + "\n"


def _point(point: Point) -> JsonValue:
    value, interval = point.metric, point.metric.interval
    return {
        "report": point.report,
        "started": point.started,
        "value": value.value,
        "n": value.n,
        "status": value.status,
        "interval": None if interval is None else {"low": interval.low, "high": interval.high, "method": interval.method},
        "changed": list(point.changed),
        "index_change": point.index_change,
    }
