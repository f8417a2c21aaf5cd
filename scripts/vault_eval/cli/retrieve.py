"""`retrieve`: one query, answered as JSON; what a cold query costs is measured with this very command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from vault_eval import launcher
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.printing import print_json
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, MissingPackageError, UsageError, VaultEvalError
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

if TYPE_CHECKING:
    from vault_eval.index.term_evidence import TermEvidence
    from vault_eval.model import RankedPage
    from vault_eval.retrievers.protocol import Explains


def run(argv: list[str]) -> int:
    """The exit code of `retrieve` with these arguments."""
    options = _options(argv)
    if not 1 <= options.top <= DEPTH_MAX_PAGES:
        raise UsageError(f"--top {options.top}: allowed are 1 to {DEPTH_MAX_PAGES:,}")
    if not options.query.strip():
        raise UsageError("the query is empty: write what is looked for")
    if len(options.query) > LABEL_QUERY_MAX_CHARACTERS:
        raise UsageError(f"the query has {len(options.query):,} characters; allowed are {LABEL_QUERY_MAX_CHARACTERS:,}")
    specs = parse_specs([options.retriever])
    if len(specs) != 1:
        raise UsageError("retrieve takes one --retriever; bench compares several")
    print_json(_found(options, specs[0]), spread=2)
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


def _options(argv: list[str]) -> argparse.Namespace:
    """Raises UsageError for what is no option; words that follow the query were meant to be in it."""
    made = parser()
    options, left = made.parse_known_args(argv)
    if left and ("--" in argv or not left[0].startswith("-")):
        import shlex

        whole = shlex.quote(" ".join([options.query, *left]))
        options_first = "; options stand before the --" if "--" in argv else ""
        raise UsageError(f"the query is one argument, but {len(left) + 1} were given; put it in quotes: {whole}{options_first}")
    made.refuse_left(left)
    return options


def _found(options: argparse.Namespace, spec: Spec) -> dict[str, object]:
    """The answer; where a package is missing for it, such as that of stemming, the private environment goes on."""
    try:
        answer = _quickly(options, spec) if _is_plain(spec) else None
        return answer if answer is not None else _searched(options, spec)
    except MissingPackageError:
        data = launcher.data_folder(options.data)
        launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=False, data=data, command="retrieve")
        raise


def _is_plain(spec: Spec) -> bool:
    """Whether it is keyword search on the standing index: what an agent asks, over and over, in a process each."""
    return spec.kind == KEYWORD and not any(name in INDEX_SETTINGS for name in spec.settings)


def _quickly(options: argparse.Namespace, spec: Spec) -> dict[str, object] | None:
    """The answer from the native index, of which only the header is verified; None where there is none that can be used."""
    root = vault_root(options.vault)
    vault = vault_id(root)
    folder = options.index or DataFolder(launcher.data_folder(options.data)).index_folder(vault)
    parameters = bm25_parameters(spec)
    try:
        index, _ = open_index(os.path.abspath(folder), vault, verify=False)
        with index, FolderReader(root) as reader:
            return _answer(Searcher(index, *parameters), reader, options.query, options.top, explain=options.explain)
    except (IndexUnusableError, ArithmeticError, LookupError, ValueError):  # a part that is damaged is found where it is read
        return None


def _searched(options: argparse.Namespace, spec: Spec) -> dict[str, object]:
    """The answer of any searcher with an index. Raises IndexUnusableError with the line that builds what is missing."""
    from vault_eval.inputs import index_options
    from vault_eval.request import Request
    from vault_eval.retrievers.protocol import Explains
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
        told = searcher if isinstance(searcher, Explains) else None
        if options.explain and told is None:
            raise UsageError(f"--explain tells what each term adds to a score of keyword, not of {quoted(spec.text)}")
        ranking = searcher.search(options.query, options.top)
        if ranking.error is not None:
            raise VaultEvalError(f"{quoted(spec.text)} did not answer: {ranking.error}")
        rows = [_row(one, told if options.explain else None, options.query) for one in ranking.pages]
    stale = list(ranking.candidates.stale_pages) if ranking.candidates is not None else []
    return {"query": options.query, "ranking": rows, "stale_pages": stale}


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
        rows.append(row | {"terms": _contributions(searcher.term_scores(terms, chunk))} if explain else row)
    stale = [index.page(page) for page in pool.first if pool.freshness[page] == STALE]
    return {"query": query, "ranking": rows, "stale_pages": stale}


def _row(one: RankedPage, told: Explains | None, query: str) -> dict[str, object]:
    """One page of an answer, with what each term adds where a searcher tells it."""
    row = {"rank": one.rank, "page": one.page, "score": one.score, "heading": list(one.heading), "lines": one.lines}
    evidence = told.evidence(query, one.page, exact_rank=False) if told is not None else None
    return row | {"terms": _contributions(evidence.terms)} if evidence is not None else row


def _contributions(scores: Sequence[TermEvidence]) -> list[dict[str, object]]:
    """What each query term adds to the score, in query order: they sum to it."""
    return [{"term": one.term, "tf": one.tf, "contribution": one.contribution} for one in scores]
