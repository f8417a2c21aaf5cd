"""`labels judge`: the items of a pool, judged in the terminal or by an agent; every verdict is kept at once."""

from __future__ import annotations

import argparse
import os
import re
import sys

from vault_eval import launcher
from vault_eval.authoring.judge_answers import prompts, read_answers
from vault_eval.authoring.judged_labels import judged_labels, progress
from vault_eval.authoring.judged_page import read_judged_page
from vault_eval.authoring.judgements import append_judgement, read_judgements
from vault_eval.authoring.pool import Pool
from vault_eval.authoring.pool_sheet import read_sheet
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import print_labels, read_text
from vault_eval.cli.labels.judging_screen import JudgingScreen
from vault_eval.cli.printing import print_json
from vault_eval.data_folder import DataFolder
from vault_eval.digests import sha256_hex
from vault_eval.errors import UsageError
from vault_eval.index.commands import command_line
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.location import refuse_inside_vault, vault_root
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot

_JUDGE = re.compile(r"[A-Za-z0-9._-]{1,40}")
_SPREAD = 2


def run(argv: list[str]) -> int:
    """The exit code of `labels judge` with these arguments."""
    options = parser().parse_args(argv)
    if not _JUDGE.fullmatch(options.judge):
        raise UsageError(f"--judge {options.judge!r}: up to 40 of the letters a-z, digits, `.`, `_` and `-`")
    root = vault_root(options.vault)
    data = launcher.data_folder(options.data)
    refuse_inside_vault(data, root, "--data")
    text = read_text(options.pool)
    pool = read_sheet(text, options.pool)
    with open_snapshot(root, with_pdfs=True) as vault:
        if pool.vault_id != vault.id:
            raise UsageError(
                f"{options.pool!r} is a pool of the vault {pool.vault_name!r} at another place; make one with labels pool"
            )
        folder = DataFolder(data).judgements_folder(vault.id)
        kept = os.path.join(folder, f"{sha256_hex(text.encode('utf-8', 'backslashreplace'))[:16]}.{options.judge}.jsonl")
        return _act(options, pool, vault, kept)


def parser() -> Parser:
    """The options of `labels judge`."""
    made = Parser(
        "labels judge", "Judge the notes of a pool, one after the other. Stop when you like; it goes on where you stopped."
    )
    add = made.add_argument
    add("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    add("pool", metavar="POOL", help="the file that `labels pool` wrote")
    add("--judge", metavar="NAME", default="me", help="who judges; each has judgements of his own (default: me)")
    how = made.add_mutually_exclusive_group()
    how.add_argument("--prompts", action="store_true", help="print what an agent is to be asked, as JSON")
    how.add_argument("--answers", metavar="FILE", help="take an agent's answers; each quote is looked up in its note")
    how.add_argument("--labels", action="store_true", help="print the labels that the judgements make")
    how.add_argument("--progress", action="store_true", help="only say how far it is, and how far the judge agrees with himself")
    return made


def _act(options: argparse.Namespace, pool: Pool, vault: VaultSnapshot, kept: str) -> int:
    if options.prompts:
        print_json({"prompts": [prompt.as_json() for prompt in prompts(pool)]}, spread=_SPREAD)
    elif options.labels:
        print_labels(judged_labels(pool, read_judgements(kept), os.path.basename(options.pool)))
    elif options.answers is not None:
        _take(options.answers, pool, vault, kept)
    elif not options.progress:
        if not sys.stdin.isatty():
            raise UsageError("labels judge asks in a terminal; an agent uses --prompts and --answers")
        JudgingScreen(pool, kept, lambda page: read_judged_page(vault, page)).ask_all()
    if not (options.prompts or options.labels):
        print(_progress(pool, kept, options))
    return 0


def _take(path: str, pool: Pool, vault: VaultSnapshot, kept: str) -> None:
    taken, refused = read_answers(read_text(path), path, pool, lambda page: read_judged_page(vault, page))
    for judgement in taken:
        append_judgement(kept, judgement)
    print(f"{len(taken):,} judgements taken, {len(refused):,} refused")
    for one in refused:
        print(f"  {for_terminal(one.prompt)}, {for_terminal(one.note)}: {for_terminal(one.reason)}")


def _progress(pool: Pool, kept: str, options: argparse.Namespace) -> str:
    found = progress(pool, read_judgements(kept))
    said = [
        f"kept in {kept}",
        f"{found.judged:,} of {found.all:,} judged, {found.put_off:,} put off, {found.undecided:,} cannot be told",
    ]
    own = found.own
    if own.n:
        kappa = "undefined, all verdicts are the same" if own.kappa is None else f"{own.kappa:.2f}"
        noisy = "; below 0.6 labels are noisy: agree on what `partly` means and judge again" if own.is_noisy else ""
        said.append(f"agreement with yourself: kappa {kappa}, {own.observed:.0%} alike, n = {own.n}{noisy}")
    if found.judged == found.all:
        words = ("labels", "judge", "--vault", options.vault, options.pool, "--judge", options.judge, "--labels")
        said.append(f"Next: {command_line(*words, data=options.data)} > labels.json")
    return "\n".join(said)
