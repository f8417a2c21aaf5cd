"""`labels export`: labels in a format of another tool, or in another of ours."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from vault_eval.authoring.file_text import text_of
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import LabelVault, open_label_vault, refuse_out_in_a_vault, write_new
from vault_eval.cli.printing import print_file
from vault_eval.errors import UnreadableFileError, UsageError
from vault_eval.interop import WRITES_LABELS, beir, formats
from vault_eval.interop.carried import loss
from vault_eval.interop.conversion import topics_of
from vault_eval.interop.records import Written
from vault_eval.labels.eligibility import settle
from vault_eval.labels.load import load_labels
from vault_eval.labels.write import native_json
from vault_eval.limits import LABEL_QUERIES_MAX
from vault_eval.model import Label, LabelSet
from vault_eval.reports.escaping import for_terminal

_NATIVE = "native"


def run(argv: list[str]) -> int:
    """The exit code of `labels export` with these arguments."""
    options = parser().parse_args(argv)
    if options.corpus and options.form != beir.NAME:
        raise UsageError(f"--corpus goes with --to {beir.NAME}; no other format holds notes")
    with open_label_vault(options.vault, options.data) as opened:
        refuse_out_in_a_vault(options.out, opened.vault.root)
        written = _written(options, opened)
    _refuse_mixture(written, options.out)
    _give(written, options.out)
    for sentence in written.left_out:
        print(f"vault-eval: not carried over: {for_terminal(sentence)}", file=sys.stderr)
    return 0


def parser() -> Parser:
    """The options of `labels export`."""
    made = Parser("labels export", "Write labels in another format. What that format cannot hold is said on stderr.")
    add = made.add_argument
    add("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    add("--queries", metavar="SOURCE", action="append", default=[], help="a label file, note:FOLDER/NOTE.md; may be repeated")
    add("--to", dest="form", choices=[_NATIVE, *formats(WRITES_LABELS)], required=True, help="the format")
    add("--out", metavar="PATH", help="the file to write, for a format of several files a folder (default: print it)")
    add("--corpus", action="store_true", help="beir: write the whole text of every note too")
    return made


def _written(options: argparse.Namespace, opened: LabelVault) -> Written:
    labels = load_labels(opened.documents(opened.sources(options.queries)))
    if options.form == _NATIVE:
        if len(labels.labels) > LABEL_QUERIES_MAX:
            problem = f"{len(labels.labels):,} labels; a label file has at most {LABEL_QUERIES_MAX:,}"
            raise UsageError(f"{problem}: export the sources one by one")
        return Written({"queries.json": native_json(LabelSet(labels.labels, ()))})
    vault = opened.vault
    settled = settle(labels.labels, vault.listing, vault.reader, None, None, lambda _: None)
    form = formats(WRITES_LABELS)[options.form]
    dropped = "" if getattr(form, "OWN", False) else "missing-gold"
    missing = [one.label.id for one in settled if one.status == dropped]
    kept = [one.label for one in settled if one.status != dropped]
    written: Written = form.write_labels(topics_of(kept))
    files = {**written.files, **({beir.CORPUS: beir.write_corpus(_notes(opened))} if options.corpus else {})}
    return replace(written, files=files, left_out=(*_lost_before(missing, kept), *written.left_out))


def _lost_before(missing: Sequence[str], kept: Sequence[Label]) -> tuple[str, ...]:
    hashed = [label.id for label in kept if label.hashes]
    return (
        *loss("the query, since a page that it expects does not exist", missing, [*missing, *kept]),
        *loss("the digests of the pages as they were judged", hashed, kept),
    )


def _notes(opened: LabelVault) -> list[tuple[str, str]]:
    """The path and text of every note that can be read; others cannot be found by a search either."""
    notes = []
    for page in opened.vault.names:
        try:
            notes.append((page, text_of(page, opened.vault.read(page))))
        except UnreadableFileError as error:
            print(f"vault-eval: {for_terminal(str(error))}; it is not in {beir.CORPUS}", file=sys.stderr)
    return notes


def _refuse_mixture(written: Written, out: str | None) -> None:
    """Raises UsageError for a folder that is not empty: judgments of another export would be read with these."""
    if out is not None and len(written.files) > 1 and os.path.lexists(out) and (not os.path.isdir(out) or os.listdir(out)):
        raise UsageError(f"--out {out!r} is there and not empty; name a new folder for {', '.join(written.files)}")


def _give(written: Written, out: str | None) -> None:
    first, *others = written.files
    if out is None:
        print_file(written.files[first])
        if others:
            print(f"vault-eval: printed is {first}; --out FOLDER writes {', '.join(others)} too", file=sys.stderr)
        return
    for name, text in written.files.items():
        write_new(os.path.join(out, *name.split("/")) if others else out, text)
