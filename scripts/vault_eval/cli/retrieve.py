"""`retrieve`: one query, answered as JSON; what a cold query costs is measured with this very command."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack, closing

from vault_eval import launcher
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.printing import print_json
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UsageError, VaultEvalError
from vault_eval.index.pool import STALE, PageFreshness, gather_pool
from vault_eval.index.seal import open_index
from vault_eval.index.search import Searcher
from vault_eval.index.terms import Analyzer
from vault_eval.limits import DEPTH_DEFAULT_PAGES, DEPTH_MAX_PAGES, LABEL_QUERY_MAX_CHARACTERS
from vault_eval.retrievers.spec import INDEX_SETTINGS, KEYWORD, ON_OUR_INDEX, Spec, bm25_parameters, parse_specs
from vault_eval.vault.location import vault_id, vault_root
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.paths import quoted
from vault_eval.vault.reader import FolderReader


def run(argv: list[str]) -> int:
    """The exit code of `retrieve` with these arguments."""
    options = parser().parse_args(argv)
    if not 1 <= options.top <= DEPTH_MAX_PAGES:
        raise UsageError(f"--top {options.top}: allowed are 1 to {DEPTH_MAX_PAGES:,}")
    if len(options.query) > LABEL_QUERY_MAX_CHARACTERS:
        raise UsageError(f"the query has {len(options.query):,} characters; allowed are {LABEL_QUERY_MAX_CHARACTERS:,}")
    specs = parse_specs([options.retriever])
    if len(specs) != 1:
        raise UsageError("retrieve takes one --retriever; bench compares several")
    answer = _quickly(options, specs[0]) if _is_plain(specs[0]) else None
    print_json(answer if answer is not None else _searched(options, specs[0]), spread=2)
    return 0


def parser() -> Parser:
    """The options of `retrieve`."""
    made = Parser("retrieve", "Answer one query from the index of a vault, as JSON.")
    add_vault(made)
    made.add_argument("query", metavar="QUERY", help="what is looked for; put -- before it where it starts with a dash")
    made.add_argument("--retriever", "-r", metavar="SPEC", default="keyword", help="such as keyword:k1=1.2,b=0.5")
    made.add_argument("--top", "-k", metavar="N", type=whole_number, default=DEPTH_DEFAULT_PAGES, help="pages, 1 to 1,000")
    made.add_argument("--no-rerank", action="store_true", help="have hybrid+rerank answer as hybrid")
    made.add_argument("--explain", action="store_true", help="what each query term adds to each page's score")
    return made


def _is_plain(spec: Spec) -> bool:
    """Whether it is keyword search on the standing index: what an agent asks, over and over, in a process each."""
    return spec.kind == KEYWORD and not any(name in INDEX_SETTINGS for name in spec.settings)


def _quickly(options: argparse.Namespace, spec: Spec) -> dict[str, object] | None:
    """The answer from the native index, of which only the header is verified; None where there is none to be used."""
    root = vault_root(options.vault)
    vault = vault_id(root)
    folder = options.index or DataFolder(launcher.data_folder(options.data)).index_folder(vault)
    parameters = bm25_parameters(spec)
    try:
        index, _ = open_index(os.path.abspath(folder), vault, verify=False)
    except IndexUnusableError:
        return None
    with index, FolderReader(root) as reader:
        searcher = Searcher(index, *parameters)
        return _found(searcher, reader, options.query, options.top, explain=options.explain)


def _searched(options: argparse.Namespace, spec: Spec) -> dict[str, object]:
    """The answer of any searcher with an index. Raises IndexUnusableError with the line that builds what is missing."""
    from vault_eval.inputs import index_options
    from vault_eval.request import Request
    from vault_eval.searchers import Places, open_searcher
    from vault_eval.vault.snapshot import open_snapshot

    if spec.kind not in ON_OUR_INDEX:
        raise UsageError(f"retrieve answers from an index; {spec.kind} is measured with bench --retriever {spec.kind}")
    data = DataFolder(launcher.data_folder(options.data))
    request = Request(options.vault, data=options.data, index=options.index, no_rerank=options.no_rerank)
    standing = index_options(data, options.vault)
    with ExitStack() as opened:
        vault = opened.enter_context(open_snapshot(options.vault, standing.exclude, with_pdfs=standing.pdf))
        searcher = opened.enter_context(closing(open_searcher(spec, Places(request, vault, data, standing))))
        if options.explain:
            raise UsageError(f"--explain tells the terms of keyword search on the standing index, not of {quoted(spec.text)}")
        ranking = searcher.search(options.query, options.top)
    if ranking.error is not None:
        raise VaultEvalError(f"{quoted(spec.text)} did not answer: {ranking.error}")
    rows = [
        {"rank": one.rank, "page": one.page, "score": one.score, "heading": list(one.heading), "lines": one.lines}
        for one in ranking.pages
    ]
    stale = list(ranking.candidates.stale_pages) if ranking.candidates is not None else []
    return {"query": options.query, "ranking": rows, "stale_pages": stale}


def _found(searcher: Searcher, reader: FolderReader, query: str, depth: int, *, explain: bool) -> dict[str, object]:
    """The answer; only the header of the index was verified, so a part of it that cannot be read is found here."""
    try:
        return _answer(searcher, reader, query, depth, explain=explain)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise IndexUnusableError(f"the index {searcher.index.path!r} is corrupt: {error}") from None


def _answer(searcher: Searcher, reader: FolderReader, query: str, depth: int, *, explain: bool) -> dict[str, object]:
    index = searcher.index
    stem = index.options.get("stem")
    terms = Analyzer(stem if isinstance(stem, str) else None).terms(query)
    pool = gather_pool(searcher, terms, depth, PageFreshness(index, PageDigests(reader)))
    rows: list[dict[str, object]] = []
    for rank, page in enumerate(pool.usable[:depth], 1):
        chunk, score = pool.first[page]
        row: dict[str, object] = {"rank": rank, "page": index.page(page), "score": score}
        row |= {"heading": list(index.heading(chunk)), "lines": index.lines(chunk)}
        rows.append(row | {"terms": _contributions(searcher, terms, chunk)} if explain else row)
    stale = [index.page(page) for page in pool.first if pool.freshness[page] == STALE]
    return {"query": query, "ranking": rows, "stale_pages": stale}


def _contributions(searcher: Searcher, terms: list[str], chunk: int) -> list[dict[str, object]]:
    """What each query term adds to the score, in query order: they sum to it."""
    scores = searcher.term_scores(terms, chunk)
    return [{"term": one.term, "tf": one.tf, "contribution": one.contribution} for one in scores]
