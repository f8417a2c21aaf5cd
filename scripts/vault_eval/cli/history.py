"""`history`: one figure of a vault over the reports that were kept of it."""

from __future__ import annotations

import sys

from vault_eval import launcher, strict_json
from vault_eval.cli.arguments import Parser
from vault_eval.cli.printing import is_utf8, print_file, say
from vault_eval.data_folder import DataFolder
from vault_eval.reports.history import read_history
from vault_eval.reports.history_text import history_text, left_out_lines
from vault_eval.vault.location import vault_id, vault_root

DEFAULT_METRIC = "mrr@10"


def run(argv: list[str]) -> int:
    """The exit code of `history` with these arguments."""
    options = parser().parse_args(argv)
    data = launcher.data_folder(options.data)
    root = vault_root(options.vault)
    history = read_history(DataFolder(data).reports_folder(vault_id(root)), options.metric.lower())
    if options.format == "json":
        from vault_eval.reports.history_json import history_json

        sys.stdout.write(strict_json.encode(history_json(history, ascii_only=not is_utf8())).decode("utf-8"))
    elif options.format == "html":
        launcher.ensure(["jinja2"], may_install=False, data=data, command="history --format html")
        from vault_eval.reports.history_html import history_html

        print_file(history_html(history))
    else:
        sys.stdout.write(history_text(history, with_bars=is_utf8()))
    for line in left_out_lines(history):
        say(line)
    return 0


def parser() -> Parser:
    """The options of `history`."""
    made = Parser("history", "The trend of one figure over the reports kept of a vault; they are only read.")
    made.add_argument("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    made.add_argument("--metric", metavar="NAME", default=DEFAULT_METRIC, help=f"such as recall@5 (default: {DEFAULT_METRIC})")
    made.add_argument("--format", choices=["text", "json", "html"], default="text", help="what is printed")
    return made
