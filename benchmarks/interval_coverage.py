"""How often the interval that a report prints holds the true mean: `python -m benchmarks.interval_coverage`.

Draws samples of known distributions, asks `mean_interval` of each, and prints the share of intervals that hold the
truth. Nominal is .95. Wants `scripts` on PYTHONPATH. Same seed, same table. Binary cells are exact sums.
`benchmarks.significance` holds the shares to a limit.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum
from random import Random

from benchmarks.bca import bca

from vault_eval.significance.intervals import Interval, abc, mean_interval, modified_wilson

SIZES = (10, 14, 20, 30, 50, 100)
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Scenario:
    """Per-query values and how likely each is; `binary` when they can only be 0 or 1."""

    name: str
    values: tuple[float, ...]
    chances: tuple[float, ...]
    binary: bool = False

    @property
    def truth(self) -> float:
        """The mean that an interval should hold."""
        return fsum(value * chance for value, chance in zip(self.values, self.chances, strict=True))


RR = (1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7, 1 / 8, 1 / 9, 1 / 10, 0.0)
RR_MID = Scenario("RR, mid range", RR, (0.40, 0.15, 0.09, 0.06, 0.04, 0.02, 0.02, 0.01, 0.01, 0.01, 0.19))
RR_LOW = Scenario("RR, low", RR, (0.15, 0.12, 0.09, 0.06, 0.04, 0.03, 0.02, 0.02, 0.01, 0.01, 0.45))
RR_CEILING = Scenario("RR, 90 % ones", (1.0, 1 / 2, 1 / 3, 1 / 4, 0.0), (0.90, 0.04, 0.02, 0.01, 0.03))
SCENARIOS = (
    RR_MID,
    RR_LOW,
    Scenario("RR, 80 % ones", (1.0, 1 / 2, 1 / 3, 1 / 4, 0.0), (0.80, 0.07, 0.04, 0.02, 0.07)),
    RR_CEILING,
    Scenario("RR, 95 % ones", (1.0, 1 / 2, 1 / 3, 0.0), (0.95, 0.02, 0.01, 0.02)),
    Scenario("90 % ones, else .5", (1.0, 0.5), (0.90, 0.10)),
    Scenario("RR, 90 % zeros", (0.0, 1 / 2, 1 / 3, 1 / 10, 1.0), (0.90, 0.04, 0.02, 0.01, 0.03)),
    Scenario("recall, 1 or 2 gold", (1.0, 0.5, 0.0), (0.70, 0.15, 0.15)),
    Scenario("nDCG, spread", (1.0, 0.92, 0.77, 0.63, 0.5, 0.39, 0.0), (0.35, 0.1, 0.1, 0.15, 0.1, 0.05, 0.15)),
    Scenario("nDCG, rare zero", (0.97, 0.92, 0.88, 0.0), (0.4, 0.3, 0.25, 0.05)),
    Scenario("binary, p .95", (1.0, 0.0), (0.95, 0.05), binary=True),
    Scenario("binary, p .80", (1.0, 0.0), (0.80, 0.20), binary=True),
    Scenario("binary, p .50", (1.0, 0.0), (0.50, 0.50), binary=True),
)


def holds(interval: Interval | None, truth: float) -> bool:
    """Whether the interval holds the truth; none at all (zero width) does not."""
    return interval is not None and interval.low - TOLERANCE <= truth <= interval.high + TOLERANCE


def exact_binary_coverage(p: float, n: int) -> float:
    """The coverage of the interval for counts, summed over all n + 1 outcomes."""
    chances = (comb(n, hits) * p**hits * (1 - p) ** (n - hits) for hits in range(n + 1))
    return fsum(chance for hits, chance in enumerate(chances) if holds(modified_wilson(hits, n), p))


def draw(scenario: Scenario, n: int, samples: int, seed: int) -> list[list[float]]:
    """Samples of n queries each."""
    random = Random(f"{seed} {n} {scenario.name}")
    return [random.choices(scenario.values, scenario.chances, k=n) for _ in range(samples)]


def rule_coverage(scenario: Scenario, n: int, samples: int, seed: int) -> float:
    """The coverage of the interval that a report prints."""
    if scenario.binary:
        return exact_binary_coverage(scenario.chances[0], n)
    return share([holds(mean_interval(values, binary=False), scenario.truth) for values in draw(scenario, n, samples, seed)])


def coverage(scenario: Scenario, n: int, options: argparse.Namespace) -> tuple[float, float, float | None]:
    """Coverage of the rule, of ABC alone, and of BCa alone when that was asked for."""
    drawn = draw(scenario, n, options.samples, options.seed)
    analytic = share([holds(abc(values), scenario.truth) for values in drawn])
    few = drawn[: options.bca_samples]
    resampled = [holds(bca(values, options.resamples, seed=place), scenario.truth) for place, values in enumerate(few)]
    rule = rule_coverage(scenario, n, options.samples, options.seed)
    return rule, analytic, share(resampled) if resampled else None


def share(held: Sequence[bool]) -> float:
    """How many of the intervals held the truth."""
    return sum(held) / len(held)


def main() -> None:
    """Print one line a scenario: `rule abc [bca]` for each sample size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=4_000, help="samples a cell; its error is about sqrt(.05/samples)")
    parser.add_argument("--bca-samples", type=int, default=0, help="also this many BCa intervals a cell (slow)")
    parser.add_argument("--resamples", type=int, default=1_000, help="of each BCa interval")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    width = 17 if options.bca_samples else 12
    print(f"{'coverage: rule, abc' + (', bca' if options.bca_samples else ''):26}", *(f"n={n:<{width - 2}}" for n in SIZES))
    for scenario in SCENARIOS:
        cells = (coverage(scenario, n, options) for n in SIZES)
        texts = (" ".join(f"{value:.3f}" for value in cell if value is not None) for cell in cells)
        print(f"{scenario.name:20}{scenario.truth:5.3f} ", *(f"{text:<{width}}" for text in texts), flush=True)


if __name__ == "__main__":
    main()
