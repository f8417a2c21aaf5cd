"""`labels agree`: how far two judges of the same pool agree, beyond what chance would give."""

from __future__ import annotations

from vault_eval.authoring.judged_labels import agreement
from vault_eval.authoring.judgements import GRADES, read_judgements, verdicts
from vault_eval.cli.arguments import Parser
from vault_eval.cli.printing import print_json
from vault_eval.errors import UsageError
from vault_eval.significance.agreement import Agreement

_SPREAD = 1


def run(argv: list[str]) -> int:
    """The exit code of `labels agree` with these arguments."""
    options = parser().parse_args(argv)
    one, other = (verdicts(read_judgements(path)) for path in (options.one, options.other))
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
        for item in apart:
            print(f"  {item}: {one[item].verdict} / {other[item].verdict}")
    return 0


def parser() -> Parser:
    """The options of `labels agree`."""
    made = Parser("labels agree", "Compare what two judges said of the same pool.")
    made.add_argument("one", metavar="JUDGEMENTS", help="the file of one judge, as `labels judge` names it")
    made.add_argument("other", metavar="JUDGEMENTS", help="that of the other")
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
