"""What a comparison may claim, in one of six words, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_eval.comparison.changes import DIFFERENCE_WORTH_SEEING
from vault_eval.comparison.pairing import Pair, Pairing
from vault_eval.comparison.records import Chance, Finding, MetricChange, Side, Verdict, Word
from vault_eval.significance.differences import TIE_MAX
from vault_eval.significance.power import ALPHA, queries_needed

# The standard deviation of reciprocal rank differences where nothing has been seen yet.
DEVIATION_UNSEEN = 0.35


def verdict(
    baseline: Side, candidate: Side, pairing: Pairing, findings: Sequence[Finding], change: MetricChange | None
) -> Verdict:
    """The word for the primary metric `change`, whose p is adjusted already; None where the comparison was refused.

    Sides without a query in common are not comparable, nor is one that failed on a query, or answered none; equal rankings are
    identical and claim nothing.
    """
    refused = (one.sentence for one in findings if one.effect == "refuses")
    against = (*refused, *_failures(baseline, candidate), *_nothing_shared(pairing))
    if against or change is None:
        return Verdict("not comparable", against)
    if _is_identical(pairing):
        return Verdict("identical", (f"all {len(pairing.pairs)} paired queries have the same ranking on both sides",))
    cautions = tuple(_cautions(pairing, findings, change))
    if change.chance is None or change.delta is None:
        needed = queries_needed(DEVIATION_UNSEEN, DIFFERENCE_WORTH_SEEING)
        reason = f"no paired query has a value of {change.name}; {_enough(needed)}"
        return Verdict("too few queries", (reason, *cautions), needed)
    chance = change.chance
    p = chance.p if chance.p_adjusted is None else chance.p_adjusted
    if p <= ALPHA:
        word: Word = "better" if change.delta > 0 else "worse"
        return Verdict(word, (f"chance alone would rarely do this: p is at most {ALPHA:g}", *cautions))
    return _undecided(change, chance, cautions)


def _failures(baseline: Side, candidate: Side) -> Iterator[str]:
    for role, side in (("baseline", baseline), ("candidate", candidate)):
        errors = sum(query.status == "error" for query in side.queries)
        scored = [query for query in side.queries if query.status == "scored"]
        if errors:
            yield f"the {role} failed on {errors} of {len(side.queries)} queries"
        elif scored and not any(query.ranking for query in side.queries):
            yield f"the {role} answered none of {len(scored)} queries"


def _nothing_shared(pairing: Pairing) -> Iterator[str]:
    """Set where nothing can be paired since the labels differ: more queries of the kind would not help."""
    drifted = len(pairing.of("drifted"))
    if drifted and not pairing.pairs:
        yield f"no query is left to compare: in {drifted} of {len(pairing.unpaired)} the labels differ"


def _is_identical(pairing: Pairing) -> bool:
    whole = not pairing.of("drifted") and not pairing.of("lost")
    return whole and bool(pairing.pairs) and all(map(_is_same, pairing.pairs))


def _is_same(pair: Pair) -> bool:
    before, after = pair
    names = before.values.keys() & after.values.keys()
    values = ((before.values[name], after.values[name]) for name in names)
    same = all(one is other or (one is not None and other is not None and abs(one - other) < TIE_MAX) for one, other in values)
    return before.ranking == after.ranking and same


def _undecided(change: MetricChange, chance: Chance, cautions: tuple[str, ...]) -> Verdict:
    """Not significant: whether that says something depends on whether a difference worth seeing would have shown."""
    changed = change.wins + change.losses
    if not changed:
        reasons = [f"no query changed its {change.name}"]
    elif chance.smallest_p > ALPHA:
        together = ", where those of one page count as one" if chance.effective_n < change.n else ""
        share = f"{changed} of {change.n} queries changed their {change.name}{together}"
        reasons = [f"{share}: even all one way, chance alone would do that with p = {chance.smallest_p:.2g}"]
    else:
        reasons = [f"chance alone would do this often enough: p is above {ALPHA:g}"]
    if chance.detectable is not None and chance.detectable <= DIFFERENCE_WORTH_SEEING:
        reasons.append(f"a difference of {DIFFERENCE_WORTH_SEEING:g} would have shown in four of five tries")
        return Verdict("no evidence of a difference", (*reasons, *cautions))
    reasons.append(f"{_enough(chance.queries_needed)}; so few would often miss it")
    return Verdict("too few queries", (*reasons, *cautions), chance.queries_needed)


def _enough(queries: int) -> str:
    return f"about {queries:,} queries would show a difference of {DIFFERENCE_WORTH_SEEING:g}"


def _cautions(pairing: Pairing, findings: Sequence[Finding], change: MetricChange) -> Iterator[str]:
    """What a reader must know beside the word."""
    if any(one.effect == "confounds" for one in findings):
        yield "confounded: more than the configuration differs, so the difference is not its own alone"
    apart = len(pairing.of("drifted")) + len(pairing.of("lost"))
    if apart:
        yield f"not paired, so in no difference: {apart}; each is listed with its reason"
    scored = sum(before.status == "scored" for before, _ in pairing.pairs)
    if change.n < scored:
        yield f"paired, but without a value of {change.name} on one side: {scored - change.n}"
