"""`report`: render a saved report again, or one of its queries with its diagnosis, or the rankings of one of its runs."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from vault_eval import launcher, strict_json
from vault_eval.cli.arguments import Parser
from vault_eval.cli.printing import print_file, print_json
from vault_eval.command_lines import command_line
from vault_eval.diagnosis.causes import CAUSES
from vault_eval.errors import UsageError
from vault_eval.index.layout import FORMAT
from vault_eval.nearest import nearest
from vault_eval.reports.document import QueryRow, Report, RunReport
from vault_eval.reports.escaping import for_terminal, visible
from vault_eval.reports.json_report import ranked_value, row_value
from vault_eval.reports.saved_report import read_report
from vault_eval.retrievers.spec import INDEX_SETTINGS, KEYWORD, parse_specs
from vault_eval.vault.paths import quoted

_IDS_SHOWN_MAX = 20
# Whoever looks at a miss looks at what came first; a ranking of a thousand pages would not be shown whole.
_RANKING_SHOWN_MAX = 20
# Those formats of `vault_eval.interop` that hold rankings.
_RUN_FORMATS = ("trec", "ranx")
_QUERY_FORMATS = ("text", "json", "markdown")
_IDS_NEAR_MAX = 3
# Half of the letters: the first word of an id of two is near it.
_IDS_ALIKE = 0.5
# A longer line is no longer one that a person copies.
_QUERY_IN_COMMAND_MAX_CHARACTERS = 1_000


def run(argv: list[str]) -> int:
    """The exit code of `report` with these arguments."""
    options = parser().parse_args(argv)
    if options.run is not None and options.miss is None and options.format not in _RUN_FORMATS:
        raise UsageError(f"--run goes with --miss ID, and with --format {' or '.join(_RUN_FORMATS)}, which hold one run")
    if options.miss is not None and options.format not in _QUERY_FORMATS:
        raise UsageError(f"--miss ID with --format {options.format}: allowed are {', '.join(_QUERY_FORMATS)}")
    report = read_report(options.file)
    if options.miss is not None:
        _print_query(report, options)
    elif options.format == "json":
        raise UsageError("--format json goes with --miss ID; the whole report is the file itself")
    elif options.format == "html":
        launcher.ensure(["jinja2"], may_install=False, data=launcher.data_folder(options.data), command="report --format html")
        from vault_eval.reports.html_report import html_report

        print_file(html_report(report))
    elif options.format == "markdown":
        from vault_eval.reports.markdown_report import markdown_report

        sys.stdout.write(markdown_report(report))
    elif options.format in _RUN_FORMATS:
        _print_run(_chosen(report, options.run), options.format)
    else:
        from vault_eval.reports.text_report import text_report

        sys.stdout.write(text_report(report, saved=None))
    return 0


def parser() -> Parser:
    """The options of `report`."""
    made = Parser("report", "Render a saved report again; the file is only read.")
    made.add_argument("file", metavar="FILE", help="a report.json, or the folder that holds it")
    made.add_argument(
        "--format", choices=["text", "markdown", "html", "json", *_RUN_FORMATS], default="text", help="what is printed"
    )
    made.add_argument("--miss", metavar="ID", help="only this query: why it was missed, and what came instead")
    made.add_argument(
        "--run", metavar="SPEC", help="which run, where there are several: --retriever as it was given (--miss: else the first)"
    )
    return made


def _chosen(report: Report, spec: str | None) -> RunReport:
    """The run of this retriever, or the only one."""
    named = [run for run in report.runs if spec in (None, run.retriever.name)]
    if len(named) == 1:
        return named[0]
    if not report.runs:
        raise UsageError("the report has no runs")
    found = "the report has several runs" if spec is None else f"the report has no run {quoted(spec)}"
    raise UsageError(f"{found}; name one with --run: {', '.join(quoted(run.retriever.name) for run in report.runs)}")


def _print_run(run: RunReport, form: str) -> None:
    """The rankings of the queries that were answered; what the format does not hold is said on stderr."""
    from vault_eval.interop.carried import loss
    from vault_eval.interop.records import ForeignRun

    answered = {row.id: row.ranking for row in run.rows if row.is_answered}
    written = import_module(f"vault_eval.interop.{form}").write_run(ForeignRun(run.retriever.name, answered))
    print_file("".join(written.files.values()))
    unasked = [row.id for row in run.rows if not row.is_answered]
    for sentence in (*loss("a ranking: they were not asked, or not answered", unasked, run.rows), *written.left_out):
        print(f"vault-eval: not carried over: {for_terminal(sentence)}", file=sys.stderr)


def _print_query(report: Report, options: argparse.Namespace) -> None:
    """One query of the run that was named, else of the first."""
    run = report.runs[0] if options.run is None and report.runs else _chosen(report, options.run)
    row = _row(run, options.miss)
    if options.format == "json":
        print_json(_row_value(report, run, row), spread=2)
        return
    from vault_eval.reports.query_text import query_markdown, query_text

    rendered = query_markdown if options.format == "markdown" else query_text
    sys.stdout.write(rendered(report, run, row, explain=_explain_command(report, run, row, options.data)))


def _row(run: RunReport, wanted: str) -> QueryRow:
    """The row of the query with this id. Raises UsageError that names the nearest ids, and those of the worst misses."""
    row = next((row for row in run.rows if row.id == wanted), None)
    if row is None:
        near = ", ".join(map(repr, nearest(wanted, (one.id for one in run.rows), most=_IDS_NEAR_MAX, alike=_IDS_ALIKE)))
        ids = ", ".join(repr(one) for one in run.worst_misses[:_IDS_SHOWN_MAX]) or "none"
        found = f"near it are {near}; its worst misses are {ids}" if near else f"its worst misses are {ids}"
        raise UsageError(f"--miss {wanted!r}: the report has no query with this id; {found}")
    return row


def _row_value(report: Report, run: RunReport, row: QueryRow) -> dict[str, strict_json.JsonValue]:
    """The row of a query, what was searched, and what its causes mean."""
    causes = dict.fromkeys(one.cause for one in row.diagnosis)
    return {
        "vault": report.vault_name,
        "retriever": run.retriever.name,
        "row": {**row_value(row), "ranking": [ranked_value(one) for one in row.ranking[:_RANKING_SHOWN_MAX]]},
        "pages_returned": len(row.ranking),
        "causes": {name: {"meaning": CAUSES[name].meaning, "remedy": CAUSES[name].remedy} for name in causes},
    }


def _explain_command(report: Report, run: RunReport, row: QueryRow, data: str | None) -> str | None:
    """The line that shows which words each page matched; None where `retrieve --explain` does not answer as this run did.

    No report says where its vault lies, so that VAULT stands for it; QUERY stands for what cannot be copied from a terminal.
    """
    # The vault of the shipped fixture is gone; that of another index format cannot be explained.
    if report.fixture is not None or run.index is None or run.index.format != FORMAT or not _is_keyword(run.retriever.name):
        return None
    is_copied = len(row.query) <= _QUERY_IN_COMMAND_MAX_CHARACTERS and visible(row.query) == row.query
    searcher = () if run.retriever.name == KEYWORD else ("-r", run.retriever.name)
    places = () if data is None else ("--data", data)
    words = ("retrieve", "--vault", "VAULT", *places, *searcher, "--explain", "--", row.query if is_copied else "QUERY")
    return command_line(*words)


def _is_keyword(name: str) -> bool:
    """Whether a retriever of this name searches the standing index by words."""
    try:
        specs = parse_specs([name])
    except UsageError:
        return False
    return [spec.kind for spec in specs] == [KEYWORD] and not any(setting in INDEX_SETTINGS for setting in specs[0].settings)
