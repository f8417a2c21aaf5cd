"""`labels build`: references that outlive edits, resolved to the sections and pages of today, as a label file."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection

from vault_eval.authoring.changes import Change, change_of, new_label_file
from vault_eval.authoring.file_text import text_of
from vault_eval.authoring.label_files import label_format
from vault_eval.authoring.references import BuiltLabels, build_labels
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import add_format, add_write, open_label_vault, print_labels, show_and_write
from vault_eval.cli.printing import print_list
from vault_eval.errors import LabelError, UsageError
from vault_eval.labels.formats.native import NAME as NATIVE
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.write import native_json
from vault_eval.limits import LABEL_FILE_MAX_BYTES
from vault_eval.model import LabelSet
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.note_text import decode_utf8
from vault_eval.vault.paths import quoted
from vault_eval.vault.reader import read_outside

_LOST_SHOWN_MAX = 5


def run(argv: list[str]) -> int:
    """The exit code of `labels build` with these arguments."""
    options = parser().parse_args(argv)
    text = text_of(options.references, read_outside(options.references, LABEL_FILE_MAX_BYTES), decode_utf8)
    if os.path.exists(options.out) and os.path.samefile(options.references, options.out):
        raise UsageError(f"{options.out!r} is the file of references itself; name another OUT for the labels made of it")
    with open_label_vault(options.vault, options.data, with_pdfs=True) as opened:
        built = build_labels(options.references, text, opened.vault)
        change = _change(options.out, built, opened.vault.root)
    as_json = options.format == "json"
    if as_json:
        print_labels(built.labels)
    if change.before != change.after:
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


def _change(out: str, built: BuiltLabels, vault_root: str) -> Change:
    """What becomes of OUT. Raises UsageError where a file is there that holds anything but labels made of these references."""
    text = native_json(LabelSet(built.labels, ()))
    if not os.path.lexists(out):
        return new_label_file(out, text, vault_root)
    document = LabelDocument(out, read_outside(out, LABEL_FILE_MAX_BYTES), None, list)
    foreign = _foreign(document, {label.id for label in built.labels})
    if foreign is not None:
        raise UsageError(f"{out!r} is there already and {foreign}; name another OUT, or remove that file")
    return change_of(document, vault_root, text.encode("utf-8"))


def _foreign(document: LabelDocument, ids: Collection[str]) -> str | None:
    """Why a file is not one that `labels build` made of references with these ids, or None where it may be."""
    try:
        labels = load_labels([document]).labels
    except LabelError:
        return "is no label file that labels build made"
    if label_format(document) != NATIVE:
        return "is no label file that labels build made, but one of another format"
    lost = [quoted(label.id) for label in labels if label.id not in ids]
    more = f" and {len(lost) - _LOST_SHOWN_MAX:,} more" if len(lost) > _LOST_SHOWN_MAX else ""
    return f"holds labels that the references lack: {', '.join(lost[:_LOST_SHOWN_MAX])}{more}" if lost else None


def _say(built: BuiltLabels, *, as_json: bool) -> None:
    """How many labels there are, and each reference that was skipped; beside JSON on stderr."""
    places = sum(len(label.gold) for label in built.labels)
    lines = [f"Labels: {len(built.labels):,}, places: {places:,}, references skipped: {len(built.unresolved):,}"]
    lines += [for_terminal(f"  {one.place}: {one.reason}") for one in built.unresolved]
    if as_json:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
    else:
        print_list(lines, "mend these first")
