"""`retrieve`: one query, answered as JSON; what a cold query costs is measured with this very command."""

from __future__ import annotations

import os

from vault_eval import launcher
from vault_eval.cli.arguments import Parser, add_vault, whole_number
from vault_eval.cli.printing import print_json
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.limits import DEPTH_DEFAULT_PAGES, DEPTH_MAX_PAGES, LABEL_QUERY_MAX_CHARACTERS
from vault_eval.retrievers.keyword import KeywordRetriever, open_for_one_query
from vault_eval.retrievers.select import parse_specs
from vault_eval.vault.location import vault_id, vault_root


def run(argv: list[str]) -> int:
    """The exit code of `retrieve` with these arguments."""
    parser = Parser("retrieve", "Answer one query from the index of a vault, as JSON.")
    add_vault(parser)
    parser.add_argument("query", metavar="QUERY", help="what is looked for; put -- before it where it starts with a dash")
    parser.add_argument("--retriever", "-r", metavar="SPEC", default="keyword", help="such as keyword:k1=1.2,b=0.5")
    parser.add_argument("--top", "-k", metavar="N", type=whole_number, default=DEPTH_DEFAULT_PAGES, help="pages, 1 to 1,000")
    parser.add_argument("--explain", action="store_true", help="what each query term adds to each page's score")
    options = parser.parse_args(argv)
    if not 1 <= options.top <= DEPTH_MAX_PAGES:
        raise UsageError(f"--top {options.top}: allowed are 1 to {DEPTH_MAX_PAGES:,}")
    if len(options.query) > LABEL_QUERY_MAX_CHARACTERS:
        raise UsageError(f"the query has {len(options.query):,} characters; allowed are {LABEL_QUERY_MAX_CHARACTERS:,}")
    specs = parse_specs([options.retriever])
    if len(specs) != 1:
        raise UsageError("retrieve takes one --retriever; bench compares several")
    root = vault_root(options.vault)
    vault = vault_id(root)
    folder = os.path.abspath(options.index) if options.index else DataFolder(launcher.data_folder(options.data)).index(vault)
    try:
        with open_for_one_query(specs[0], root, folder, vault) as retriever:
            answer = _answer(retriever, options.query, options.top, explain=options.explain)
            print_json(answer, spread=2)
    except IndexUnusableError as error:
        from vault_eval.index.commands import advice_to_build, build_command
        from vault_eval.index.options import IndexOptions

        line = build_command(root, IndexOptions(), index=options.index, data=options.data)
        raise IndexUnusableError(advice_to_build(str(error), line)) from None
    return 0


def _answer(retriever: KeywordRetriever, query: str, depth: int, *, explain: bool) -> dict[str, object]:
    ranking = retriever.search(query, depth)
    rows: list[dict[str, object]] = []
    for one in ranking.pages:
        row: dict[str, object] = {"rank": one.rank, "page": one.page, "score": one.score}
        row |= {"heading": list(one.heading), "lines": one.lines}
        if explain:
            evidence = retriever.evidence(query, one.page, exact_rank=False)
            terms = evidence.terms if evidence else ()
            row["terms"] = [term.as_json() for term in terms]
        rows.append(row)
    candidates = ranking.candidates
    return {"query": query, "ranking": rows, "stale_pages": list(candidates.stale_pages) if candidates else []}
