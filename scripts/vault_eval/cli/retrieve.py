"""`retrieve`: one query, answered as JSON; what a cold query costs is measured with this very command."""

from __future__ import annotations

import os

from vault_eval import launcher
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.printing import print_json
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.pool import STALE, PageFreshness, gather_pool
from vault_eval.index.search import Searcher
from vault_eval.index.seal import open_index
from vault_eval.index.terms import Analyzer
from vault_eval.limits import DEPTH_DEFAULT_PAGES, DEPTH_MAX_PAGES, LABEL_QUERY_MAX_CHARACTERS
from vault_eval.retrievers.spec import bm25_parameters, parse_specs
from vault_eval.vault.location import vault_id, vault_root
from vault_eval.vault.page_digests import PageDigests
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
    if specs[0].kind != "keyword":
        raise UsageError(f"retrieve answers with keyword; {specs[0].kind} is measured with bench --retriever {specs[0].kind}")
    root = vault_root(options.vault)
    vault = vault_id(root)
    folder = (
        os.path.abspath(options.index) if options.index else DataFolder(launcher.data_folder(options.data)).index_folder(vault)
    )
    parameters = bm25_parameters(specs[0])
    try:
        index, _ = open_index(folder, vault, verify=False)
        with index, FolderReader(root) as reader:
            searcher = Searcher(index, *parameters)
            answer = _found(searcher, reader, options.query, options.top, explain=options.explain)
    except IndexUnusableError as error:
        from vault_eval.index.commands import advice_to_build, build_command
        from vault_eval.index.options import IndexOptions

        line = build_command(root, IndexOptions(), index=options.index, data=options.data)
        raise IndexUnusableError(advice_to_build(str(error), line)) from None
    print_json(answer, spread=2)
    return 0


def parser() -> Parser:
    """The options of `retrieve`."""
    made = Parser("retrieve", "Answer one query from the index of a vault, as JSON.")
    add_vault(made)
    made.add_argument("query", metavar="QUERY", help="what is looked for; put -- before it where it starts with a dash")
    made.add_argument("--retriever", "-r", metavar="SPEC", default="keyword", help="such as keyword:k1=1.2,b=0.5")
    made.add_argument("--top", "-k", metavar="N", type=whole_number, default=DEPTH_DEFAULT_PAGES, help="pages, 1 to 1,000")
    made.add_argument("--explain", action="store_true", help="what each query term adds to each page's score")
    return made


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
