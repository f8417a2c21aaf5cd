"""`report`: render a saved report again, or print one of its rows with its diagnosis."""

from __future__ import annotations

import sys

from vault_eval import launcher, strict_json
from vault_eval.cli.arguments import Parser
from vault_eval.cli.printing import print_json
from vault_eval.diagnosis.causes import CAUSES
from vault_eval.errors import UsageError
from vault_eval.reports.document import Report
from vault_eval.reports.json_report import ranked_value, row_value
from vault_eval.reports.saved_report import read_report

_IDS_SHOWN_MAX = 20
# Whoever looks at a miss looks at what came first; a ranking of a thousand pages would not be shown whole.
_RANKING_SHOWN_MAX = 20


def run(argv: list[str]) -> int:
    """The exit code of `report` with these arguments."""
    options = parser().parse_args(argv)
    report = read_report(options.file)
    if options.miss is not None:
        print_json(_row(report, options.miss), spread=2)
    elif options.format == "json":
        raise UsageError("--format json goes with --miss ID; the whole report is the file itself")
    elif options.format == "html":
        launcher.ensure(["jinja2"], may_install=False, data=launcher.data_folder(options.data), command="report --format html")
        from vault_eval.reports.html_report import html_report

        sys.stdout.write(html_report(report))
    elif options.format == "markdown":
        from vault_eval.reports.markdown_report import markdown_report

        sys.stdout.write(markdown_report(report))
    else:
        from vault_eval.reports.text_report import text_report

        sys.stdout.write(text_report(report, saved=None))
    return 0


def parser() -> Parser:
    """The options of `report`."""
    made = Parser("report", "Render a saved report again; the file is only read.")
    made.add_argument("file", metavar="FILE", help="a report.json, or the folder that holds it")
    made.add_argument("--format", choices=["text", "markdown", "html", "json"], default="text", help="what is printed")
    made.add_argument("--miss", metavar="ID", help="only the row of this query with its diagnosis, as JSON")
    return made


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
