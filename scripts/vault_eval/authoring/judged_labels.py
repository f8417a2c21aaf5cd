"""Labels from judgements: what was judged relevant is expected, with its grade and the digest of the page as it was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_eval.authoring.judgements import GRADES, Judgement, verdicts
from vault_eval.authoring.pool import Pool, PooledQuery
from vault_eval.model import Label
from vault_eval.significance.agreement import Agreement, cohen_kappa
from vault_eval.vault.targets import parse_target

ORIGIN = "judged blind from a pool"
NOTHING_FOUND = "no page of the pool answers it; if none should be found, say so: labels add --none with this query"
UNFINISHED = "not every page of the pool is judged"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a judge has come; counts are looks: items, and those that are shown again."""

    judged: int
    all: int
    put_off: int  # "later"
    undecided: int  # "cannot tell"
    own: Agreement  # of first and second look


def progress(pool: Pool, judgements: Sequence[Judgement]) -> Progress:
    """What is done and what is left, and how far the judge agrees with himself."""
    first, second = verdicts(judgements), verdicts(judgements, 2)
    known = [one for one in judgements if one.item in pool.items]
    put_off = sum(one.verdict == "later" for one in known)
    undecided = sum(one.verdict == "cannot tell" for one in known)
    return Progress(len(known) - put_off, len(pool.items) + len(pool.again), put_off, undecided, agreement(first, second))


def agreement(one: Mapping[str, Judgement], other: Mapping[str, Judgement]) -> Agreement:
    """Over the items that both graded; "later" and "cannot tell" are no grades and have no part in it."""
    both = ((one[item].verdict, other[item].verdict) for item in sorted(one.keys() & other.keys()))
    return cohen_kappa([(first, second) for first, second in both if first in GRADES and second in GRADES])


def judged_labels(pool: Pool, judgements: Sequence[Judgement], source: str) -> tuple[Label, ...]:
    """One label a query, from the first look at each item.

    A query with a page left to judge, or without a relevant one, is skipped with that reason: that nothing should be found is
    for the person to say, and a pool cannot show it.
    """
    said = verdicts(judgements)
    return tuple(_label(query, said, source) for query in pool.queries)


def _label(query: PooledQuery, said: Mapping[str, Judgement], source: str) -> Label:
    graded = {item.page: said[item.name] for item in query.items if item.name in said and said[item.name].verdict in GRADES}
    grades = {page: GRADES[one.verdict] for page, one in sorted(graded.items())}
    gold = tuple(page for page, grade in grades.items() if grade)
    is_open = any(item.name not in said or said[item.name].verdict == "later" for item in query.items)
    return Label(
        id=query.id,
        query=query.query,
        gold=tuple(map(parse_target, gold)),
        source=source,
        place=f"query {query.id!r}",
        skip_reason=UNFINISHED if is_open else None if gold else NOTHING_FOUND,
        origin=ORIGIN,
        note=query.need or None,
        grades=grades,
        hashes={page: sha256 for page in gold if (sha256 := graded[page].sha256) is not None},
    )
