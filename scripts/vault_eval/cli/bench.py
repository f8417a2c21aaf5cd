"""`bench`: measure search on a vault with labelled queries; the command behind evaluate-retrieval.py."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime, timezone

from vault_eval import launcher, strict_json
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.printing import is_utf8
from vault_eval.comparison.gates import Gate, decide, exit_code, parse_gate
from vault_eval.data_folder import DataFolder
from vault_eval.errors import MissingPackageError, UsageError, VaultEvalError
from vault_eval.evaluation import clock, evaluate
from vault_eval.request import Request
from vault_eval.limits import COLD_SAMPLES_DEFAULT_QUERIES, DEPTH_DEFAULT_PAGES, LABEL_QUERIES_MAX
from vault_eval.metrics.score import MetricValue
from vault_eval.labels.sources import NOTE_PREFIX, PROPERTY_PREFIX
from vault_eval.reports.document import Report, RunReport
from vault_eval.reports.json_report import report_text
from vault_eval.reports.markdown_report import markdown_report
from vault_eval.reports.save import check_destination, save_report, save_to_history
from vault_eval.reports.text_report import text_report
from vault_eval.variants import build_variants, varied
from vault_eval.vault.location import refuse_inside_vault, vault_id, vault_root


def run(argv: list[str]) -> int:
    """The exit code of `bench` with these arguments."""
    options = parser().parse_args(argv)
    gates = [parse_gate(text, options.top) for text in options.fail_under]
    if options.fixture:
        return _fixture(options, gates)
    if options.vault is None:
        raise UsageError("--vault is missing: name the folder that holds your notes, or --fixture for the shipped example")
    root = vault_root(options.vault)
    data = launcher.data_folder(options.data)
    for path, option in ((data, "--data"), (options.index, "--index")):
        if path is not None:
            refuse_inside_vault(path, root, option)
    if options.out is not None:
        check_destination(options.out, root)
        if os.path.splitext(options.out)[1].lower() not in (".json", ".md"):
            launcher.ensure(["jinja2"], may_install=False, data=data, command="bench --out with HTML")
    report = _measured(options, data)
    if options.remember:
        DataFolder(data).remember(vault_id(root), labels=[_absolute(source) for source in options.queries])
    return _finish(report, options, gates, root, data)


def parser() -> Parser:
    """The options of `bench`."""
    made = Parser("bench", "Measure how well search finds the notes of a vault. Writes nothing into it.")
    add_vault(made, required=False)
    add = made.add_argument
    add("--queries", metavar="SOURCE", action="append", default=[], help="a label file, note:FOLDER/NOTE.md; may be repeated")
    add("--retriever", "-r", metavar="SPEC", action="append", default=[], help="what to measure, such as keyword:k1=1.2,b=0.5")
    add("--vary", "--strategy", metavar="KEY=V,V", action="append", default=[], help="the first one with one setting changed")
    add("--product-root", metavar="DIR", help="a checkout of claude-obsidian; alone it means --retriever claude-obsidian")
    add("--no-rerank", action="store_true", help="hybrid+rerank answers as hybrid does")
    add("--allow-remote", action="store_true", help="let a searcher that is named ask other machines than this one")
    add("--top", "-k", metavar="N", type=whole_number, default=DEPTH_DEFAULT_PAGES, help="pages asked for a query, 10 to 1,000")
    add("--out", "-o", metavar="PATH", help="write the report: NAME.json, NAME.md, NAME.html, or a folder for all three")
    add("--format", choices=["text", "json", "markdown"], default="text", help="what is printed")
    add("--markdown", dest="format", action="store_const", const="markdown", help="the same as --format markdown")
    add("--fail-under", metavar="[SPEC:][METRIC=]V", action="append", default=[], help="exit 1 below V; V alone is for recall@5")
    add("--min-n", metavar="N", type=whole_number, default=1, help="exit 3 where a gate has fewer queries")
    add("--split", choices=["dev", "holdout", "all"], default="all", help="which labels")
    add("--collection", metavar="NAME", help="leave out labels of other collections")
    add(
        "--cold-samples",
        metavar="N|all",
        type=_samples,
        default=COLD_SAMPLES_DEFAULT_QUERIES,
        help="queries timed in a process each",
    )
    add("--remember", action="store_true", help="use these label sources when none are named")
    add("--quality", action="store_true", help=argparse.SUPPRESS)
    add("--fixture", action="store_true", help="measure the shipped example: 10 notes, 14 queries")
    return made


def _samples(text: str) -> int:
    return LABEL_QUERIES_MAX if text == "all" else whole_number(text)


def _request(options: argparse.Namespace) -> Request:
    return Request(
        vault=options.vault,
        queries=tuple(options.queries),
        retrievers=tuple(options.retriever) or (("claude-obsidian",) if options.product_root else ("keyword",)),
        depth=options.top,
        data=options.data,
        index=options.index,
        collection=options.collection,
        split=None if options.split == "all" else options.split,
        cold_samples=options.cold_samples,
        product_root=options.product_root,
        allow_remote=options.allow_remote,
        no_rerank=options.no_rerank,
    )


def _measured(options: argparse.Namespace, data: str) -> Report:
    """The report; where a note must be read and this interpreter lacks the packages, the private environment goes on."""
    try:
        request = _request(options)
        if options.vary:
            request = varied(request, options.vary)
            build_variants(request)
        return evaluate(request, clock())
    except MissingPackageError:
        # It is never built here: ensure says how, starts anew in it, or returns where something else is missing.
        launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=False, data=data, command="bench")
        raise


def _fixture(options: argparse.Namespace, gates: list[Gate]) -> int:
    from vault_eval.fixture_mode import run_fixture

    data = launcher.data_folder(options.data)
    launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=True, data=data, command="bench")
    print("vault-eval: measuring the shipped example (10 notes, 14 queries) in a temporary folder", file=sys.stderr, flush=True)
    launcher.precompile(data)
    report, root = run_fixture(_request(options), clock())
    return _finish(report, options, gates, root, None)


def _finish(report: Report, options: argparse.Namespace, gates: list[Gate], root: str, data: str | None) -> int:
    """Save, print, decide the gates; a report that cannot be kept in the default place is still printed."""
    saved = None
    if options.out is not None:
        saved = save_report(report, options.out, root)
    elif data is not None:
        started = datetime.strptime(report.timing.started, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        try:
            saved = save_to_history(report, DataFolder(data).reports_folder(vault_id(root)), started)
        except (VaultEvalError, OSError) as error:
            print(f"vault-eval: the report was not kept: {error}", file=sys.stderr)
    results = decide(gates, [_Gated(run) for run in report.runs], options.min_n)
    _print(report, options.format, saved)
    for result in results:
        print(result.sentence, file=sys.stderr)
    for warning in report.warnings if options.format != "text" else ():
        print(f"vault-eval: {warning}", file=sys.stderr)
    return exit_code(results)


def _print(report: Report, form: str, saved: str | None) -> None:
    if form == "json":
        sys.stdout.write(strict_json.encode(report_text(report, ascii_only=not is_utf8())).decode("utf-8"))
    elif form == "markdown":
        sys.stdout.write(markdown_report(report))
    else:
        sys.stdout.write(text_report(report, saved=saved))


def _absolute(source: str) -> str:
    """A label source as it is remembered: found again from any folder."""
    return source if source.startswith((NOTE_PREFIX, PROPERTY_PREFIX)) else os.path.abspath(source)


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
