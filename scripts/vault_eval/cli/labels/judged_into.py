"""`labels judge --labels --into FILE`: what was judged, beside what the file holds already."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from vault_eval.authoring.changes import Change, change_of, new_label_file
from vault_eval.authoring.label_files import open_labels, with_labels
from vault_eval.authoring.merging import Merge, merged
from vault_eval.cli.labels.changing import show_and_write
from vault_eval.cli.printing import print_list
from vault_eval.command_lines import command_line
from vault_eval.errors import UsageError
from vault_eval.labels.load import LabelDocument
from vault_eval.labels.sources import NOTE_PREFIX, PROPERTY_PREFIX, open_sources
from vault_eval.labels.write import native_json
from vault_eval.model import Label, LabelSet
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.snapshot import VaultSnapshot


def add_judged(labels: Sequence[Label], into: str, vault: VaultSnapshot, *, write: bool, data: str | None) -> None:
    """Show what a label file becomes with the judged labels that it lacks, and write it if that was asked for.

    What the file holds stays as it is. Raises UsageError for a property, LabelError for a file that cannot hold them.
    """
    if into.startswith(PROPERTY_PREFIX):
        raise UsageError(f"--into {into!r}: a property holds no grades; name a JSON file")
    document = _document(into, vault)
    found = merged(open_labels(document).labels if document is not None else (), labels)
    if found.added:
        show_and_write([_change(document, into, vault, found.added)], write=write, beside_json=False)
    print_list(map(for_terminal, _said(found)), "mend these first")
    if found.nothing_found:
        query = found.nothing_found[0].query
        line = command_line("labels", "add", "--vault", vault.named, "--queries", into, "--none", "--query", query, data=data)
        print(for_terminal(f"If none should be found, say so of each: {line}"))


def _document(into: str, vault: VaultSnapshot) -> LabelDocument | None:
    """The label file, None where nothing is there yet."""
    if not into.startswith(NOTE_PREFIX) and not os.path.lexists(into):
        return None
    return open_sources([into], vault.reader, vault.named, lambda: vault.names)[0]


def _change(document: LabelDocument | None, into: str, vault: VaultSnapshot, added: Sequence[Label]) -> Change:
    if document is None:
        return new_label_file(into, native_json(LabelSet(tuple(added), ())), vault.root)
    return change_of(document, vault.root, with_labels(document, added))


def _said(found: Merge) -> Iterator[str]:
    counts = f"New: {len(found.added):,}, there already: {len(found.there):,}"
    yield f"{counts}, not judged to the end and left out: {len(found.unfinished):,}, refused: {len(found.refused):,}"
    if found.refused:
        yield "Refused, since a label that is there is never changed; change it by hand where the judgement is right:"
        yield from (f"  {sentence}" for sentence in found.refused)
    if found.nothing_found:
        yield "Skipped, since no page of the pool answers them:"
        yield from (f"  {label.query}" for label in found.nothing_found)
