"""`index`: build or refresh the index of a vault, outside it; or only say whether it is fresh."""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import AbstractContextManager, nullcontext

from vault_eval import launcher
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.printing import print_json, print_list, say
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.build import BuildResult, Progress, build_index, no_progress
from vault_eval.index.commands import advice_to_build, build_command, command_line
from vault_eval.index.freshness import compare_with_vault
from vault_eval.index.options import IndexOptions, checked_options
from vault_eval.index.seal import open_index
from vault_eval.index.states import read_states
from vault_eval.index.store import IndexFile
from vault_eval.index.vectors.build import VectorsResult, build_vectors
from vault_eval.index.vectors.embedder import Embedder
from vault_eval.index.vectors.vector_file import models_left_behind
from vault_eval.inputs import index_options
from vault_eval.reports.escaping import for_terminal
from vault_eval.retrievers.embeddings import open_embedder, parse_embedder
from vault_eval.vault.location import refuse_inside_vault, vault_id, vault_root
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot

_FRESH, _STALE = 0, 1
_ALL = "--format json lists all"


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
        return _check(options, folder, vault, index_options(DataFolder(data), root))
    model = parse_embedder(options.vectors) if options.vectors is not None else None
    launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=True, data=data, command="index")
    embedder = open_embedder(model) if model is not None else None
    before = index_options(DataFolder(data), root)
    chosen = _chosen(options, before)
    if chosen.pdf:
        launcher.ensure(["pypdf"], may_install=False, data=data, command="index --pdf")
    started = time.time_ns()
    with open_snapshot(root, chosen.exclude, with_pdfs=chosen.pdf) as snapshot, _progress(options.format) as progress:
        result = build_index(snapshot.reader, snapshot.listing, chosen, folder, vault, started, progress)
        if chosen != before:
            DataFolder(data).remember(vault, index_options=chosen.as_json())
            kept = " ".join(chosen.as_arguments()) or "the defaults"
            say(f"vault-eval: remembered for this vault, wherever its index lies: {for_terminal(kept)}")
        vectors = _vectors(result, folder, snapshot, embedder, progress) if embedder is not None else None
    launcher.precompile(data)
    _print(options, result, vectors, snapshot, folder)
    return 0


def _vectors(result: BuildResult, folder: str, snapshot: VaultSnapshot, embedder: Embedder, progress: Progress) -> VectorsResult:
    with IndexFile(result.path) as index:
        return build_vectors(index, result.sha256, folder, snapshot.read, embedder, progress)


def parser() -> Parser:
    """The options of `index`."""
    default = IndexOptions()
    made = Parser("index", "Build or refresh the index of a vault. The vault is only read; the index is kept in the data folder.")
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
    add("--exclude", metavar="GLOB", action="append", help="leave out pages beside Obsidian's excluded files; may be repeated")
    return made


def _chosen(options: argparse.Namespace, before: IndexOptions) -> IndexOptions:
    """The options given now, the others as they were last time for this vault."""

    def pick(given: object, remembered: object) -> object:
        return remembered if given is None else given

    return checked_options(
        pick(options.chunk_chars, before.sizes.target),
        pick(options.chunk_max, before.sizes.maximum),
        pick(options.overlap, before.sizes.overlap),
        pick(options.prefix, before.prefix),
        pick(options.stem, before.stem),
        tuple(options.exclude) if options.exclude is not None else before.exclude,
        pdf=before.pdf if options.pdf is None else options.pdf,
    )


def _check(options: argparse.Namespace, folder: str, vault: str, remembered: IndexOptions) -> int:
    try:
        index, sha256 = open_index(folder, vault, verify=True)
    except IndexUnusableError as error:
        line = build_command(vault_root(options.vault), remembered, index=options.index, data=options.data)
        raise IndexUnusableError(advice_to_build(str(error), line)) from None
    with index, open_snapshot(options.vault, remembered.exclude, with_pdfs=remembered.pdf) as snapshot:
        found = compare_with_vault(snapshot.listing, index, read_states(folder, sha256), snapshot.pages)
    kinds = (("added", found.added), ("changed", found.changed), ("removed", found.removed))
    if options.format == "json":
        print_json({"fresh": found.is_fresh, **{kind: list(pages) for kind, pages in kinds}}, spread=2)
    else:
        print("The index is fresh." if found.is_fresh else "The index is stale; run index again.")
        print_list((f"  {kind}: {for_terminal(page)}" for kind, pages in kinds for page in pages), _ALL)
    return _FRESH if found.is_fresh else _STALE


def _progress(form: str) -> AbstractContextManager[Progress]:
    """A bar on a terminal; elsewhere, and with JSON, nothing."""
    if form == "json" or not sys.stderr.isatty():
        return nullcontext(no_progress)
    from vault_eval.cli.progress import notes_bar

    return notes_bar()


def _print(
    options: argparse.Namespace, result: BuildResult, vectors: VectorsResult | None, snapshot: VaultSnapshot, folder: str
) -> None:
    if options.format == "json":
        with IndexFile(result.path) as index:
            print_json(_content(index, result), spread=2)
        return
    noun = "notes and PDFs" if snapshot.listing.pdfs else "notes"
    done = "Nothing changed" if result.unchanged else f"Indexed ({result.reused:,} {noun} reused)" if result.reused else "Indexed"
    print(f"{done}: {result.pages:,} {noun}, {result.chunks:,} chunks. The index is in {folder}")
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
    for warning in snapshot.listing.warnings:
        say(f"vault-eval: {for_terminal(warning)}")
    if not result.pages:
        say("No notes are in it: is this the folder that holds them?")
    elif not result.unchanged:
        words = ("bench", "--vault", snapshot.root, "--queries", "YOUR-LABELS.json")
        print("Next: " + command_line(*words, index=options.index, data=options.data))


def _content(index: IndexFile, result: BuildResult) -> dict[str, object]:
    """Pages with the heading path and source lines of their chunks, and what was skipped or is odd."""
    starts = index["page_chunks"]
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
        "skipped": [{"path": one.path, "reason": one.reason} for one in result.skipped]
        + [{"path": page, "reason": f"indexed, but: {warning}"} for page, warning in result.warnings],
    }
