"""`labels agree`: how far two judges of the same pool agree, beyond what chance would give."""

from __future__ import annotations

import os
from collections.abc import Mapping

from vault_eval.authoring.judged_labels import agreement
from vault_eval.authoring.judgements import GRADES, Judgement, read_judgements, verdicts
from vault_eval.authoring.pool import Item, PooledQuery
from vault_eval.authoring.pool_sheet import read_sheet
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import read_text
from vault_eval.cli.printing import print_json, print_list
from vault_eval.errors import UsageError
from vault_eval.reports.escaping import for_terminal
from vault_eval.significance.agreement import Agreement

_SPREAD = 1


def run(argv: list[str]) -> int:
    """The exit code of `labels agree` with these arguments."""
    options = parser().parse_args(argv)
    one, other = map(_verdicts, (options.one, options.other))
    asked = read_sheet(read_text(options.pool), options.pool).items if options.pool is not None else {}
    shared = one.keys() & other.keys()
    if not shared:
        raise UsageError(f"{options.one!r} and {options.other!r} have no item in common: they are not of the same pool")
    found = agreement(one, other)
    apart = sorted(item for item in shared if one[item].verdict != other[item].verdict)
    undecided = sum(one[item].verdict not in GRADES or other[item].verdict not in GRADES for item in shared)
    if options.format == "json":
        value = {"n": found.n, "observed": found.observed, "kappa": found.kappa, "undecided": undecided, "apart": apart}
        print_json(value, spread=_SPREAD)
    else:
        print(_sentence(found, undecided))
        rows = (f"  {_name(item, asked)}: {one[item].verdict} / {other[item].verdict}" for item in apart)
        print_list(map(for_terminal, rows), "--format json lists all")
    return 0


def _verdicts(path: str) -> dict[str, Judgement]:
    if not os.path.isfile(path):
        raise UsageError(f"{path!r} is no file; `labels judge --progress` says where judgements are kept")
    return verdicts(read_judgements(path))


def _name(item: str, asked: Mapping[str, tuple[PooledQuery, Item]]) -> str:
    """What was judged, in words where the pool is known: its name in the file tells nothing."""
    if item not in asked:
        return item
    query, one = asked[item]
    return f"{query.query} · {one.page}"


def parser() -> Parser:
    """The options of `labels agree`."""
    made = Parser("labels agree", "Compare what two judges said of the same pool.")
    made.add_argument("one", metavar="JUDGEMENTS", help="the file of one judge, as `labels judge` names it")
    made.add_argument("other", metavar="JUDGEMENTS", help="that of the other")
    made.add_argument("--pool", metavar="FILE", help="the pool: says which queries and notes they judge otherwise")
    made.add_argument("--format", choices=["text", "json"], default="text", help="what is printed")
    return made


def _sentence(found: Agreement, undecided: int) -> str:
    if not found.n:
        return f"no data: none of the items is graded by both; {undecided} put off or not to be told"
    kappa = "undefined, both always said the same" if found.kappa is None else f"{found.kappa:.2f}"
    noisy = "; below 0.6 labels are noisy" if found.is_noisy else ""
    return (
        f"kappa {kappa}, {found.observed:.0%} alike, n = {found.n}{noisy}; {undecided} put off or not to be told by one of them"
    )
