"""`compare`: say whether a change helped, from saved reports or from configurations that are measured now."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from vault_eval import launcher, strict_json
from vault_eval.cli.arguments import Parser, refuse_idle
from vault_eval.cli.holdout_looks import note_look
from vault_eval.cli.measuring import add_measuring, measured, refuse_data_inside
from vault_eval.cli.printing import is_utf8, print_file
from vault_eval.comparison.compare import PRIMARY, compare
from vault_eval.comparison.records import Comparison, Side
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.reports.compared import sides
from vault_eval.reports.document import Report
from vault_eval.reports.save import COMPARISON_MARKS, check_kind, check_ours, save_text
from vault_eval.reports.saved_report import read_report_with_pages
from vault_eval.vault.location import refuse_inside_any_vault, refuse_inside_vault, vault_id, vault_root

# What is said of saved reports; every other option says what is measured.
_OF_SAVED_REPORTS = ("--run", "--primary", "--allow-different", "--format", "--out", "--data")
_NOT_MEASURED = "saved reports are compared as they are; name --vault in their place to measure now, or leave that out"
FORMATS = {".json": "json", ".md": "markdown", ".html": "html"}


def run(argv: list[str]) -> int:
    """The exit code of `compare` with these arguments: 0 whatever the verdict."""
    options, given = parser().parse_given(argv)
    if options.reports and options.vault is None:
        refuse_idle(given, _OF_SAVED_REPORTS, _NOT_MEASURED)
    forms = {options.format, *([_form(options.out)] if options.out is not None else [])}
    if "html" in forms:
        launcher.ensure(["jinja2"], may_install=False, data=launcher.data_folder(options.data), command="compare with HTML")
    baseline, *candidates = _sides(options)
    compared = compare(baseline, candidates, primary=options.primary.lower(), allow_different=options.allow_different)
    _refuse_different(compared)
    if options.out is not None:
        save_text(options.out, _rendered(compared, _form(options.out)))
    printed = _rendered(compared, options.format, ascii_only=not is_utf8())
    if options.format == "html":
        print_file(printed)
    else:
        sys.stdout.write(printed)
    return 0


def parser() -> Parser:
    """The options of `compare`."""
    made = Parser(
        "compare", "Say whether a change helped, from saved reports or, with --vault, measured now; the first is the baseline."
    )
    add_measuring(made)
    made.set_defaults(cold_samples=0)
    add = made.add_argument
    add(
        "reports",
        metavar="REPORT",
        nargs="*",
        help="a report.json or its folder; one with several runs is compared within itself",
    )
    add(
        "--run",
        metavar="SPEC",
        action="append",
        default=[],
        help="the run that is compared: one for all reports, or one for each, in their order; "
        "of a single report one against its first run, or several against the first of them",
    )
    add("--primary", metavar="METRIC", default=PRIMARY, help=f"the one metric that decides (default: {PRIMARY})")
    add("--allow-different", action="store_true", help="pair the queries that other labels, depth or pool leave equal")
    add("--format", choices=["text", "json", "markdown", "html"], default="text", help="what is printed")
    add("--out", "-o", metavar="PATH", help="write the comparison too: NAME.json, NAME.md or NAME.html")
    return made


def _sides(options: argparse.Namespace) -> list[Side]:
    """What is compared, the baseline first."""
    if options.reports and options.vault is not None:
        raise UsageError(
            "saved reports and --vault were both given; name the reports alone, or --vault with what is to be measured now"
        )
    if not options.reports and options.vault is None:
        raise UsageError("name the saved reports, the one before and the one after, or --vault with what is to be measured now")
    if options.vault is not None:
        data, root = launcher.data_folder(options.data), vault_root(options.vault)
        refuse_data_inside(root, data, options.index)
        if options.out is not None:
            refuse_inside_vault(options.out, root, "--out")
        report, _ = measured(options, data, "compare")
        note_look(report, options.why, DataFolder(data), vault_id(root))
        return _chosen([("what was measured", report)], options.run)
    return _chosen([(path, read_report_with_pages(path)) for path in options.reports], options.run)


def _chosen(reports: Sequence[tuple[str, Report]], specs: Sequence[str]) -> list[Side]:
    """The sides that are compared, the baseline first: the runs of a single report, or one run of each of several."""
    if len(reports) == 1:
        return _within(*reports[0], specs)
    wanted: Sequence[str | None] = specs if len(specs) > 1 else [specs[0] if specs else None] * len(reports)
    if len(wanted) != len(reports):
        raise UsageError(
            f"--run is given {len(specs)} times for {len(reports)} reports; give it once where all have that run, "
            "or once for each report, in their order"
        )
    return [sides(report)[_place(path, report, spec)] for (path, report), spec in zip(reports, wanted, strict=True)]


def _within(path: str, report: Report, specs: Sequence[str]) -> list[Side]:
    """All runs of one report, or the first against the one that is named, or those that are named."""
    found = list(sides(report))
    named = [found[_place(path, report, spec)] for spec in specs]
    chosen = [found[0], *named] if len(named) == 1 else named or found
    if len(chosen) < 2:
        raise UsageError(f"{path!r} holds one run, and nothing to set it against; name a second report")
    return chosen


def _place(path: str, report: Report, spec: str | None) -> int:
    """Where the run that was named, or the only one, stands among those of the report."""
    names = [run.retriever.name for run in report.runs]
    if spec is None and len(names) == 1:
        return 0
    if spec not in names:
        found = "the runs" if spec is None else f"no run {spec!r}, but"
        raise UsageError(
            f"{path!r} holds {found} {', '.join(map(repr, names))}; name one with --run, once for each report where they differ"
        )
    return names.index(spec)


def _refuse_different(compared: Sequence[Comparison]) -> None:
    """Raises UsageError where labels, depth or pool of a candidate are not those of the baseline."""
    refused = [f"{one.candidate.name}: {finding.sentence}" for one in compared for finding in one.refusals]
    if refused:
        reasons = "\n".join(f"  {reason}" for reason in dict.fromkeys(refused))
        advice = "measure both with the same labels and the same --top, or compare what is equal with --allow-different"
        raise UsageError(f"not comparable, so that no difference is shown:\n{reasons}\n{advice}")


def _form(path: str) -> str:
    """The rendering that the suffix of `--out` names.

    Raises UsageError for another, UnsafePathError for a link, a folder, or a place inside a vault that Obsidian has opened.
    """
    form = FORMATS.get(os.path.splitext(path)[1].lower())
    if form is None:
        raise UsageError(f"--out {path!r}: write NAME.json, NAME.md or NAME.html")
    refuse_inside_any_vault(path, "--out")
    check_kind(path, "--out")
    check_ours(path, "--out", COMPARISON_MARKS)
    return form


def _rendered(compared: Sequence[Comparison], form: str, *, ascii_only: bool = False) -> str:
    if form == "json":
        from vault_eval.reports.comparison_json import comparison_json

        return strict_json.encode(comparison_json(compared, ascii_only=ascii_only)).decode("utf-8")
    if form == "markdown":
        from vault_eval.reports.comparison_markdown import comparison_markdown

        return comparison_markdown(compared)
    if form == "html":
        from vault_eval.reports.comparison_html import comparison_html

        return comparison_html(compared)
    from vault_eval.reports.comparison_text import comparison_text

    return comparison_text(compared)
