"""What the label commands share: opening a vault and its labels, showing a change, writing it when asked to."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from vault_eval import launcher, strict_json
from vault_eval.atomic_file import make_private_folder, write_atomically
from vault_eval.authoring.changes import Change, write_changes
from vault_eval.cli.arguments import Parser
from vault_eval.cli.printing import print_json, print_list
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.inputs import index_options
from vault_eval.labels.load import LabelDocument
from vault_eval.labels.sources import NoLabelsError, beside, discover, open_sources
from vault_eval.labels.write import native_value
from vault_eval.limits import REPORT_MAX_BYTES
from vault_eval.model import Label
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.location import refuse_inside_any_vault, refuse_inside_vault, vault_root
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot

# An entry a line below the keys.
_SPREAD = 2


@dataclass(frozen=True, slots=True)
class LabelVault:
    """A vault with the excluded notes of its index left out, and where what is known about it is kept."""

    vault: VaultSnapshot
    data: DataFolder

    def sources(self, named: Sequence[str]) -> tuple[str, ...]:
        """The label sources named, else those that `bench` would take. Raises UsageError where there are none."""
        return tuple(named) or discover(self.data.settings(self.vault.id).labels, self.vault.reader, self.vault.names)

    def documents(self, sources: Sequence[str]) -> list[LabelDocument]:
        """The label sources, open. Raises LabelError."""
        return open_sources(sources, self.vault.reader, self.vault.named, lambda: self.vault.names)

    def one_source(self, named: str | None) -> str:
        """The one label source that is to be changed. Raises UsageError for none or several."""
        sources = self.sources([named] if named else [])
        if len(sources) > 1:
            raise UsageError(f"{len(sources)} label sources are remembered; name the one to change with --queries")
        return sources[0]

    def source_to_extend(self, named: str | None) -> str:
        """The one label source, or where there is none at all the file beside the vault that is to be made."""
        try:
            return self.one_source(named)
        except NoLabelsError:
            return beside(self.vault.root)


@contextmanager
def open_label_vault(vault: str, data_option: str | None, *, with_pdfs: bool = False) -> Iterator[LabelVault]:
    """The vault, read-only; its PDFs where they are asked for here or indexed. Raises VaultEvalError."""
    folder = launcher.data_folder(data_option)
    refuse_inside_vault(folder, vault_root(vault), "--data")
    data = DataFolder(folder)
    options = index_options(data, vault)
    with open_snapshot(vault, options.exclude, with_pdfs=with_pdfs or options.pdf) as snapshot:
        yield LabelVault(snapshot, data)


def add_format(parser: Parser) -> None:
    """`--format`: text, or the labels as a label file."""
    parser.add_argument("--format", choices=["text", "json"], default="text", help="json prints the labels as a label file")


def add_write(parser: Parser) -> None:
    """`--write`, without which nothing is."""
    parser.add_argument("--write", action="store_true", help="write it; without this the change is only shown")


def print_labels(labels: Sequence[Label]) -> None:
    """The labels as a label file in JSON."""
    print_json(native_value(labels), spread=_SPREAD)


def read_text(path: str) -> str:
    """A pool, or an agent's answers, from a file or a pipe. Raises UsageError."""
    try:
        with open(path, "rb") as file:
            return file.read(REPORT_MAX_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path!r} cannot be read: {error}") from None


def refuse_out_in_a_vault(out: str | None, root: str | None) -> None:
    """Raises UnsafePathError where `--out` lies in the vault `root`, or in any other that Obsidian has opened."""
    if out is not None:
        if root is not None:
            refuse_inside_vault(out, root, "--out")
        refuse_inside_any_vault(out, "--out")


def write_new(path: str, text: str) -> None:
    """Write the file that `--out` names. Raises UsageError where another is there: labels or judgements may rest on it."""
    data = strict_json.encode(text)
    if os.path.lexists(path):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if not os.path.islink(path) and file.read(len(data) + 1) == data:
                return
        raise UsageError(f"--out {path!r} is there already; remove it, or name another place: nothing is overwritten")
    make_private_folder(os.path.dirname(os.path.abspath(path)))
    write_atomically(path, [data])


def show_and_write(changes: Sequence[Change], *, write: bool, beside_json: bool) -> None:
    """Print each change as a diff, then write them if that was asked for; beside JSON the diff goes to stderr."""
    lines = [for_terminal(line) for change in changes for line in change.diff()]
    if beside_json:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
    else:
        print_list(lines, "--write writes the whole change")
    if write:
        write_changes(changes)
    verb = "Written" if write else "Not written (add --write)"
    said = f"{verb}: {', '.join(for_terminal(repr(change.place)) for change in changes)}"
    print(said, file=sys.stderr if beside_json else sys.stdout)
