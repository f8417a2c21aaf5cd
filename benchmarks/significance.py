"""Whether the statistics keep what they promise: `python -m benchmarks.significance`; exit 1 where one does not.

False positives of every test that may decide a verdict, at most 5 %; coverage of every interval, at least 93 %; power
against the minimum detectable effect that is stated, at least 80 %. What is drawn allows two standard errors of sampling
for the first and the last. Wants `scripts` on PYTHONPATH. Same seed, same table; about three minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, fsum, inf, sqrt
from random import Random

from benchmarks.interval_coverage import RR_CEILING, RR_LOW, RR_MID, SCENARIOS, Scenario, holds, rule_coverage, share

from vault_eval.significance.differences import Differences, grouped
from vault_eval.significance.multiplicity import holm
from vault_eval.significance.paired import mcnemar, paired_t, sign_flip
from vault_eval.significance.power import ALPHA, POWER, detectable_difference

SIZES = (10, 14, 20, 30, 50)
COVERAGE_LEAST = 0.93
Draw = Callable[[Random, int], Differences]


@dataclass(frozen=True, slots=True)
class Limit:
    """What a share is held to, beyond so many standard errors of its sampling; without a bound it is only shown."""

    title: str
    least: float = -inf
    most: float = inf
    errors: float = 0.0

    def is_kept(self, value: float, samples: int) -> bool:
        """Whether a share of so many samples keeps the limit."""
        bound = self.least if self.least > -inf else self.most
        slack = self.errors * sqrt(bound * (1 - bound) / samples) if abs(bound) < inf else 0.0
        return self.least - slack <= value <= self.most + slack


FALSE_POSITIVES = Limit("false positives, at most 5 %", most=ALPHA, errors=2)
COVERAGE = Limit("coverage, at least 93 %", least=COVERAGE_LEAST)
ENOUGH_POWER = Limit("power against the stated effect, at least 80 %", least=POWER, errors=2)
SHOWN = Limit("shown, not held to a limit")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a share for each of `SIZES`."""

    limit: Limit
    name: str
    values: tuple[float, ...]
    samples: int

    @property
    def missed(self) -> bool:
        """Whether a value breaks the limit."""
        return not all(self.limit.is_kept(value, self.samples) for value in self.values)


def interchangeable(scenario: Scenario, changed: float) -> Draw:
    """Two configurations whose answers differ for this share of the queries, and are equally good."""

    def draw(random: Random, n: int) -> Differences:
        before, after = (random.choices(scenario.values, scenario.chances, k=n) for _ in range(2))
        return Differences.of([b - a if random.random() < changed else 0.0 for a, b in zip(before, after, strict=True)])

    return draw


def by_page(scenario: Scenario, size: int, *, tell: bool = True) -> Draw:
    """As many queries as fit a gold page each `size`, all of a page moving the same way; `tell` groups them."""

    def draw(random: Random, n: int) -> Differences:
        pages = [place // size for place in range(n)]
        moved = [random.choice((-1, 1)) for _ in range(n)]
        size_of = random.choices(scenario.values, scenario.chances, k=n)
        values = [moved[page] * value for page, value in zip(pages, size_of, strict=True)]
        return Differences.of(values, grouped([(str(page),) for page in pages]) if tell else None)

    return draw


def outcomes(values: Sequence[float], chances: Sequence[float]) -> Draw:
    """Differences of these sizes with these chances."""
    return lambda random, n: Differences.of(random.choices(values, chances, k=n))


def false_positives(samples: int, seed: int) -> Iterator[Row]:
    """Shares of p <= .05 where there is nothing to be found."""
    nulls = [
        (f"sign-flip, {scenario.name}, {changed:.0%} changed", interchangeable(scenario, changed))
        for scenario in (RR_MID, RR_CEILING)
        for changed in (0.3, 1.0)
    ]
    nulls += [(f"sign-flip by page, {size} queries each", by_page(RR_MID, size)) for size in (3, 5)]
    for name, draw in nulls:
        yield Row(FALSE_POSITIVES, name, _shares(draw, lambda one: sign_flip(one).p <= ALPHA, samples, seed), samples)
    for changed in (0.1, 0.3, 0.6, 1.0):
        sizes = tuple(_mcnemar_size(n, changed) for n in SIZES)
        yield Row(FALSE_POSITIVES, f"McNemar, {changed:.0%} changed (exact sum)", sizes, samples)
    family = tuple(_family_error(n, 3, samples // 3, seed) for n in SIZES)
    yield Row(FALSE_POSITIVES, "Holm, any of 3 candidates", family, samples // 3)
    naive = _shares(by_page(RR_MID, 3, tell=False), lambda one: sign_flip(one).p <= ALPHA, samples, seed)
    yield Row(SHOWN, "sign-flip, 3 queries a page, not told", naive, samples)
    t = _shares(interchangeable(RR_MID, 0.3), lambda one: (paired_t(one) or 1.0) <= ALPHA, samples, seed)
    yield Row(SHOWN, "paired t, RR, mid range, 30% changed", t, samples)
    lopsided = outcomes((0.1, 0.0, -0.5), (0.25, 0.7, 0.05))
    yield Row(
        SHOWN, "sign-flip, mean 0 but lopsided", _shares(lopsided, lambda one: sign_flip(one).p <= ALPHA, samples, seed), samples
    )


def coverages(samples: int, seed: int) -> Iterator[Row]:
    """Shares of intervals that hold the truth: of means, of mean differences, and of the bound of a regression gate."""
    for scenario in SCENARIOS:
        yield Row(COVERAGE, f"mean: {scenario.name}", tuple(rule_coverage(scenario, n, samples, seed) for n in SIZES), samples)
    for name, draw, truth in _paired_scenarios():
        held = _shares(draw, lambda one, truth=truth: holds(one.bounds(), truth), samples, seed)
        yield Row(COVERAGE, f"difference: {name}", held, samples)
    for name, draw, truth in _paired_scenarios():
        below = _shares(draw, lambda one, truth=truth: one.bounds(0.9).low <= truth, samples, seed)
        yield Row(COVERAGE, f"regression bound: {name}", below, samples)


def powers(samples: int, seed: int) -> Iterator[Row]:
    """Shares of p <= .05 where the true mean difference is the one stated as detectable."""
    for limit, name, family, is_count in (
        (ENOUGH_POWER, "sign-flip, wins of many sizes", _mixed, False),
        (ENOUGH_POWER, "sign-flip, small wins", _small, False),
        (ENOUGH_POWER, "McNemar, a tenth of the rest lost", _counts(0.1), True),
        (SHOWN, "McNemar, two fifths of the rest lost", _counts(0.4), True),
    ):
        found = tuple(_power(family, n, samples, seed, is_count=is_count) for n in SIZES)
        yield Row(limit, name, found, samples)


def _shares(draw: Draw, is_so: Callable[[Differences], bool], samples: int, seed: int) -> tuple[float, ...]:
    return tuple(share([is_so(draw(random, n)) for _ in range(samples)]) for n in SIZES for random in [Random(f"{seed} {n}")])


def _mcnemar_size(n: int, changed: float) -> float:
    """The chance of p <= .05 when each query changes with this chance, either way alike; summed over all outcomes."""
    found = 0.0
    for count in range(n + 1):
        chance = comb(n, count) * changed**count * (1 - changed) ** (n - count)
        found += (
            chance * fsum(comb(count, wins) for wins in range(count + 1) if mcnemar(wins, count - wins).p <= ALPHA) / 2**count
        )
    return found


def _family_error(n: int, candidates: int, samples: int, seed: int) -> float:
    """How often any of several candidates, all as good as their one baseline, comes out as different."""
    random = Random(f"{seed} {n}")
    wrong = []
    for _ in range(samples):
        before, *others = (random.choices(RR_MID.values, RR_MID.chances, k=n) for _ in range(candidates + 1))
        p_values = [sign_flip(Differences.of([b - a for a, b in zip(before, other, strict=True)])).p for other in others]
        wrong.append(min(holm(p_values)) <= ALPHA)
    return share(wrong)


def _paired_scenarios() -> Iterator[tuple[str, Draw, float]]:
    """A name, how differences come about, and their true mean."""
    for scenario in (RR_MID, RR_CEILING):
        for changed in (0.1, 0.3, 1.0):
            yield f"{scenario.name}, {changed:.0%} changed", interchangeable(scenario, changed), 0.0
    yield "by page, 5 queries each", by_page(RR_MID, 5), 0.0
    for name, values, chances in (
        ("5 % won outright", (1.0, 0.0), (0.05, 0.95)),
        ("30 % won, 10 % lost", (1.0, 0.0, -1.0), (0.3, 0.6, 0.1)),
        ("small wins, rare loss", (0.1, 0.0, -1.0), (0.40, 0.57, 0.03)),
        ("20 % half won, 5 % lost", (0.5, 0.0, -1.0), (0.2, 0.75, 0.05)),
        ("10 % half lost", (0.0, -0.5), (0.9, 0.1)),
    ):
        yield name, outcomes(values, chances), fsum(value * chance for value, chance in zip(values, chances, strict=True))
    mean = RR_MID.truth - RR_LOW.truth
    yield "low to mid range", _moved(RR_LOW, RR_MID), mean


def _moved(before: Scenario, after: Scenario) -> Draw:
    def draw(random: Random, n: int) -> Differences:
        old, new = (random.choices(one.values, one.chances, k=n) for one in (before, after))
        return Differences.of([b - a for a, b in zip(old, new, strict=True)])

    return draw


Family = Callable[[float], tuple[Sequence[float], Sequence[float]]]  # share of wins -> differences and their chances


def _mixed(wins: float) -> tuple[Sequence[float], Sequence[float]]:
    rest = 1 - wins
    return (1.0, 0.75, 2 / 3, 0.5, 0.0, -0.5, -1 / 3), (
        0.4 * wins,
        0.1 * wins,
        0.2 * wins,
        0.3 * wins,
        0.9 * rest,
        0.05 * rest,
        0.05 * rest,
    )


def _small(wins: float) -> tuple[Sequence[float], Sequence[float]]:
    rest = 1 - wins
    return (0.5, 1 / 3, 1 / 6, 0.0, -1 / 6, -0.5), (0.4 * wins, 0.3 * wins, 0.3 * wins, 0.8 * rest, 0.1 * rest, 0.1 * rest)


def _counts(lost: float) -> Family:
    return lambda wins: ((1.0, 0.0, -1.0), (wins, (1 - lost) * (1 - wins), lost * (1 - wins)))


def _power(family: Family, n: int, samples: int, seed: int, *, is_count: bool) -> float:
    """The power where the share of wins is the first at which the true mean reaches the effect that is stated on average."""
    random = Random(f"{seed} {n}")
    for percent in range(1, 101):
        values, chances = family(percent / 100)
        mean = fsum(value * chance for value, chance in zip(values, chances, strict=True))
        drawn = [Differences.of(random.choices(values, chances, k=n)) for _ in range(40)]
        stated = [detectable_difference(fsum(one.deviation for one in drawn) / 40, n, is_count=is_count)]
        if stated[0] is not None and mean >= stated[0]:
            break
    drawn = [Differences.of(random.choices(values, chances, k=n)) for _ in range(samples)]
    return share([sign_flip(one).p <= ALPHA for one in drawn])


def main() -> int:
    """Print the table; 1 where a limit is missed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=3_000, help="samples a cell; its error is about sqrt(.05/samples)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    missed, title = 0, ""
    for section in (false_positives, coverages, powers):
        for row in section(options.samples, options.seed):
            if row.limit.title != title:
                title = row.limit.title
                print(f"\n{title:50}", *(f"n={n:<5}" for n in SIZES))
            missed += row.missed
            print(f"{row.name:50}", *(f"{value:.3f}  " for value in row.values), "MISSED" if row.missed else "", flush=True)
    print(f"\n{missed} limits missed" if missed else "\nevery limit kept")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
