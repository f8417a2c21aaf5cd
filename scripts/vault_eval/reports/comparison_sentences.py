"""What is said of a comparison in words, the same in every rendering; plain text that may hold text of a vault."""

from __future__ import annotations

from vault_eval.comparison.records import Chance, Comparison, MetricChange
from vault_eval.reports import wording
from vault_eval.significance.differences import TIE_MAX

STATEMENT = "The figures describe the paired queries on the snapshots that were measured, nothing else."
NOT_SHOWN = (
    "how other questions than the paired ones would fare",
    "why one configuration differs from the other",
    "that a change which was not seen is not there",
)
PAGES_SHOWN_MAX = 5
CATEGORIES_SHOWN_MAX = 5


def warnings(comparison: Comparison) -> tuple[str, ...]:
    """What must be known before the figures are read: refusals first, then what may explain a difference besides the change."""
    return (
        *(f"not comparable: {one.sentence}" for one in comparison.refusals),
        *(f"confounded: {_with_changed(one.sentence, one.changed)}" for one in comparison.confounders),
    )


def effect(comparison: Comparison) -> str | None:
    """The difference of the primary metric with its interval; None where nothing was paired, or nothing may be compared."""
    change = judged_change(comparison)
    if change is None or change.delta is None:
        return None
    interval = interval_text(change)
    between = "" if interval == wording.NOTHING else f" (95 % interval {interval})"
    return (
        f"{wording.metric_label(change.name)} {signed(change.delta)}{between}: {wording.score_text(change.baseline)} → "
        f"{wording.score_text(change.candidate)} over {wording.queries(change.n)}"
    )


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """What is said beside the effect, in this order: counts, what could be seen at all, why this verdict, p, notes."""
    return (
        *filter(None, (balance(comparison),)),
        *against_the_mean(comparison),
        *sensitivity(comparison),
        *comparison.verdict.reasons,
        *filter(None, (chance(comparison),)),
        *notes(comparison),
    )


def balance(comparison: Comparison) -> str | None:
    """Wins, losses and ties; None where nothing was paired."""
    change = judged_change(comparison)
    if change is None or not change.n:
        return None
    return f"{change.wins:,} better, {change.losses:,} worse, {change.ties:,} the same"


def against_the_mean(comparison: Comparison) -> tuple[str, ...]:
    """The categories that moved otherwise than the mean over all, which may have stayed, the weightiest first."""
    change = judged_change(comparison)
    if change is None or change.delta is None:
        return ()
    over_all = f"{wording.metric_label(change.name)} {_movement(change.delta)} over all"
    against = sorted((one for one in comparison.categories if one.against), key=lambda one: -abs(one.delta) * one.n)
    said = [
        f"{one.category} {_movement(one.delta)} ({signed(one.delta)}, n {one.n:,}) while {over_all}"
        for one in against[:CATEGORIES_SHOWN_MAX]
    ]
    rest = len(against) - CATEGORIES_SHOWN_MAX
    return (*said, *([f"so did {wording.counted(rest, 'more category', 'more categories')}"] if rest > 0 else ()))


def sensitivity(comparison: Comparison) -> tuple[str, ...]:
    """What these queries could show at all, which is said before any p: wins needed, and the minimum detectable effect."""
    change = judged_change(comparison)
    if change is None or change.chance is None or comparison.verdict.word == "identical":
        return ()
    return (_wins_needed(change, change.chance), _detectable(change, change.chance))


def chance(comparison: Comparison) -> str | None:
    """What chance alone does, with the test's name and the second opinion; None where there was nothing to test."""
    change = judged_change(comparison)
    if change is None or change.chance is None or comparison.verdict.word == "identical":
        return None
    found = change.chance
    parts = [f"p {probability(found.p)} ({found.test}; {probability(found.smallest_p)} is the least that could come out)"]
    if found.p_adjusted is not None and comparison.family > 1:
        parts.append(f"{probability(found.p_adjusted)} after Holm over {comparison.family} candidates")
    if found.t_p is not None:
        parts.append(f"paired t for a second opinion {probability(found.t_p)}")
    return ", ".join(parts)


def notes(comparison: Comparison) -> tuple[str, ...]:
    """What is worth knowing and decides nothing."""
    return tuple(one.sentence for one in comparison.findings if one.effect == "notes")


def scope() -> str:
    """What the figures are about, and what nobody may read out of them."""
    return f"{STATEMENT} They do not show {'; '.join(NOT_SHOWN)}."


def judged_change(comparison: Comparison) -> MetricChange | None:
    """The primary metric; None where it was refused, or a side failed, so that a figure would mislead."""
    return None if comparison.verdict.word == "not comparable" else comparison.change


def interval_text(change: MetricChange) -> str:
    """`-0.128 to +0.576`: the interval of a difference, or a dash."""
    if change.interval is None:
        return wording.NOTHING
    return f"{signed(change.interval.low)} to {signed(change.interval.high)}"


def signed(value: float | None) -> str:
    """`+0.083`, `-0.100`, `0.000` for no difference at all; one that three decimals cannot show keeps a digit."""
    if value is None:
        return wording.NOTHING
    if abs(value) < TIE_MAX:
        return "0.000"
    return f"{value:+.3f}" if abs(value) >= 0.0005 else f"{value:+.1g}"


def probability(p: float) -> str:
    """Three decimals; never a bare zero for what is only small."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _movement(delta: float) -> str:
    return "stayed" if abs(delta) < TIE_MAX else "rose" if delta > 0 else "fell"


def _with_changed(sentence: str, changed: tuple[str, ...]) -> str:
    if not changed:
        return sentence
    rest = len(changed) - PAGES_SHOWN_MAX
    return f"{sentence}: {', '.join(changed[:PAGES_SHOWN_MAX])}" + (f" and {rest:,} more" if rest > 0 else "")


def _wins_needed(change: MetricChange, chance: Chance) -> str:
    losses = wording.counted(change.losses, "loss", "losses")
    size = " of equal size" if change.losses and not chance.wins_decide else ""
    apart = " on pages of their own" if chance.effective_n < change.n else ""
    needed = f"beside {losses} it takes {chance.wins_needed:,}{size}{apart} to tell them from chance"
    return f"wins needed: {needed}; found: {change.wins:,}"


def _detectable(change: MetricChange, chance: Chance) -> str:
    queries = wording.queries(change.n)
    if round(chance.effective_n) < change.n:
        queries += f", which count as about {chance.effective_n:.0f} since some expect the same page,"
    if chance.detectable is None:
        return f"minimum detectable effect: none, with {queries} even a difference of 1 would often be missed"
    return f"minimum detectable effect: with {queries} a difference of {chance.detectable:.2g} shows in four of five tries"
