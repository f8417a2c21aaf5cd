"""`labels check`: what is wrong, doubtful or absent in a label set, before anything is measured with it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from vault_eval.authoring.check import LabelCheck, check_labels
from vault_eval.authoring.lint import Finding, lint_rules
from vault_eval.cli.arguments import Parser
from vault_eval.cli.labels.changing import open_label_vault
from vault_eval.cli.printing import print_json, print_list
from vault_eval.comparison.verdict import DEVIATION_UNSEEN
from vault_eval.reports.escaping import for_terminal
from vault_eval.significance.power import detectable_difference

_CLEAN, _FOUND = 0, 1
_SHOWN_MAX = 5
_SPREAD = 3


def run(argv: list[str]) -> int:
    """The exit code of `labels check` with these arguments."""
    options = parser().parse_args(argv)
    with open_label_vault(options.vault, options.data) as opened:
        found = check_labels(opened.vault, opened.documents(opened.sources(options.queries)))
    if options.format == "json":
        print_json(_value(found), spread=_SPREAD)
    else:
        print_list(chain(_facts(found), _lines(found)), "--format json lists all")
    return _FOUND if options.strict and found.findings else _CLEAN


def parser() -> Parser:
    """The options of `labels check`."""
    made = Parser("labels check", "Say what is wrong, doubtful or absent in a label set. Exit 2 for invalid labels.")
    add = made.add_argument
    add("--vault", metavar="DIR", required=True, help="the folder that holds your notes")
    add("--queries", metavar="SOURCE", action="append", default=[], help="a label file, note:FOLDER/NOTE.md; may be repeated")
    add("--strict", action="store_true", help="exit 1 where anything is found")
    add("--format", choices=["text", "json"], default="text", help="what is printed")
    return made


def _facts(found: LabelCheck) -> Iterator[str]:
    statuses = ", ".join(f"{count:,} {status}" for status, count in sorted(found.statuses.items()))
    yield f"Labels: {sum(found.statuses.values()):,} ({statuses})"
    if found.categories:
        yield "Categories: " + ", ".join(f"{for_terminal(name)} {count:,}" for name, count in sorted(found.categories.items()))
    yield "Look like: " + ", ".join(f"{name} {count:,}" for name, count in found.kinds.items())
    yield _can_show(found)
    yield from (for_terminal(warning) for warning in found.warnings)


def _can_show(found: LabelCheck) -> str:
    scored = found.statuses.get("scored", 0)
    difference = detectable_difference(DEVIATION_UNSEEN, scored)
    if difference is None or found.detectable is None or scored < found.wins_needed:
        return "These are too few scored queries to tell any change from chance."
    return (
        f"This set shows, in four of five tries, a change of MRR@10 by {difference:.2f} ({found.detectable:.2f} standard "
        f"deviations, taken to be {DEVIATION_UNSEEN}), or one by which {found.wins_needed} queries get better and none worse."
    )


def _lines(found: LabelCheck) -> Iterator[str]:
    rules = lint_rules()
    if not found.findings:
        yield "Nothing is doubtful."
    for name, findings in found.findings.items():
        count = f" ({len(findings):,})" if len(findings) > 1 else ""
        yield f"{rules[name].NAME[:1].upper()}{rules[name].NAME[1:]}{count}: {rules[name].ADVICE}"
        yield from (f"  {_shown(one)}" for one in findings[:_SHOWN_MAX])
        if len(findings) > _SHOWN_MAX:
            yield f"  … and {len(findings) - _SHOWN_MAX:,} more; --format json lists them"


def _shown(one: Finding) -> str:
    ids = ", ".join(one.queries[:_SHOWN_MAX]) + (" …" if len(one.queries) > _SHOWN_MAX else "")
    return for_terminal(f"{ids}: {one.what}" if ids else one.what)


def _value(found: LabelCheck) -> dict[str, object]:
    findings = {
        name: [{"what": one.what, "queries": list(one.queries), "pages": list(one.pages)} for one in ones]
        for name, ones in found.findings.items()
    }
    return {
        "statuses": dict(sorted(found.statuses.items())),
        "categories": dict(sorted(found.categories.items())),
        "kinds": dict(found.kinds),
        "detectable_effect": found.detectable,
        "wins_needed": found.wins_needed,
        "warnings": list(found.warnings),
        "findings": findings,
    }
