"""A saved `report.json` back as the records it was written from; it may be damaged or hostile, so every value is checked."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.json_node import Node
from vault_eval.limits import KEPT_REPORT_MAX_BYTES, REPORT_MAX_BYTES
from vault_eval.model import LabelSource
from vault_eval.reports.document import SCHEMA, Coverage, Fixture, FixtureFile, Report, snapshot_digest
from vault_eval.reports.saved_arithmetic import check_run
from vault_eval.reports.saved_diagnosis import read_label_findings
from vault_eval.reports.saved_json import parsed
from vault_eval.reports.saved_rankings import ranking_of, read_ranking, short_rows
from vault_eval.reports.saved_runs import read_runs
from vault_eval.reports.saved_timing import read_timing
from vault_eval.vault.reader import read_outside

REPORT_NAME = "report.json"
PAGES_NAME = "pages.json"
# What only the JSON of others holds, unless it is in a text.
_NO_NUMBERS = (b"NaN", b"Infinity")
_ROWS = re.compile(rb'^"queries": (\[\n(?:\{.*\n)+\])', re.MULTILINE)


def read_report(path: str) -> Report:
    """The report saved at `path`, a file or the folder that holds `report.json`.

    Raises FileRefusedError where it cannot be read, UsageError that names the place of the first value that is not as
    `vault-eval.report.v1` says, or that does not follow from the rankings.
    """
    file = report_file(path)
    return _whole(read_outside(file, REPORT_MAX_BYTES), file)


def read_report_without_rows(path: str) -> Report:
    """The same for a report kept of a vault, in a third of the time: its runs have no rows.

    All its figures were held against its rankings; the evidence in its rows was not looked at.
    """
    file = report_file(path)
    data = read_outside(file, KEPT_REPORT_MAX_BYTES)
    if not any(number in data for number in _NO_NUMBERS):
        # What is refused may be laid out otherwise than we write it: reading all of it tells, and names the place.
        with contextlib.suppress(UsageError):
            return _checked_by_rankings(saved_figures(data, file), file)
    return _without_rows(_whole(data, file))


def read_report_with_pages(path: str) -> Report:
    """The same with the page digests that are kept beside it, none where there are none; errors as of `read_report`."""
    report = read_report(path)
    return replace(report, page_digests=read_pages(path, report.snapshot_sha256) or {})


@dataclass(frozen=True, slots=True)
class SavedFigures:
    """A saved report whose runs have no rows, and the JSON text of the rows of each run, not looked at yet."""

    report: Report
    runs: tuple[Node, ...]  # what the runs were read from
    rows: tuple[bytes, ...]


def saved_figures(data: bytes, file: str) -> SavedFigures:
    """The report in the bytes of `file` without its rows, which are nearly all of it; errors as of `read_report`.

    Of a file that is not laid out line by line as we write it, there is no text of the rows.
    """
    # Text in JSON holds no line break, so that no query and no note can look like these lines.
    top = parsed(_ROWS.sub(b'"queries": []', data), file)
    report, rows = _without_rows(_report(top)), tuple(found[1] for found in _ROWS.finditer(data))
    return SavedFigures(report, tuple(top["runs"].items()), rows)


def read_pages(path: str, snapshot_sha256: str) -> Mapping[str, str] | None:
    """The page digests kept beside a saved report; None where there are none, or those of another snapshot."""
    file = os.path.join(os.path.dirname(report_file(path)), PAGES_NAME)
    try:
        pages = {page: digest.text() for page, digest in parsed(read_outside(file, REPORT_MAX_BYTES), file)["pages"].members()}
    except VaultEvalError:
        return None
    return pages if snapshot_digest(pages) == snapshot_sha256 else None


def report_file(path: str) -> str:
    """The file of a report named by its folder or by itself."""
    return os.path.join(path, REPORT_NAME) if os.path.isdir(path) else path


def _whole(data: bytes, file: str) -> Report:
    top = parsed(data, file)
    report = _report(top)
    for node, run in zip(top["runs"].items(), report.runs, strict=True):
        check_run(node, run, [*zip(node["queries"].items(), map(ranking_of, run.rows), strict=True)])
    return report


def _checked_by_rankings(figures: SavedFigures, file: str) -> Report:
    for place, (node, run) in enumerate(zip(figures.runs, figures.report.runs, strict=True)):
        rows = figures.rows[place] if len(figures.rows) == len(figures.runs) else b""
        check_run(node, run, [(row, read_ranking(row)) for row in short_rows(rows, file)])
    return figures.report


def _without_rows(report: Report) -> Report:
    return replace(report, runs=tuple(replace(run, rows=()) for run in report.runs))


def _report(top: Node) -> Report:
    top["schema"].one_of((SCHEMA,))
    vault, labels = top["vault"], top["labels"]
    return Report(
        tool_version=top["tool"]["version"].text(),
        vault_name=vault["name"].text(),
        vault_pages=vault["pages"].count(),
        snapshot_sha256=vault["snapshot_sha256"].text(),
        page_digests={},
        label_sources=tuple(
            LabelSource(one["name"].text(), one["sha256"].text(), one["format"].text()) for one in labels["sources"].items()
        ),
        label_queries=labels["queries"].count(),
        split=labels["split"].text(),
        unavailable=top["scope"]["unavailable"].texts(),
        warnings=top["warnings"].texts(),
        coverage=_coverage(top["coverage"]),
        runs=read_runs(top["runs"]),
        timing=read_timing(top["timing"]),
        fixture=top.optional("fixture", _fixture, None),
        label_findings=read_label_findings(top["label_findings"]),
        collection=labels.optional("collection", Node.text, None),
    )


def _coverage(node: Node) -> Coverage:
    numbers: list[int] = []
    for name in ("gold_pages", "exist", "in_scope", "indexed", "fresh"):
        number = node[name].count()
        if numbers and number > numbers[-1]:
            raise node[name].refused(f"{numbers[-1]} at most, since each is a part of the one before")
        numbers.append(number)
    return Coverage(*numbers)


def _fixture(node: Node) -> Fixture:
    files = tuple(FixtureFile(one["path"].text(), one["sha256"].text()) for one in node["files"].items())
    return Fixture(files, node["stale_page"].text())
