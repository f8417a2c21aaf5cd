"""`labels suggest`: labels that the vault proposes itself, from what its owner wrote into it. Offline; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator

from vault_eval.authoring.file_text import text_of
from vault_eval.authoring.suggest import Suggestions, read_material, suggest
from vault_eval.authoring.suggestions import suggestion_sources
from vault_eval.cli.arguments import Parser, whole_number
from vault_eval.cli.labels.changing import add_format, open_label_vault, print_labels
from vault_eval.cli.printing import print_list
from vault_eval.errors import UsageError
from vault_eval.labels.load import load_labels
from vault_eval.limits import LABEL_FILE_MAX_BYTES, LABEL_QUERIES_MAX, TRANSCRIPT_MAX_BYTES
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.reader import read_outside
from vault_eval.vault.targets import target_text

_SHOWN_DEFAULT = 60


def run(argv: list[str]) -> int:
    """The exit code of `labels suggest` with these arguments."""
    options = parser().parse_args(argv)
    if not 1 <= options.limit <= LABEL_QUERIES_MAX:
        raise UsageError(f"--limit {options.limit}: allowed are 1 to {LABEL_QUERIES_MAX:,}")
    failed = _read(options.failed, LABEL_FILE_MAX_BYTES).split("\n")
    transcript = _read(options.transcript, TRANSCRIPT_MAX_BYTES)
    with open_label_vault(options.vault, options.data) as opened:
        documents = opened.documents(options.queries)
        labelled = [label.query for label in load_labels(documents).labels] if documents else []
        found = suggest(read_material(opened.vault, failed, transcript), labelled, options.limit)
    if options.format == "json":
        print_labels([one.label for one in found.shown])
    else:
        print_list(_lines(found), "--format json lists all that --limit allows")
        print("\n".join(_summary(found)))
    return 0


def parser() -> Parser:
    """The options of `labels suggest`."""
    made = Parser("labels suggest", "Propose labels from what the vault already says. Nothing is written or sent.")
    add = made.add_argument
    add("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    add("--failed", metavar="FILE", help="searches that failed, one a line")
    add("--transcript", metavar="FILE", help="a chat: a Claude Code session (JSONL) or plain text")
    add("--queries", metavar="SOURCE", action="append", default=[], help="labels that are there already; may be repeated")
    add("--limit", metavar="N", type=whole_number, default=_SHOWN_DEFAULT, help=f"at most so many (default {_SHOWN_DEFAULT})")
    add_format(made)
    return made


def _read(path: str | None, max_bytes: int) -> str:
    return text_of(path, read_outside(path, max_bytes)) if path else ""


def _lines(found: Suggestions) -> Iterator[str]:
    for name, source in suggestion_sources().items():
        ones = [one.label for one in found.shown if one.source == name]
        if ones:
            yield f"{source.NAME[:1].upper()}{source.NAME[1:]} ({len(ones):,} of {found.usable[name]:,})"
        for label in ones:
            page = for_terminal(", ".join(map(target_text, label.gold))) or "(name the note)"
            yield f"  {for_terminal(label.query)}\n      {page} · {for_terminal(label.origin or '')}"


def _summary(found: Suggestions) -> Iterator[str]:
    if not found.usable:
        yield "Nothing to suggest: no telling link texts, aliases or question headings; name --failed or --transcript."
    if found.left_out:
        yield "Left out:"
        yield from (f"  {count:,} × {reason}" for reason, count in sorted(found.left_out.items(), key=lambda one: -one[1]))
    if found.shown:
        yield "These are silver: the vault's own words, easier than what you really ask. Reports show them apart by their tag."
