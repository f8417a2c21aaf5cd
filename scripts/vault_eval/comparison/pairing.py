"""Which queries of two sides may be subtracted: equal id, text, gold, grades, answered on both; all others with their reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vault_eval.comparison.records import Absence, ComparedQuery, QueryStatus, Side, Unpaired
from vault_eval.errors import UsageError
from vault_eval.vault.paths import quoted

Pair: TypeAlias = tuple[ComparedQuery, ComparedQuery]
_STATUS_WORDS: dict[QueryStatus, str] = {
    "scored": "answered",
    "negative": "answered",
    "missing-gold": "excluded for missing gold",
    "skipped": "skipped",
    "error": "an error",
}


@dataclass(frozen=True, slots=True)
class Pairing:
    """Every query of both sides once: in a pair, or unpaired with its reason."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[Unpaired, ...]

    def of(self, kind: Absence) -> tuple[Unpaired, ...]:
        """The unpaired queries of one kind."""
        return tuple(query for query in self.unpaired if query.kind == kind)


def paired(baseline: Side, candidate: Side) -> Pairing:
    """The pairs in the order of the baseline's labels. Raises UsageError for an id that stands twice in one side."""
    before, after = _by_id(baseline), _by_id(candidate)
    pairs: list[Pair] = []
    unpaired: list[Unpaired] = []
    for name, query in (before | after).items():
        pair = before.get(name), after.get(name)
        if pair[0] is None or pair[1] is None:
            where = "the baseline" if pair[1] is None else "the candidate"
            unpaired.append(Unpaired(name, query.query, "drifted", f"only {where} has it"))
            continue
        apart = _apart(pair[0], pair[1])
        if apart is None:
            pairs.append((pair[0], pair[1]))
        else:
            unpaired.append(Unpaired(name, pair[0].query, *apart))
    return Pairing(tuple(pairs), tuple(unpaired))


def _by_id(side: Side) -> dict[str, ComparedQuery]:
    found: dict[str, ComparedQuery] = {}
    for query in side.queries:
        if query.id in found:
            raise UsageError(
                f"the report of {quoted(side.name)} has the query id {quoted(query.id)} twice; name an unchanged report"
            )
        found[query.id] = query
    return found


def _apart(before: ComparedQuery, after: ComparedQuery) -> tuple[Absence, str] | None:
    """Why these two may not be subtracted, or None."""
    if before.query != after.query:
        return "drifted", f"the text differs: {quoted(before.query)} and {quoted(after.query)}"
    answered = before.is_answered and after.is_answered
    # An error, or a label that is left out, has a row without places and grades: the pages alone can be held side by side.
    golds = [query.gold if answered else query.pages for query in (before, after)]
    if set(golds[0]) != set(golds[1]):
        return "drifted", f"the expected pages differ: {' and '.join(map(_listed, golds))}"
    if answered:
        regraded = sorted(dict(before.judged.items() ^ after.judged.items()))
        return ("drifted", f"the grades differ: {_listed(regraded)}") if regraded else None
    if before.status == after.status != "error":
        return "excluded", f"{_fate(before)} on both sides"
    return "lost", f"{_fate(before)} in the baseline, {_fate(after)} in the candidate"


def _listed(targets: Sequence[str]) -> str:
    return quoted(", ".join(sorted(targets))) if targets else "none"


def _fate(query: ComparedQuery) -> str:
    words = _STATUS_WORDS[query.status]
    return words if query.is_answered or not query.reason else f"{words} ({quoted(query.reason)})"
