"""What `bench` and `compare --vault` share: the options that say what is measured, and the measuring."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_eval import launcher
from vault_eval.cli.arguments import Once, Parser, add_vault, whole_number
from vault_eval.command_lines import advice_to_build, build_command
from vault_eval.data_folder import DataFolder
from vault_eval.errors import MissingPackageError
from vault_eval.evaluation import clock, evaluate, evaluate_with_snippets
from vault_eval.index.seal import SEAL_NAME
from vault_eval.index.vault_meta.places import vault_meta_folder
from vault_eval.inputs import index_options
from vault_eval.labels.sources import NoLabelsError
from vault_eval.limits import COLD_SAMPLES_DEFAULT_QUERIES, DEPTH_DEFAULT_PAGES
from vault_eval.rankings.cold import EVERY_LABEL
from vault_eval.reports.document import Report
from vault_eval.request import Request
from vault_eval.retrievers.select import needs_index
from vault_eval.retrievers.spec import parse_specs
from vault_eval.searchers import standing_index
from vault_eval.vault.location import refuse_inside_vault, vault_root

if TYPE_CHECKING:
    from vault_eval.reports.snippets import Snippets


def add_measuring(parser: Parser) -> None:
    """The vault, the labels, the searchers, and how they are asked."""
    add_vault(parser, required=False)
    add = parser.add_argument
    add("--queries", metavar="SOURCE", action="append", default=[], help="a label file, note:FOLDER/NOTE.md; may be repeated")
    add("--retriever", "-r", metavar="SPEC", action="append", default=[], help="what to measure, such as keyword:k1=1.2,b=0.5")
    add("--vary", "--strategy", metavar="KEY=V,V", action="append", default=[], help="the first one with one setting changed")
    add("--product-root", metavar="DIR", help="a checkout of claude-obsidian; alone it means --retriever claude-obsidian")
    add("--no-rerank", action="store_true", help="hybrid+rerank answers as hybrid does")
    add("--allow-remote", action="store_true", help="let a searcher that is named ask other machines than this one")
    add("--top", "-k", metavar="N", type=whole_number, default=DEPTH_DEFAULT_PAGES, help="pages asked for a query, 10 to 1,000")
    add("--why", metavar="TEXT", default="", help="why the holdout is looked at, for the ledger of such looks")
    add("--split", choices=["dev", "holdout", "all"], default="all", help="which labels")
    add(
        "--collection",
        metavar="NAME[=FOLDER]",
        action=Once,
        help="leave out labels of other collections; the paths of this one are below FOLDER",
    )
    add(
        "--cold-samples",
        metavar="N|all",
        type=_samples,
        default=COLD_SAMPLES_DEFAULT_QUERIES,
        help="queries timed in a process each",
    )


def request_of(options: argparse.Namespace) -> Request:
    """What the options ask for."""
    return Request(
        vault=options.vault,
        queries=tuple(options.queries),
        retrievers=tuple(options.retriever) or (("claude-obsidian",) if options.product_root else ("keyword",)),
        depth=options.top,
        data=options.data,
        index=options.index,
        collection=options.collection,
        split=None if options.split == "all" else options.split,
        cold_samples=options.cold_samples,
        product_root=options.product_root,
        allow_remote=options.allow_remote,
        no_rerank=options.no_rerank,
    )


def refuse_data_inside(root: str, data: str, index: str | None) -> None:
    """Raises UnsafePathError where our data or index would lie inside the vault `root`; another product's index may."""
    refuse_inside_vault(data, root, "--data")
    if index is not None and vault_meta_folder(index) is None:
        refuse_inside_vault(index, root, "--index")


def measured(
    options: argparse.Namespace, data: str, command: str, *, with_snippets: bool = False
) -> tuple[Report, Snippets | None]:
    """The report, and the snippets where they are wanted; the indexes that `--vary` asks for are built first.

    Where a note must be read and this interpreter lacks the packages, the private environment goes on.
    """
    request = request_of(options)
    try:
        if options.vary:
            request = _with_variants(request, options.vary)
        if with_snippets:
            return evaluate_with_snippets(request, clock())
        return evaluate(request, clock()), None
    except NoLabelsError as error:
        raise NoLabelsError(f"{error}{_no_index_either(request, DataFolder(data))}") from None
    except MissingPackageError:
        # It is never built here: ensure says how, starts anew in it, or returns where something else is missing.
        launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=False, data=data, command=command)
        raise


def _no_index_either(request: Request, data: DataFolder) -> str:
    """The line that builds the index, where one is searched and nothing lies in its place; else nothing."""
    root = vault_root(request.vault)
    folder = standing_index(data, root, request.index)
    is_there = os.path.lexists(os.path.join(folder, SEAL_NAME)) or vault_meta_folder(folder) is not None
    if is_there or not any(map(needs_index, parse_specs(request.retrievers))):
        return ""
    line = build_command(root, index_options(data, root), index=request.index, data=request.data)
    return f"\n{advice_to_build('There is no index of this vault either.', line)}"


def _with_variants(request: Request, changes: Sequence[str]) -> Request:
    from vault_eval.variants import build_variants, varied

    asked = varied(request, changes)
    build_variants(asked)
    return asked


def _samples(text: str) -> int:
    return EVERY_LABEL if text == "all" else whole_number(text)
