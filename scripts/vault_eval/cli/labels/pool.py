"""`labels pool`: what several searchers find for each query, to be judged without knowing which of them found it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from vault_eval import launcher, strict_json
from vault_eval.atomic_file import write_atomically
from vault_eval.authoring.needs import read_needs
from vault_eval.authoring.pool import Pool, Section, pooled
from vault_eval.authoring.pool_sheet import sheet_text
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.labels.changing import refuse_out_in_a_vault, write_new
from vault_eval.cli.printing import say
from vault_eval.command_lines import command_line
from vault_eval.data_folder import DataFolder
from vault_eval.digests import sha256_hex
from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.evaluation import clock
from vault_eval.inputs import Inputs, open_inputs
from vault_eval.labels.write import native_json
from vault_eval.limits import DEPTH_DEFAULT_PAGES, DEPTH_MAX_PAGES, LABEL_FILE_MAX_BYTES, NEEDS_DEPTH_DEFAULT_PAGES
from vault_eval.model import Label, LabelSet, Run
from vault_eval.rankings.runner import run_queries
from vault_eval.reports.escaping import for_terminal
from vault_eval.request import Request
from vault_eval.vault.location import refuse_inside_vault, vault_root

_SEARCHERS = ("keyword", "title", "grep")
_POOLED_STATUSES = ("scored", "negative", "missing-gold")


def run(argv: list[str]) -> int:
    """The exit code of `labels pool` with these arguments."""
    options = parser().parse_args(argv)
    if options.depth is None:
        options.depth = DEPTH_DEFAULT_PAGES if options.needs is None else NEEDS_DEPTH_DEFAULT_PAGES
    if not 1 <= options.depth <= DEPTH_MAX_PAGES:
        raise UsageError(f"--depth {options.depth}: allowed are 1 to {DEPTH_MAX_PAGES:,}")
    root = vault_root(options.vault)
    data = launcher.data_folder(options.data)
    refuse_inside_vault(data, root, "--data")
    refuse_out_in_a_vault(options.out, root)
    with _sources(options) as sources, open_inputs(_request(options, sources)) as inputs:
        pool = _pool(inputs, options)
        inputs.refuse_changes()
        text = sheet_text(pool)
        place = options.out or os.path.join(DataFolder(data).judgements_folder(inputs.vault.id), _file_name(text))
    write_new(place, text)
    notes = len({item.page for _, item in pool.items.values()})
    pairs = f"{len(pool.items):,} pairs of a query and a note to judge, {len(pool.again):,} of them twice"
    print(f"{len(pool.queries):,} queries, {notes:,} different notes, {pairs}: {for_terminal(place)}")
    print("Next: " + command_line("labels", "judge", "--vault", options.vault, place, data=options.data))
    return 0


def parser() -> Parser:
    """The options of `labels pool`."""
    made = Parser("labels pool", "Gather what several searchers find for each query, order, searcher and expected pages hidden.")
    add_vault(made)
    add = made.add_argument
    add("--queries", metavar="SOURCE", action="append", default=[], help="labels whose queries are pooled; may be repeated")
    add("--needs", metavar="FILE", help="queries without labels yet: a text file, or - for stdin, one a line: query [TAB need]")
    add("--retriever", "-r", metavar="SPEC", action="append", default=[], help=f"who is asked (default: {', '.join(_SEARCHERS)})")
    depths = f"{NEEDS_DEPTH_DEFAULT_PAGES} with --needs, else {DEPTH_DEFAULT_PAGES}"
    add("--depth", metavar="N", type=whole_number, help=f"pages taken from each (default: {depths})")
    add("--seed", metavar="N", type=whole_number, default=0, help="decides the order (default 0)")
    add("--out", metavar="FILE", help="where the pool is written (default: in the data folder)")
    return made


def _request(options: argparse.Namespace, sources: Sequence[str]) -> Request:
    return Request(
        vault=options.vault,
        queries=tuple(sources),
        retrievers=tuple(options.retriever) or _SEARCHERS,
        depth=max(options.depth, DEPTH_DEFAULT_PAGES),
        data=options.data,
        index=options.index,
    )


def _pool(inputs: Inputs, options: argparse.Namespace) -> Pool:
    labels = [one.label for one in inputs.settled if one.status in _POOLED_STATUSES]
    depth = max(options.depth, DEPTH_DEFAULT_PAGES)
    runs = [run_queries(searcher, labels, depth, clock().now_ns, inputs.label_notes) for searcher in inputs.searchers]
    _tell_failures(runs)

    def section(query: str, page: str) -> Section:
        told = inputs.explains.evidence(query, page, exact_rank=False) if inputs.explains is not None else None
        return (told.heading, told.lines) if told is not None else ((), None)

    def pages(label: Label) -> set[str]:
        found = (ranked.page for run in runs for ranked in run.rankings[label.id].pages[: options.depth])
        return {*found, *(page for page in label.pages if page in inputs.in_scope)}

    vault = (inputs.vault.id, os.path.basename(inputs.vault.root))
    return pooled(labels, {label.id: pages(label) for label in labels}, section, options.seed, vault)


def _tell_failures(runs: Sequence[Run]) -> None:
    """Say which searchers failed on which share of the queries.

    Raises VaultEvalError where one failed on all of them: the pool would be that of the others, and nobody would see it.
    """
    failed = [(run, {name: one.error for name, one in run.rankings.items() if one.error is not None}) for run in runs]
    useless = [_failure(run, errors) for run, errors in failed if errors and len(errors) == len(run.rankings)]
    if useless:
        raise VaultEvalError("\n".join([*useless, "mend it, or name the others with --retriever; no pool was written"]))
    for run, errors in failed:
        if errors:
            say(f"vault-eval: {for_terminal(_failure(run, errors))}; the pool lacks what it would have found")


def _failure(run: Run, errors: Mapping[str, str]) -> str:
    name, error = next(iter(errors.items()))
    count = f"{len(errors):,} of {len(run.rankings):,} queries"
    return f"the searcher {run.retriever.name!r} failed on {count}, first on {name!r}: {error}"


@contextmanager
def _sources(options: argparse.Namespace) -> Iterator[Sequence[str]]:
    """The label sources; needs become labels that expect nothing yet, in a file that is gone afterwards."""
    if options.needs is None:
        yield options.queries
        return
    if options.queries:
        raise UsageError("name --queries or --needs: labels whose queries are pooled, or queries that have no labels yet")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "needs.json")
        write_atomically(path, [_as_labels(options.needs)])
        yield [os.path.realpath(path)]


def _as_labels(path: str) -> bytes:
    """The needs as a label file. Raises UsageError, LabelError."""
    text = _needs_text(path)
    if not text.strip():
        raise UsageError(f"--needs {path!r} holds no query; write one a line, in the words you had in mind")
    labels = read_needs(text, "standard input" if path == "-" else path)
    data = strict_json.encode(native_json(LabelSet(labels, ())))
    if len(data) > LABEL_FILE_MAX_BYTES:
        size = f"{len(data):,} bytes as labels; at most {LABEL_FILE_MAX_BYTES:,} are read"
        raise UsageError(f"--needs {path!r} has {size}: name several files one by one")
    return data


def _needs_text(path: str) -> str:
    try:
        # Needs may come through a pipe, which the reader of label files refuses.
        with open(sys.stdin.fileno() if path == "-" else path, encoding="utf-8-sig", closefd=path != "-") as file:
            text = file.read(LABEL_FILE_MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--needs {path!r} cannot be read: {error}; name a text file with one query a line") from None
    if len(text) > LABEL_FILE_MAX_BYTES:
        raise UsageError(f"--needs {path!r} holds more than {LABEL_FILE_MAX_BYTES:,} characters; name several files one by one")
    return text


def _file_name(text: str) -> str:
    return f"pool-{sha256_hex(strict_json.encode(text))[:16]}.json"
