"""`labels init`: a first label file beside the vault, or a label note in it. Nothing is ever overwritten."""

from __future__ import annotations

import os

from vault_eval.authoring.changes import Change, new_label_file, new_label_note
from vault_eval.authoring.starter import starter_file, starter_note
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import add_write, open_label_vault, show_and_write
from vault_eval.errors import UsageError
from vault_eval.labels.sources import NOTE_PREFIX, PROPERTY_PREFIX, beside
from vault_eval.vault.paths import is_markdown, page_name, page_problem
from vault_eval.vault.snapshot import VaultSnapshot


def run(argv: list[str]) -> int:
    """The exit code of `labels init` with these arguments."""
    options = parser().parse_args(argv)
    with open_label_vault(options.vault, options.data) as opened:
        note = options.note or (options.queries[len(NOTE_PREFIX) :] if (options.queries or "").startswith(NOTE_PREFIX) else None)
        change = _file(options.queries, opened.vault) if note is None else _note(note, opened.vault)
        if os.path.lexists(change.place):
            raise UsageError(f"{change.place!r} is there already; name another place: nothing is overwritten")
        show_and_write([change], write=options.write, beside_json=False)
    return 0


def parser() -> Parser:
    """The options of `labels init`."""
    made = Parser("labels init", "Make a first label file or label note with an example of each kind; --write writes it.")
    made.add_argument("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    where = made.add_mutually_exclusive_group()
    where.add_argument("--queries", metavar="FILE", help="the label file (default: NAME.queries.json beside the vault)")
    where.add_argument("--note", metavar="PATH", help="a label note instead, relative to the vault")
    add_write(made)
    return made


def _file(named: str | None, vault: VaultSnapshot) -> Change:
    path = named or beside(vault.root)
    if path.startswith(PROPERTY_PREFIX):
        raise UsageError("a property needs no first file: `labels add --queries property:answers` writes it into the note")
    return new_label_file(path, starter_file(), vault.root)


def _note(path: str, vault: VaultSnapshot) -> Change:
    problem = page_problem(path)
    if problem is not None or not is_markdown(path):
        raise UsageError(f"--note: {problem or f'{path!r} is no note; end its name in .md'}")
    return new_label_note(page_name(path), starter_note(), vault.root)
