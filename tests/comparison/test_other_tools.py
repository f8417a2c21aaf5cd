"""Where ranx and PyTerrier say the same of the same runs, where they do not, and why.

Twelve queries with one gold page each, at these ranks (0: not among the ten). What the others printed was taken down from
ranx 0.3.21 (`compare`, stat_test "student", "fisher", "tukey") and python-terrier 1.0 (`Experiment`, baseline=0,
correction="holm"); neither is installed here.

Not the same, on purpose:
- ranx "fisher" draws 1,000 sign patterns and prints count / drawn: .192 where all 64 patterns give exactly 12 / 64 = .1875,
  and 0.0 where 60 of 60 queries won. Ours counts all patterns up to 20 differences, and is never 0 beyond.
- ranx "tukey" takes the runs for unpaired samples: .556. There is nothing like it here.
- Both test hit@1 with t: .586 for 2 wins and 1 loss. Counts have McNemar's exact test here: 1.0.
- PyTerrier adjusts the p values of t; here Holm adjusts those of the sign-flip test. Of the same p values it makes the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vault_eval.comparison.compare import compare
from vault_eval.comparison.records import Comparison
from vault_eval.significance.multiplicity import holm

BASELINE = [1, 1, 2, 3, 1, 4, 0, 2, 1, 5, 3, 1]
CANDIDATES = {
    "B": [1, 1, 1, 1, 1, 2, 2, 2, 1, 2, 3, 2],
    "C": [2, 1, 2, 4, 1, 4, 0, 2, 3, 5, 3, 1],
}


@pytest.fixture
def compared(side) -> dict[str, Comparison]:
    def ranked(ranks: Sequence[int], name: str):
        return side([1 / rank if rank else 0.0 for rank in ranks], name=name)

    found = compare(ranked(BASELINE, "A"), [ranked(ranks, name) for name, ranks in CANDIDATES.items()])
    return {one.candidate.name: one for one in found}


def metric(comparison: Comparison, name: str):
    return next(change for change in comparison.metrics if change.name == name)


@pytest.mark.parametrize(
    ("candidate", "mean", "hit", "t_p", "counts"),
    [
        ("B", 0.736111, 0.5, 0.14561609578669343, (5, 1, 6)),
        ("C", 0.488889, 0.25, 0.14160505043265223, (0, 3, 9)),
    ],
)
def test_means_counts_and_t_are_those_of_both(compared, candidate, mean, hit, t_p, counts):
    change = metric(compared[candidate], "mrr@10")
    assert (0.593056, mean) == pytest.approx((change.baseline, change.candidate), abs=1e-6)
    assert (0.416667, hit) == pytest.approx(
        (metric(compared[candidate], "hit@1").baseline, metric(compared[candidate], "hit@1").candidate), abs=1e-6
    )
    assert t_p == pytest.approx(change.chance.t_p, abs=1e-10)
    assert counts == (change.wins, change.losses, change.ties)


def test_holm_of_the_same_p_values_is_that_of_pyterrier(compared):
    p_values = [metric(one, "mrr@10").chance.t_p for one in compared.values()]
    assert (0.28321, 0.28321) == pytest.approx(holm(p_values), abs=1e-5)


def test_the_exact_p_lies_where_ranx_only_samples(compared):
    for candidate, exact, sampled in (("B", 12 / 64, 0.192), ("C", 2 / 8, 0.249)):
        found = metric(compared[candidate], "mrr@10").chance
        assert (found.test, found.p) == ("sign-flip, exact", exact)
        # 1,000 drawn patterns: a standard error of at most .0158.
        assert sampled == pytest.approx(found.p, abs=3 * 0.0158)


def test_counts_are_not_tested_with_t(compared):
    hit = metric(compared["B"], "hit@1")
    assert (hit.wins, hit.losses, hit.chance.test, hit.chance.p) == (2, 1, "McNemar, exact", 1.0)
    assert hit.chance.t_p == pytest.approx(0.5862993069206738, abs=1e-10)
