"""The trend in a terminal: a sparkline a configuration, and its newest points in a table."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.reports import wording
from vault_eval.reports.history import History, Point, Series
from vault_eval.reports.text_layout import bounded, table, wrapped

POINTS_SHOWN_MAX = 20
SERIES_SHOWN_MAX = 12
LEFT_OUT_SHOWN_MAX = 5
BARS = "▁▂▃▄▅▆▇█"
NO_VALUE = "·"
CHANGED = "│"
LEGEND = (
    f"Bars from {BARS[0]} for 0 to {BARS[-1]} for 1, {NO_VALUE} for no value; behind {CHANGED} labels, notes, index or "
    "settings are others, so that the step is not one of search alone."
)
_CUT_OFF = "… cut here: the rest is in the JSON, --format json"


def history_text(history: History, *, with_bars: bool = True, width: int = 100) -> str:
    """The trend as plain text ended by LF, in fewer than 30,000 characters; `with_bars` where the terminal has such letters."""
    label = wording.metric_label(history.metric)
    lines = wrapped(f"vault-eval history · {history.vault_name} · {label}", width)
    for series in history.series[:SERIES_SHOWN_MAX]:
        lines += ["", *_series(series, label, width, with_bars=with_bars)]
    lines += _more(len(history.series) - SERIES_SHOWN_MAX, "configuration")
    lines += _more(history.older, "older report")
    lines += left_out_lines(history, width)[:1]
    return bounded(lines, ["", *wrapped(LEGEND, width)] if with_bars else [], _CUT_OFF)


def left_out_lines(history: History, width: int = 100) -> list[str]:
    """How many kept reports are no points, then the first of them with the reason; none where all are."""
    if not history.left_out:
        return []
    kept = history.read + len(history.left_out)
    lines = wrapped(
        f"left out of the trend: {len(history.left_out):,} of {wording.counted(kept, 'kept report')}", width, first="! "
    )
    for file, reason in list(history.left_out.items())[:LEFT_OUT_SHOWN_MAX]:
        lines += wrapped(reason if file in reason else f"{file}: {reason}", width, first="  ", indent="    ")
    return [*lines, *_more(len(history.left_out) - LEFT_OUT_SHOWN_MAX, "report")]


def sparkline(series: Series) -> str:
    """A bar a point, from 0 to 1 whatever the values are, so that a small change looks small."""
    return "".join(f"{CHANGED if point.changed else ''}{_bar(point)}" for point in series.points)


def _bar(point: Point) -> str:
    value = point.metric.value if point.metric.status == "ok" else None
    return NO_VALUE if value is None else BARS[min(len(BARS) - 1, int(value * len(BARS)))]


def _series(series: Series, label: str, width: int, *, with_bars: bool) -> Iterator[str]:
    yield from wrapped(f"{series.name}, depth {series.depth}: {wording.counted(len(series.points), 'report')}", width)
    if with_bars:
        yield f"  {sparkline(series)}"
    yield from _more(len(series.points) - POINTS_SHOWN_MAX, "earlier point")
    shown = series.timed[-POINTS_SHOWN_MAX:]
    rows = [
        (
            time,
            wording.value_text(point.metric),
            wording.interval_text(point.metric),
            f"{point.metric.n:,}",
            ", ".join(point.changed),
        )
        for time, point in shown
    ]
    yield from table(["measured", label, "95 % interval", "n", "changed"], rows)
    for time, point in shown:
        if point.index_change is not None:
            yield from wrapped(f"{time}: {point.index_change}", width, first="  ", indent="      ")


def _more(number: int, one: str) -> list[str]:
    return [f"  … and {wording.counted(number, one)}, not shown"] if number > 0 else []
