"""AUROC of the top score: answerable above unanswerable, ties half."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.metrics.negatives import ScoreSeparation, auroc

SCORES = st.lists(st.one_of(st.none(), st.integers(0, 5).map(float)), max_size=12)


def test_pairs_won_and_half_the_pairs_tied() -> None:
    # Pairs: 3>1, 3>2, 2>1, 2=2, 1=1, 1<2: (3 + 2/2) / 6 = 2/3.
    assert auroc([3.0, 2.0, 1.0], [1.0, 2.0]) == ScoreSeparation(2 / 3, 3, 2)


@pytest.mark.parametrize(("scored", "negative"), [([], [1.0]), ([1.0], []), ([], [])])
def test_one_empty_side_is_no_value_and_both_counts_are_told(scored: list[float], negative: list[float]) -> None:
    assert ScoreSeparation(None, len(scored), len(negative)) == auroc(scored, negative)


def test_an_empty_answer_is_below_every_score_and_equal_to_another() -> None:
    # 1 beats None, None ties None: (1 + .5) / 2.
    assert auroc([1.0, None], [None]) == ScoreSeparation(0.75, 2, 1)
    # Even a negative score is a score.
    assert auroc([-8.0], [None]).value == 1.0


@given(SCORES, SCORES)
def test_it_is_the_share_of_pairs_and_turns_over_when_the_sides_do(
    scored: list[float | None], negative: list[float | None]
) -> None:
    def order(score: float | None) -> float:
        return -1.0 if score is None else score

    found = auroc(scored, negative).value
    pairs = [(order(one), order(other)) for one in scored for other in negative]
    if not pairs:
        assert found is None
        return
    expected = sum(1 if one > other else 0.5 if one == other else 0 for one, other in pairs) / len(pairs)
    assert expected == pytest.approx(found, abs=1e-12)
    assert 1 - expected == pytest.approx(auroc(negative, scored).value, abs=1e-12)
