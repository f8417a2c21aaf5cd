"""`labels build`: references that outlive edits, resolved to the sections and pages of today, as a label file."""

from __future__ import annotations

import os
import sys

from vault_eval.authoring.changes import Change
from vault_eval.authoring.references import BuiltLabels, build_labels
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import add_format, add_write, open_label_vault, print_labels, show_and_write
from vault_eval.cli.printing import print_list
from vault_eval.labels.write import native_json
from vault_eval.limits import LABEL_FILE_MAX_BYTES
from vault_eval.model import LabelSet
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.note_text import decode_utf8
from vault_eval.vault.reader import from_the_top, read_outside


def run(argv: list[str]) -> int:
    """The exit code of `labels build` with these arguments."""
    options = parser().parse_args(argv)
    text = decode_utf8(read_outside(options.references, LABEL_FILE_MAX_BYTES))
    with open_label_vault(options.vault, options.data, with_pdfs=True) as opened:
        built = build_labels(options.references, text, opened.vault)
    before = read_outside(options.out, LABEL_FILE_MAX_BYTES) if os.path.lexists(options.out) else None
    change = Change(*from_the_top(options.out), before, native_json(LabelSet(built.labels, ())).encode("utf-8"))
    as_json = options.format == "json"
    if as_json:
        print_labels(built.labels)
    if before != change.after:
        show_and_write([change], write=options.write, beside_json=as_json)
    _say(built, as_json=as_json)
    return 0


def parser() -> Parser:
    """The options of `labels build`."""
    made = Parser("labels build", "Resolve references to today's sections and pages; --write writes the label file.")
    made.add_argument("references", metavar="IN", help="JSON: a document pattern with a heading or a quoted sentence")
    made.add_argument("out", metavar="OUT", help="the label file that is made of it")
    made.add_argument("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    add_format(made)
    add_write(made)
    return made


def _say(built: BuiltLabels, *, as_json: bool) -> None:
    """How many labels there are, and each reference that was skipped; beside JSON on stderr."""
    places = sum(len(label.gold) for label in built.labels)
    lines = [f"Labels: {len(built.labels):,}, places: {places:,}, references skipped: {len(built.unresolved):,}"]
    lines += [for_terminal(f"  {one.place}: {one.reason}") for one in built.unresolved]
    if as_json:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
    else:
        print_list(lines, "mend these first")
