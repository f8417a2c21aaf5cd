"""The trend of the reports kept of one vault: one metric over time, and where labels, notes, index or settings changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vault_eval.comparison.comparability import index_findings
from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.limits import HISTORY_REPORTS_MAX
from vault_eval.metrics.score import MetricValue
from vault_eval.nearest import did_you_mean
from vault_eval.reports import wording
from vault_eval.reports.compared import side
from vault_eval.reports.document import Report, RunReport
from vault_eval.reports.kept_reports import kept_reports
from vault_eval.reports.saved_report import REPORT_NAME, read_report_without_rows

Change: TypeAlias = Literal["labels", "notes", "index", "settings"]


@dataclass(frozen=True, slots=True)
class Point:
    """One run of one report. `changed`: what is other than at the point before it, so that the two may not be compared.

    The index is named where the notes do not tell that it is another: it has caught up with them, or was built otherwise.
    """

    report: str  # its folder
    started: str  # UTC, ISO 8601
    metric: MetricValue
    changed: tuple[Change, ...]
    index_change: str | None = None  # in a sentence


@dataclass(frozen=True, slots=True)
class Series:
    """The points of one configuration at one depth, oldest first."""

    name: str
    depth: int
    points: tuple[Point, ...]

    @property
    def timed(self) -> tuple[tuple[str, Point], ...]:
        """Each point with its time for a person: to the minute, or to the second where two share a minute."""
        minutes = [wording.started_text(point.started) for point in self.points]
        if len(set(minutes)) == len(minutes):
            return tuple(zip(minutes, self.points, strict=True))
        return tuple((f"{point.started[:10]} {point.started[11:19]} UTC", point) for point in self.points)


@dataclass(frozen=True, slots=True)
class History:
    """One metric over the kept reports. `read`: how many of them; `left_out`: file -> why it is none; `older`: not looked at."""

    vault_name: str
    metric: str
    series: tuple[Series, ...]
    read: int
    left_out: Mapping[str, str]
    older: int


def read_history(folder: str, metric: str) -> History:
    """The trend of `metric` over the newest hundred kept reports. Raises UsageError where no report has it, or there is none."""
    kept = kept_reports(folder)
    left_out: dict[str, str] = {}
    reports = list(_reports(kept[-HISTORY_REPORTS_MAX:], left_out))
    if not reports:
        skipped = f"; {len(left_out)} left out, the first of them: {next(iter(left_out.values()))}" if left_out else ""
        raise UsageError(f"there is no report of this vault in {folder!r}{skipped}; measure it first, with bench")
    known = dict.fromkeys(name for _, report in reports for run in report.runs for name in run.metrics)
    if metric not in known:
        raise UsageError(f"--metric {metric!r}: no report has it{did_you_mean(metric, known)}; they have {', '.join(known)}")
    older = max(0, len(kept) - HISTORY_REPORTS_MAX)
    return History(reports[-1][1].vault_name, metric, _series(reports, metric), len(reports), left_out, older)


def _reports(kept: Sequence[str], left_out: dict[str, str]) -> Iterator[tuple[str, Report]]:
    """The reports, oldest first, without their rows; what is none, or was changed, goes into `left_out`."""
    for path in kept:
        file = os.path.join(path, REPORT_NAME)
        try:
            yield path, read_report_without_rows(file)
        except VaultEvalError as error:
            left_out[file] = str(error)


def _series(reports: Sequence[tuple[str, Report]], metric: str) -> tuple[Series, ...]:
    points: dict[tuple[str, int], list[Point]] = {}
    last: dict[tuple[str, int], tuple[Report, RunReport]] = {}
    for path, report in reports:
        for run in report.runs:
            key = (run.retriever.name, run.depth)
            value = run.metrics.get(metric, MetricValue(None, 0, "unavailable"))
            changed, index_change = _changed(last[key], (report, run)) if key in last else ((), None)
            points.setdefault(key, []).append(Point(path, report.timing.started, value, changed, index_change))
            last[key] = (report, run)
    return tuple(Series(name, depth, tuple(points[name, depth])) for name, depth in points)


def _changed(before: tuple[Report, RunReport], after: tuple[Report, RunReport]) -> tuple[tuple[Change, ...], str | None]:
    """What must be equal for two figures to be compared, and is not; of the index a sentence too."""
    index = next((found.sentence for found in index_findings(side(*before, ()), side(*after, ()))), None)
    compared: tuple[tuple[Change, object, object], ...] = (
        ("labels", _labels(before[0]), _labels(after[0])),
        ("notes", before[0].snapshot_sha256, after[0].snapshot_sha256),
        ("index", None, index),
        ("settings", before[1].retriever.settings, after[1].retriever.settings),
    )
    return tuple(change for change, one, other in compared if one != other), index


def _labels(report: Report) -> tuple[object, ...]:
    return (*(source.sha256 for source in report.label_sources), report.split, report.collection)
