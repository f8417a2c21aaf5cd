"""`labels judge`: the items of a pool, judged in the terminal or by an agent; every verdict is kept at once."""

from __future__ import annotations

import argparse
import os
import re
import sys

from vault_eval import launcher
from vault_eval.authoring.judge_answers import page_of_prompts, prompts, read_answers
from vault_eval.authoring.judged_labels import judged_labels, progress
from vault_eval.authoring.judged_page import read_judged_page
from vault_eval.authoring.judgements import MEANING, append_judgement, read_judgements
from vault_eval.authoring.pool import Pool
from vault_eval.authoring.pool_sheet import read_sheet
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import add_write, print_labels, read_text
from vault_eval.cli.labels.judged_into import add_judged
from vault_eval.cli.labels.judging_screen import JudgingScreen
from vault_eval.cli.printing import print_json
from vault_eval.command_lines import command_line
from vault_eval.data_folder import DataFolder
from vault_eval.digests import sha256_hex
from vault_eval.errors import UsageError
from vault_eval.labels.sources import beside
from vault_eval.reports.escaping import for_terminal
from vault_eval.vault.location import refuse_inside_vault, vault_root
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot

_JUDGE = re.compile(r"[A-Za-z0-9._-]{1,40}")
_KEPT = ".jsonl"
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
        kept = os.path.join(folder, f"{sha256_hex(text.encode('utf-8', 'backslashreplace'))[:16]}.{options.judge}{_KEPT}")
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
    how.add_argument("--labels", action="store_true", help="print the labels that the judgements make, or add them with --into")
    how.add_argument("--progress", action="store_true", help="only say how far it is, and how far the judge agrees with himself")
    add("--from", metavar="ID", dest="start", help="with --prompts: go on with this one, which the page before named as next")
    add("--into", metavar="FILE", help="with --labels: the label file they are added to, made where it is not there")
    add_write(made)
    return made


def _act(options: argparse.Namespace, pool: Pool, vault: VaultSnapshot, kept: str) -> int:
    _refuse_lone_options(options)
    if options.prompts:
        shown, left = page_of_prompts(prompts(pool), options.start)
        print_json({"prompts": [prompt.as_json() for prompt in shown], "next": left}, spread=_SPREAD)
    elif options.labels:
        _labels(options, pool, vault, kept)
    elif options.answers is not None:
        _take(options.answers, pool, vault, kept)
    elif not options.progress:
        if not sys.stdin.isatty():
            raise UsageError("labels judge asks in a terminal; an agent uses --prompts and --answers")
        JudgingScreen(pool, kept, lambda page: read_judged_page(vault, page)).ask_all()
    if not (options.prompts or options.labels):
        print(_progress(pool, vault, kept, options))
    return 0


def _refuse_lone_options(options: argparse.Namespace) -> None:
    if options.start is not None and not options.prompts:
        raise UsageError("--from is for --prompts")
    if options.into is not None and not options.labels:
        raise UsageError("--into is for --labels")
    if options.write and options.into is None:
        raise UsageError("--write needs a label file: name it with --into")


def _take(path: str, pool: Pool, vault: VaultSnapshot, kept: str) -> None:
    taken, refused = read_answers(read_text(path), path, pool, lambda page: read_judged_page(vault, page))
    for judgement in taken:
        append_judgement(kept, judgement)
    print(f"{len(taken):,} judgements taken, {len(refused):,} refused")
    for one in refused:
        print(for_terminal(f"  {', '.join(filter(None, (one.prompt, one.note)))}: {one.reason}"))


def _labels(options: argparse.Namespace, pool: Pool, vault: VaultSnapshot, kept: str) -> None:
    if pool.items and not os.path.isfile(kept):
        raise UsageError(f"--judge {options.judge!r} has judged nothing of this pool; {_others(kept) or 'nobody has'}")
    labels = judged_labels(pool, read_judgements(kept), os.path.basename(options.pool))
    if options.into is None:
        print_labels(labels)
    else:
        add_judged(labels, options.into, vault, write=options.write, data=options.data)


def _others(kept: str) -> str:
    """Who judged the same pool, as a sentence; empty for nobody."""
    folder, name = os.path.split(kept)
    pool = name.partition(".")[0]
    files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    names = [file[len(pool) + 1 : -len(_KEPT)] for file in files if file.startswith(f"{pool}.") and file.endswith(_KEPT)]
    return f"it was judged by {', '.join(names)}" if names else ""


def _progress(pool: Pool, vault: VaultSnapshot, kept: str, options: argparse.Namespace) -> str:
    found = progress(pool, read_judgements(kept))
    said = [
        f"kept in {kept}",
        f"{found.judged:,} of {found.all:,} judged, {found.put_off:,} put off, {found.undecided:,} cannot be told",
    ]
    if not found.judged and _others(kept):
        said.append(_others(kept))
    own = found.own
    if own.n:
        kappa = "undefined, all verdicts are the same" if own.kappa is None else f"{own.kappa:.2f}"
        said.append(f"agreement with yourself: kappa {kappa}, {own.observed:.0%} alike, n = {own.n}")
        if own.is_noisy:
            said.append(f"Below 0.6 labels are noisy: agree on what `partly` means ({MEANING['partly']}) and judge again.")
    words = ("labels", "judge", "--vault", options.vault, options.pool, "--judge", options.judge)
    is_done = found.judged == found.all
    line = command_line(*words, *(("--labels", "--into", beside(vault.root)) if is_done else ()), data=options.data)
    said.append(f"Next: {line}" if is_done else f"Next, to go on: {line}")
    return "\n".join(said)
