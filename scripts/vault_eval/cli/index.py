"""`index`: build or refresh the index of a vault, outside it; or only say whether it is fresh."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from vault_eval import launcher
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.index_options import built_otherwise, chosen_options, not_given, remembering, with_remembered
from vault_eval.cli.printing import print_json, print_list, say
from vault_eval.command_lines import advice_to_build, build_command, command_line
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.build import BuildResult, Progress, build_index, no_progress
from vault_eval.index.freshness import compare_with_vault
from vault_eval.index.options import IndexOptions
from vault_eval.index.seal import open_index
from vault_eval.index.states import read_states
from vault_eval.index.store import LABEL_NOTE, IndexFile
from vault_eval.index.vectors.build import VectorsResult, build_vectors
from vault_eval.index.vectors.embedder import Embedder
from vault_eval.index.vectors.vector_file import models_left_behind
from vault_eval.inputs import index_options
from vault_eval.labels.sources import NOTE_PREFIX, beside
from vault_eval.reports.escaping import for_terminal
from vault_eval.retrievers.embeddings import open_embedder, parse_embedder
from vault_eval.searchers import searched_instead
from vault_eval.vault.location import refuse_inside_vault, vault_id, vault_root
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot
from vault_eval.vault.walk import Skipped

_FRESH, _STALE = 0, 1
_ODD_SAID_MAX = 20  # beside the JSON, which lists all
_ALL = "--format json lists all"
_FIRST_LABEL = ("--query", "WHAT YOU LOOKED FOR", "--page", "THE NOTE THAT ANSWERS", "--write")


def run(argv: list[str]) -> int:
    """The exit code of `index` with these arguments."""
    options = parser().parse_args(argv)
    root = vault_root(options.vault)
    data = launcher.data_folder(options.data)
    for path, option in ((data, "--data"), (options.index, "--index")):
        if path is not None:
            refuse_inside_vault(path, root, option)
    vault = vault_id(root)
    folder = os.path.abspath(options.index) if options.index else DataFolder(data).index_folder(vault)
    if options.check and options.vectors is not None:
        raise UsageError("--check only looks, --vectors makes something: leave out one of them")
    if options.check:
        return _check(options, folder, DataFolder(data), root)
    model = parse_embedder(options.vectors) if options.vectors is not None else None
    launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=True, data=data, command="index")
    embedder = open_embedder(model) if model is not None else None
    before = index_options(DataFolder(data), root)
    chosen = chosen_options(options, before)
    if chosen.pdf:
        launcher.refuse_without(["pypdf"], command="index --pdf")
    started = time.time_ns()
    with open_snapshot(root, chosen.exclude, with_pdfs=chosen.pdf) as snapshot, _progress(options.format) as progress:
        result = build_index(snapshot.reader, snapshot.listing, chosen, folder, vault, started, progress)
        if chosen != before:
            DataFolder(data).remember(vault, index_options=chosen.as_json())
            say(f"vault-eval: {for_terminal(remembering(chosen))}")
        vectors = _vectors(result, folder, snapshot, embedder, progress) if embedder is not None else None
    launcher.precompile(data)
    _print(options, result, vectors, snapshot, folder, not_given(options, before))
    if result.pages and not result.unchanged and options.format == "text":
        print("Next: " + _next_step(options, result, root, DataFolder(data).settings(vault).labels))
    return 0


def _vectors(result: BuildResult, folder: str, snapshot: VaultSnapshot, embedder: Embedder, progress: Progress) -> VectorsResult:
    with IndexFile(result.path) as index:
        return build_vectors(index, result.sha256, folder, snapshot.read, embedder, progress)


def parser() -> Parser:
    """The options of `index`."""
    default = IndexOptions()
    made = Parser(
        "index",
        "Build or refresh the index of a vault. The vault is only read; the index is kept in the data folder. The options that"
        " make an index what it is (chunk sizes, --prefix, --stem, --pdf, --exclude) are remembered for the vault, and used when"
        " they are not given; to forget one, give its default, --no-pdf, or --exclude ''.",
    )
    add_vault(made)
    add = made.add_argument
    add("--check", action="store_true", help="only say what is stale: exit 0 fresh, 1 stale, 10 none")
    add("--format", choices=["text", "json"], default="text", help="what is printed")
    add("--chunk-chars", metavar="N", type=whole_number, help=f"characters a chunk aims at (default {default.sizes.target:,})")
    add("--chunk-max", metavar="N", type=whole_number, help=f"characters a chunk has at most (default {default.sizes.maximum:,})")
    add(
        "--overlap",
        metavar="N",
        type=whole_number,
        help=f"characters repeated inside a section (default {default.sizes.overlap})",
    )
    add("--prefix", choices=["synthetic", "none"], help="index title, aliases, tags and headings with each chunk, or not")
    add("--no-llm", dest="prefix", action="store_const", const="synthetic", help="the same as --prefix synthetic")
    add("--stem", metavar="LANG", help="Snowball stemming for one language, or none (default)")
    add("--vectors", metavar="MODEL", help="make vectors too: wordllama, model2vec=FOLDER or ollama=NAME[@PORT]")
    add("--pdf", action=argparse.BooleanOptionalAction, help="index PDFs too, page by page; needs the extra pdf")
    excluded = "leave out pages beside Obsidian's excluded files; may be repeated; replaces the remembered ones"
    add("--exclude", metavar="GLOB", action="append", help=excluded)
    return made


def _check(options: argparse.Namespace, folder: str, data: DataFolder, root: str) -> int:
    """Say whether the index is that of the notes as they are and of the options chosen, of which nothing is remembered."""
    chosen = chosen_options(options, index_options(data, root))
    try:
        index, sha256 = open_index(folder, vault_id(root), verify=True)
    except IndexUnusableError as error:
        instead = searched_instead(data, root, options.index)
        line = build_command(root, chosen, index=None if instead else options.index, data=options.data)
        raise IndexUnusableError(advice_to_build(f"{error}{instead}", line)) from None
    with index, open_snapshot(root, chosen.exclude, with_pdfs=chosen.pdf) as snapshot:
        found = compare_with_vault(snapshot.listing, index, read_states(folder, sha256), snapshot.pages)
        others = chosen.unlike(index.options)
    kinds = (("added", found.added), ("changed", found.changed), ("removed", found.removed))
    is_fresh = found.is_fresh and not others
    if options.format == "json":
        told = [{"option": name, "index": then, "now": now} for name, (then, now) in others.items()]
        print_json({"fresh": is_fresh, "options": told, **{kind: list(pages) for kind, pages in kinds}}, spread=2)
    else:
        print("The index is fresh." if is_fresh else "The index is stale; run index again.")
        lines = [f"  other option: {for_terminal(built_otherwise(name, then, now))}" for name, (then, now) in others.items()]
        print_list([*lines, *(f"  {kind}: {for_terminal(page)}" for kind, pages in kinds for page in pages)], _ALL)
    return _FRESH if is_fresh else _STALE


def _progress(form: str) -> AbstractContextManager[Progress]:
    """A bar on a terminal; elsewhere, and with JSON, nothing."""
    if form == "json" or not sys.stderr.isatty():
        return nullcontext(no_progress)
    from vault_eval.cli.progress import notes_bar

    return notes_bar()


def _print(
    options: argparse.Namespace,
    result: BuildResult,
    vectors: VectorsResult | None,
    snapshot: VaultSnapshot,
    folder: str,
    remembered: IndexOptions,
) -> None:
    if options.format == "json":
        with IndexFile(result.path) as index:
            print_json(_content(index, result, snapshot.listing.excluded), spread=2)
        _say_odd(result.warnings, snapshot.listing.warnings)
        return
    noun = "notes and PDFs" if snapshot.listing.pdfs else "notes"
    done = "Nothing changed" if result.unchanged else f"Indexed ({result.reused:,} {noun} reused)" if result.reused else "Indexed"
    kept = for_terminal(with_remembered(remembered))
    print(f"{done}: {result.pages:,} {noun}, {result.chunks:,} chunks{kept}. The index is in {folder}")
    if vectors is not None:
        print(f"Vectors: {vectors.chunks:,} of {vectors.dims:,} dimensions ({vectors.reused:,} reused), in {vectors.path}")
    for name in models_left_behind(folder, result.sha256):
        print(f"The vectors of {for_terminal(name)} belong to the index as it was before: make them anew with --vectors")
    kinds = (
        ("skipped", [(one.path, one.reason) for one in result.skipped]),
        ("excluded", [(one.path, one.reason) for one in snapshot.listing.excluded]),
        ("odd, but indexed", list(result.warnings)),
    )
    found = [f"{len(rows):,} {what}" for what, rows in kinds if rows]
    if found:
        print(", ".join(found) + ":")
    lines = (f"  {what}: {for_terminal(path)}: {for_terminal(reason)}" for what, rows in kinds for path, reason in rows)
    print_list(lines, _ALL)
    _say_odd((), snapshot.listing.warnings)
    if not result.pages:
        say("No notes are in it: is this the folder that holds them?")


def _next_step(options: argparse.Namespace, result: BuildResult, root: str, remembered: Sequence[str]) -> str:
    """The line that measures, where labels are known without a look at every note; else the one that writes the first."""
    notes = [one.path for one in result.skipped if one.reason == LABEL_NOTE]
    if remembered or len(notes) == 1 or os.path.isfile(beside(root)):
        return command_line("bench", "--vault", root, index=options.index, data=options.data)
    if notes:
        return command_line("bench", "--vault", root, "--queries", NOTE_PREFIX + notes[0], index=options.index, data=options.data)
    line = command_line("labels", "add", "--vault", root, *_FIRST_LABEL, data=options.data)
    return f"write labels (labels init makes a file of examples), one for each thing you looked for:\n  {line}"


def _say_odd(notes: Sequence[tuple[str, str]], warnings: Sequence[str]) -> None:
    """What is odd of notes that are indexed, the first of them, and of the vault."""
    for page, warning in notes[:_ODD_SAID_MAX]:
        say(f"vault-eval: {page}: indexed, but: {warning}")
    if len(notes) > _ODD_SAID_MAX:
        say(f"vault-eval: {len(notes) - _ODD_SAID_MAX:,} more are odd; see warnings")
    for warning in warnings:
        say(f"vault-eval: {warning}")


def _content(index: IndexFile, result: BuildResult, excluded: Sequence[Skipped]) -> dict[str, object]:
    """Pages with the heading path and source lines of their chunks; what is not in the index, and what is odd in it."""
    starts = index["page_chunks"]
    left_out = sorted((one.path, one.reason) for one in (*result.skipped, *excluded))
    return {
        "pages": [
            {
                "path": index.page(page),
                "chunks": [
                    {"heading": list(index.heading(chunk)), "lines": list(index.lines(chunk))}
                    for chunk in range(starts[page], starts[page + 1])
                ],
            }
            for page in range(index.page_count)
        ],
        "skipped": [{"path": path, "reason": reason} for path, reason in left_out],
        "warnings": [{"path": page, "reason": warning} for page, warning in result.warnings],
    }
