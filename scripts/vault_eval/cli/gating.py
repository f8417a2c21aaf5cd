"""The gates of `bench`: limits that somebody set, a fall since a saved report, and what CI is told of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_eval.cli.arguments import Parser, refuse_alone, whole_number
from vault_eval.cli.printing import say
from vault_eval.comparison.gates import DEFAULT_MARGIN, Gate, GateOn, GateResult, decide, parse_gate, parse_margin, regression
from vault_eval.errors import UsageError
from vault_eval.metrics.score import MetricValue
from vault_eval.reports.document import Report, RunReport
from vault_eval.reports.save import JUNIT_MARKS, check_kind, check_ours, save_text
from vault_eval.vault.location import refuse_inside_any_vault, refuse_inside_vault

if TYPE_CHECKING:
    from vault_eval.comparison.records import Comparison, Side


STEP_SUMMARY = "--step-summary"
_GATES = ("--fail-under", "--baseline")
# What an option of gates has no meaning without.
_NEEDS = {"--gate-on": _GATES[:1], "--margin": _GATES[1:], "--min-n": _GATES, "--junit": _GATES}


@dataclass(frozen=True, slots=True)
class Gating:
    """What was asked for; `baseline` is a saved report, read before anything is measured."""

    gates: Sequence[Gate]
    on: GateOn
    min_n: int
    baseline: Report | None
    margin: float
    junit: str | None
    step_summary: str | None


def add_gates(parser: Parser) -> None:
    """The options of gates."""
    add = parser.add_argument
    add("--fail-under", metavar="[SPEC:][METRIC=]V", action="append", default=[], help="exit 1 below V; V alone is for recall@5")
    add("--gate-on", choices=["point", "lower"], default="point", help="what must reach V: the mean, or its lower 95 %% bound")
    add("--min-n", metavar="N", type=whole_number, default=1, help="exit 3 where a gate has fewer queries")
    add("--baseline", metavar="REPORT", help="a saved report: exit 1 where mrr@10 fell by more than --margin")
    add("--margin", metavar="D", default=str(DEFAULT_MARGIN), help=f"the fall that is allowed (default {DEFAULT_MARGIN:g})")
    add("--junit", metavar="FILE", help="write the gates as JUnit XML")
    add(STEP_SUMMARY, metavar="FILE", help="add gates and headline to FILE as Markdown, such as $GITHUB_STEP_SUMMARY")


def parse_gating(options: argparse.Namespace, given: Collection[str]) -> Gating:
    """The gates asked for. Raises UsageError for what cannot be, for an option of a gate that was not `given`, and for a
    baseline that cannot be read.
    """
    for option, needed in _NEEDS.items():
        refuse_alone(given, option, *needed)
    gates = [parse_gate(text, options.top) for text in options.fail_under]
    baseline = _read(options.baseline) if options.baseline is not None else None
    margin = parse_margin(options.margin)
    if options.min_n < 1:
        raise UsageError(f"--min-n {options.min_n}: write the fewest queries that a gate takes, 1 or more")
    return Gating(gates, options.gate_on, options.min_n, baseline, margin, options.junit, options.step_summary)


def check_outputs(gating: Gating, vault_root: str) -> None:
    """Raises UnsafePathError where a file for CI may not be written; called before anything is measured."""
    for path, option in ((gating.junit, "--junit"), (gating.step_summary, STEP_SUMMARY)):
        if path is not None:
            refuse_inside_vault(path, vault_root, option)
            refuse_inside_any_vault(path, option)
            _check_place(path, option)
    if gating.junit is not None:
        check_ours(gating.junit, "--junit", JUNIT_MARKS)


def _check_place(path: str, option: str) -> None:
    """Raises UsageError for no name, or for a file in no folder: a typing error, or a variable that is not set."""
    if not path:
        raise UsageError(f"{option} names no file; is the variable set that it was to come from?")
    folder = os.path.dirname(os.path.abspath(path))
    if option == STEP_SUMMARY and not os.path.isdir(folder):
        raise UsageError(f"{option} {path!r}: there is no folder {folder!r}; make it first")
    check_kind(path, option)


def refuse_shared(outputs: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Raises UsageError where a file is named for two outputs, or would be written although it is read."""
    seen = {os.path.realpath(path): "what is measured" for path in inputs}
    for option, path in outputs.items():
        if path:
            place = os.path.realpath(path)
            if place in seen:
                raise UsageError(f"{option} {path!r} is named twice: it is {seen[place]} too; name another file")
            seen[place] = option


def decided(gating: Gating, report: Report, baseline_path: str | None) -> tuple[list[GateResult], list[Comparison]]:
    """The outcome of every gate, and the comparisons with the baseline that some of them rest on."""
    results = decide(gating.gates, [_Gated(run) for run in report.runs], gating.min_n, gating.on)
    comparisons = _against(gating.baseline, report, baseline_path) if gating.baseline is not None and baseline_path else []
    return results + [regression(one, gating.margin, gating.min_n) for one in comparisons], comparisons


def tell(gating: Gating, report: Report, results: Sequence[GateResult], comparisons: Sequence[Comparison]) -> None:
    """Say the outcomes on stderr, and write the files for CI."""
    for result in results:
        say(result.sentence)
    if gating.junit is not None:
        from vault_eval.reports.junit import junit

        save_text(gating.junit, junit(results, report.timing.started))
    if gating.step_summary is not None:
        from vault_eval.reports.step_summary import append_summary, step_summary

        append_summary(gating.step_summary, step_summary(report, results, comparisons), STEP_SUMMARY)


def _read(path: str) -> Report:
    from vault_eval.reports.saved_report import read_report_with_pages

    return read_report_with_pages(path)


def _against(baseline: Report, report: Report, path: str) -> list[Comparison]:
    """Each run against the baseline's run of the same spec, or against its only one."""
    from vault_eval.comparison.compare import compare
    from vault_eval.reports.compared import sides

    before = sides(baseline)
    return [compare(_same_run(before, side, path), [side])[0] for side in sides(report)]


def _same_run(found: Sequence[Side], side: Side, path: str) -> Side:
    same = [one for one in found if one.name == side.name] or (list(found) if len(found) == 1 else [])
    if not same:
        names = ", ".join(repr(one.name) for one in found)
        raise UsageError(f"--baseline {path!r}: it has no run of {side.name!r}, but {names}; measure one of these")
    return same[0]


class _Gated:
    """One run as a gate looks at it."""

    def __init__(self, run: RunReport) -> None:
        self._run = run

    @property
    def name(self) -> str:
        return self._run.retriever.name

    @property
    def errors(self) -> int:
        return self._run.counts.error

    def metric(self, name: str) -> MetricValue | None:
        return self._run.metrics.get(name)
