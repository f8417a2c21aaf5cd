"""`bench`: measure search on a vault with labelled queries; the command behind evaluate-retrieval.py."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from vault_eval import launcher, strict_json
from vault_eval.cli.arguments import Parser, refuse_alone, refuse_idle
from vault_eval.cli.gating import STEP_SUMMARY, Gating, add_gates, check_outputs, decided, parse_gating, refuse_shared, tell
from vault_eval.cli.holdout_looks import note_look, started
from vault_eval.cli.measuring import add_measuring, measured, refuse_data_inside, request_of
from vault_eval.cli.printing import is_utf8, say
from vault_eval.comparison.gates import exit_code
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.evaluation import clock
from vault_eval.labels.sources import NOTE_PREFIX, PROPERTY_PREFIX
from vault_eval.reports.document import Report
from vault_eval.reports.json_report import report_text
from vault_eval.reports.kept_reports import kept_reports
from vault_eval.reports.save import check_destination, save_report, save_to_history
from vault_eval.reports.text_report import text_report
from vault_eval.vault.location import vault_id, vault_root

if TYPE_CHECKING:
    from vault_eval.reports.since_last import SinceLast
    from vault_eval.reports.snippets import Snippets

_OF_THE_FIXTURE = (
    *("--fixture", "--data", "--retriever", "--product-root", "--no-rerank", "--allow-remote", "--top", "--cold-samples"),
    *("--fail-under", "--gate-on", "--min-n", "--baseline", "--margin", "--junit", STEP_SUMMARY),
    *("--out", "--format", "--quality"),
)
_SHIPPED = "--fixture measures the notes and labels that are shipped, on an index of their own; leave that out, or --fixture"


def run(argv: list[str]) -> int:
    """The exit code of `bench` with these arguments."""
    options, given = parser().parse_given(argv)
    if options.fixture:
        refuse_idle(given, _OF_THE_FIXTURE, _SHIPPED)
    refuse_alone(given, "--remember", "--queries")
    gating = parse_gating(options, given)
    if options.fixture:
        return _fixture(options, gating)
    if options.vault is None:
        raise UsageError("--vault is missing: name the folder that holds your notes, or --fixture for the shipped example")
    root = vault_root(options.vault)
    data = launcher.data_folder(options.data)
    _check_places(options, gating, root, data)
    with_html = options.out is not None and os.path.splitext(options.out)[1].lower() not in (".json", ".md")
    if with_html:
        launcher.ensure(["jinja2"], may_install=False, data=data, command="bench --out with HTML")
    report, snippets = measured(options, data, "bench", with_snippets=with_html)
    if options.remember:
        DataFolder(data).remember(vault_id(root), labels=[_absolute(source) for source in options.queries])
    note_look(report, options.why, DataFolder(data), vault_id(root))
    return _finish(report, snippets, options, gating, root, data)


def parser() -> Parser:
    """The options of `bench`."""
    made = Parser("bench", "Measure how well search finds the notes of a vault. Writes nothing into it.")
    add_measuring(made)
    add_gates(made)
    add = made.add_argument
    add("--out", "-o", metavar="PATH", help="write the report: NAME.json, NAME.md, NAME.html, or a folder for all three")
    add("--format", choices=["text", "json", "markdown"], default="text", help="what is printed")
    add("--markdown", dest="format", action="store_const", const="markdown", help="the same as --format markdown")
    add("--remember", action="store_true", help="use these label sources when none are named")
    add("--quality", action="store_true", help=argparse.SUPPRESS)
    add("--fixture", action="store_true", help="measure the shipped example: 10 notes, 14 queries")
    return made


def _check_places(options: argparse.Namespace, gating: Gating, root: str, data: str) -> None:
    """Raises VaultEvalError where what is written would lie in the vault, or take the place of what it must not."""
    refuse_data_inside(root, data, options.index)
    outputs = {"--out": options.out, "--junit": options.junit, STEP_SUMMARY: options.step_summary}
    refuse_shared(outputs, [*_files(options), *([options.baseline] if options.baseline else [])])
    check_outputs(gating, root)
    if options.out is not None:
        check_destination(options.out, root)


def _files(options: argparse.Namespace) -> list[str]:
    """The label files and saved runs that are read."""
    labels = [source for source in options.queries if not source.startswith((NOTE_PREFIX, PROPERTY_PREFIX))]
    return labels + [spec.removeprefix("run:") for spec in options.retriever if spec.startswith("run:")]


def _fixture(options: argparse.Namespace, gating: Gating) -> int:
    from vault_eval.fixture_mode import example_notes, run_fixture

    data, root = launcher.data_folder(options.data), example_notes()
    _check_places(options, gating, root, data)
    launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=True, data=data, command="bench")
    say("vault-eval: measuring the shipped example (10 notes, 14 queries) in a temporary folder")
    launcher.precompile(data)
    report, snippets = run_fixture(request_of(options), clock())
    return _finish(report, snippets, options, gating, root, None)


def _finish(
    report: Report, snippets: Snippets | None, options: argparse.Namespace, gating: Gating, root: str, data: str | None
) -> int:
    """Save, print, decide the gates; a report that cannot be kept in the default place is still printed."""
    kept = DataFolder(data).reports_folder(vault_id(root)) if data is not None else None
    since = _since_last(report, kept) if kept is not None else None
    saved = None
    if options.out is not None:
        saved = save_report(report, options.out, root, snippets)
    elif kept is not None:
        saved = _keep(report, kept)
    results, comparisons = decided(gating, report, options.baseline)
    _print(report, options.format, saved, since)
    tell(gating, report, results, comparisons)
    for warning in report.warnings if options.format != "text" else ():
        say(f"vault-eval: {warning}")
    return exit_code(results)


def _keep(report: Report, folder: str) -> str | None:
    """Where the report was kept; None, and a line that says why, where it could not be: that is no reason to fail."""
    try:
        return save_to_history(report, folder, started(report))
    except (VaultEvalError, OSError) as error:
        say(f"vault-eval: the report was not kept: {error}")
        return None


def _since_last(report: Report, kept: str) -> SinceLast | None:
    if not kept_reports(kept):
        return None  # and nothing of a comparison needs to be loaded
    from vault_eval.reports.since_last import since_last

    return since_last(report, kept)


def _print(report: Report, form: str, saved: str | None, since: SinceLast | None) -> None:
    if form == "json":
        sys.stdout.write(strict_json.encode(report_text(report, ascii_only=not is_utf8())).decode("utf-8"))
        for line in (since.title, *since.sentences()) if since is not None else ():
            say(f"vault-eval: {line}")
    elif form == "markdown":
        from vault_eval.reports.markdown_report import markdown_report

        sys.stdout.write(markdown_report(report, since))
    else:
        sys.stdout.write(text_report(report, saved=saved, since=since))


def _absolute(source: str) -> str:
    """A label source as it is remembered: found again from any folder."""
    return source if source.startswith((NOTE_PREFIX, PROPERTY_PREFIX)) else os.path.abspath(source)
