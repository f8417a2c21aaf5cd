"""`report`: render a saved report again, or print one of its rows with its diagnosis, or the rankings of one of its runs."""

from __future__ import annotations

import sys
from importlib import import_module

from vault_eval import launcher, strict_json
from vault_eval.cli.arguments import Parser
from vault_eval.cli.printing import print_file, print_json
from vault_eval.diagnosis.causes import CAUSES
from vault_eval.errors import UsageError
from vault_eval.reports.document import Report, RunReport
from vault_eval.reports.escaping import for_terminal
from vault_eval.reports.json_report import ranked_value, row_value
from vault_eval.reports.saved_report import read_report
from vault_eval.vault.paths import quoted

_IDS_SHOWN_MAX = 20
# Whoever looks at a miss looks at what came first; a ranking of a thousand pages would not be shown whole.
_RANKING_SHOWN_MAX = 20
# Those formats of `vault_eval.interop` that hold rankings.
_RUN_FORMATS = ("trec", "ranx")


def run(argv: list[str]) -> int:
    """The exit code of `report` with these arguments."""
    options = parser().parse_args(argv)
    if options.run is not None and options.format not in _RUN_FORMATS:
        raise UsageError(f"--run goes with --format {' or '.join(_RUN_FORMATS)}, which hold one run")
    report = read_report(options.file)
    if options.miss is not None:
        print_json(_row(report, options.miss), spread=2)
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
    made.add_argument("--miss", metavar="ID", help="only the row of this query with its diagnosis, as JSON")
    made.add_argument("--run", metavar="SPEC", help="which run, where there are several: --retriever as it was given")
    return made


def _chosen(report: Report, spec: str | None) -> RunReport:
    """The run of this retriever, or the only one."""
    named = [run for run in report.runs if spec in (None, run.retriever.name)]
    if len(named) == 1:
        return named[0]
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


def _row(report: Report, wanted: str) -> dict[str, strict_json.JsonValue]:
    """One query of the first run: its row, what was searched, and what its causes mean."""
    run = report.runs[0]
    row = next((row for row in run.rows if row.id == wanted), None)
    if row is None:
        ids = ", ".join(repr(one) for one in run.worst_misses[:_IDS_SHOWN_MAX]) or "none"
        raise UsageError(f"--miss {wanted!r}: the report has no query with this id; its worst misses are {ids}")
    causes = dict.fromkeys(one.cause for one in row.diagnosis)
    return {
        "vault": report.vault_name,
        "retriever": run.retriever.name,
        "row": {**row_value(row), "ranking": [ranked_value(one) for one in row.ranking[:_RANKING_SHOWN_MAX]]},
        "pages_returned": len(row.ranking),
        "causes": {name: {"meaning": CAUSES[name].meaning, "remedy": CAUSES[name].remedy} for name in causes},
    }
