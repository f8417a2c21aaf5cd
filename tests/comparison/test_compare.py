"""What a comparison finds and what it may claim."""

from __future__ import annotations

from math import ceil
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_eval.comparison.compare import compare
from vault_eval.comparison.records import Side
from vault_eval.errors import UsageError

RRS = [1.0, 0.5, 0.25, 0.0]


def one(baseline: Side, candidate: Side, **options):
    (found,) = compare(baseline, [candidate], **options)
    return found


def test_the_effect_is_the_mean_over_pairs_with_both_values(side):
    found = one(side([1.0, 0.5, 0.0, None]), side([0.5, 1.0, 0.25, None]))
    change = found.change
    # Means (1 + .5 + 0) / 3 = .5 and (.5 + 1 + .25) / 3 = .58333; differences -.5, +.5, +.25; the negative has no value.
    assert (change.name, change.n, change.wins, change.losses, change.ties) == ("mrr@10", 3, 2, 1, 0)
    assert (change.baseline, change.candidate, change.delta) == pytest.approx((0.5, 1.75 / 3, 0.25 / 3))
    assert change.interval.low < change.delta < change.interval.high
    # |.25| of the 8 patterns of (.5, .5, .25): sums +-.25 (four) and +-.75, +-1.25: all.
    assert (change.chance.test, change.chance.p, change.chance.smallest_p) == ("sign-flip, exact", 1.0, 0.25)


def test_a_binary_metric_has_the_exact_test_of_counts(side):
    found = one(side([0.5] * 8), side([1.0] * 7 + [0.5]))
    hit = next(change for change in found.metrics if change.name == "hit@1")
    # 7 wins, no loss: 2 * .5^7.
    assert (hit.chance.test, hit.chance.p, hit.wins, hit.losses) == ("McNemar, exact", 2 / 128, 7, 0)
    assert hit.chance.p_adjusted is None


def test_only_the_primary_metric_is_adjusted_and_stands_first(side):
    found = one(side([0.5] * 8), side([1.0] * 8), primary="recall@5")
    assert [change.name for change in found.metrics if change.is_primary] == ["recall@5"] == [found.metrics[0].name]
    assert [change.name for change in found.metrics if change.chance.p_adjusted is not None] == ["recall@5"]


def test_a_metric_that_cannot_be_paired_or_tells_of_labels_is_refused(side):
    for name in ("mrr@7", "no_result_auroc", "judged@10"):
        with pytest.raises(UsageError, match="there is no metric"):
            compare(side([1.0]), [side([1.0])], primary=name)


def test_queries_of_one_page_count_as_one_group(side, query):
    before, after = (
        side([query(f"a{place}", rr, gold=("hub.md",)) for place in range(8)] + [query("b", 0.5)]) for rr in (0.5, 1.0)
    )
    change = one(before, after).change
    # Groups of 8 and 1: totals 4 and 0, one changed group: p = 2 / 2; effective n 81 / 65.
    assert (change.chance.test, change.chance.p) == ("sign-flip, exact, by gold page", 1.0)
    assert change.chance.effective_n == pytest.approx(81 / 65)
    # The effective n is less than two, so that nothing shows; 376 on pages of their own would, and these count 65 / 9 as much:
    # standard error .38284, deviation .38284 * sqrt(81 / 65 + 2) = .6898.
    assert (change.chance.detectable, change.chance.queries_needed) == (None, ceil(376 * 65 / 9))
    hit = next(change for change in one(before, after).metrics if change.name == "hit@1")
    assert hit.chance.test == "sign-flip, exact, by gold page"
    reason = one(before, after).verdict.reasons[0]
    assert reason.startswith("8 of 9 queries changed their mrr@10, where those of one page count as one: even all one way")


def test_wins_needed_is_told_as_a_number_alone_only_where_it_decides(side, query):
    """Graded: 8 wins of .1 and a loss of .9 are 8 beside 1, and yet p is far from .05."""
    graded = one(side([0.1] * 8 + [1.0]), side([0.2] * 8 + [0.1]))
    # No pattern of signs comes nearer to 0 than the .8 won less the .9 lost: all 2^9 lie as far from it, or further.
    assert (graded.change.wins, graded.change.losses, graded.change.chance.wins_needed) == (8, 1, 8)
    assert (graded.change.chance.p, graded.change.chance.wins_decide) == (1.0, False)
    hits = next(change for change in one(side([0.5] * 8 + [1.0]), side([1.0] * 8 + [0.5])).metrics if change.name == "hit@1")
    # McNemar: 8 wins and 1 loss are 2 (1 + 9) / 2^9 = .039.
    assert (hits.chance.p, hits.chance.wins_needed, hits.chance.wins_decide) == (20 / 512, 8, True)
    # Of whatever size, 6 wins and no loss are 2 / 2^6.
    unequal = one(side([0.0] * 6), side([1.0, 0.5, 0.25, 0.2, 0.1, 0.125])).change.chance
    assert (unequal.p, unequal.wins_needed, unequal.wins_decide) == (2 / 64, 6, True)


def test_wins_of_few_pages_do_not_decide_however_many_they_are(side, query):
    before, after = (side([query(f"q{place}", rr, gold=(f"hub {place % 3}.md",)) for place in range(9)]) for rr in (0.5, 1.0))
    chance = one(before, after).change.chance
    # Nine queries of three pages: three signs to flip, 2 / 2^3.
    assert (chance.p, chance.smallest_p, chance.wins_needed, chance.wins_decide) == (0.25, 0.25, 6, False)


def test_fourteen_queries_are_too_few_and_it_says_how_many_would_do(side):
    found = one(side([0.5] * 14), side([0.5] * 11 + [1.0] * 3))
    assert found.verdict.word == "too few queries"
    assert found.verdict.queries_needed == found.change.chance.queries_needed > 14
    assert found.verdict.reasons[0] == (
        "3 of 14 queries changed their mrr@10: even all one way, chance alone would do that with p = 0.25"
    )
    assert found.verdict.reasons[1].startswith(f"about {found.verdict.queries_needed} queries would show a difference of 0.1")
    assert found.change.chance.wins_needed == 6


@pytest.mark.parametrize(("before", "after", "word"), [(0.5, 1.0, "better"), (1.0, 0.5, "worse")])
def test_six_of_fourteen_all_one_way_are_enough(side, before, after, word):
    found = one(side([before] * 14), side([before] * 8 + [after] * 6))
    assert (found.verdict.word, found.change.chance.p) == (word, 2 / 64)


def test_five_of_fourteen_all_one_way_are_not(side):
    found = one(side([0.5] * 14), side([0.5] * 9 + [1.0] * 5))
    assert (found.verdict.word, found.change.chance.p) == ("too few queries", 2 / 32)


def test_many_queries_that_hardly_move_are_no_evidence(side):
    random = Random(1)
    before = random.choices(RRS, k=200)
    after = list(before)
    after[0], after[1] = 1.0 if before[0] != 1 else 0.5, 1.0 if before[1] != 1 else 0.5
    found = one(side(before), side(after))
    assert found.verdict.word == "no evidence of a difference"
    assert found.verdict.queries_needed is None
    assert found.change.chance.detectable <= 0.1


def test_a_side_with_itself_is_identical(side):
    found = one(side([1.0, 0.5, None]), side([1.0, 0.5, None]))
    assert found.verdict.word == "identical"
    assert (found.of("better"), found.of("worse")) == ((), ())
    assert found.change.delta == 0.0


def test_rankings_that_differ_below_the_gold_page_are_not_identical(side, query):
    other = query("q0", 1.0, ranking=("q0.md", "else.md"))
    found = one(side([1.0]), side([other]))
    assert (found.verdict.word, found.change.ties) == ("too few queries", 1)


def test_rounding_is_no_change(side, query):
    before, after = (query("a", 1.0, values={"mrr@10": 1 / 3, "recall@5": value}) for value in (0.30000000000000004, 0.3))
    found = one(side([before]), side([after]))
    assert found.verdict.word == "identical"
    assert [change.delta for change in found.metrics if change.n] == [0.0, 0.0]
    assert [change.outcome for change in one(side([before]), side([after]), primary="recall@5").changes] == ["same"]


def test_without_a_scored_query_there_is_no_delta(side, query):
    found = one(side([None]), side([query("q0", None, ranking=("p.md",))]))
    assert (found.change.name, found.change.n, found.change.delta, found.change.interval) == ("mrr@10", 0, None, None)
    assert found.verdict.word == "too few queries"
    assert found.verdict.queries_needed == 99
    assert found.verdict.reasons == ("no paired query has a value of mrr@10; about 99 queries would show a difference of 0.1",)
    assert one(side([None]), side([None])).verdict.word == "identical"


def test_sides_without_a_query_in_common_are_not_comparable(side, query):
    """More queries would not help, so that none are asked for."""
    found = one(side([1.0, 0.5]), side([query("other", 1.0), query("q1", 0.5, query="something else")]), allow_different=True)
    assert found.verdict.word == "not comparable"
    assert found.verdict.reasons == ("no query is left to compare: in 3 of 3 the labels differ",)
    assert found.verdict.queries_needed is None
    assert {unpaired.id for unpaired in found.unpaired} == {"q0", "q1", "other"}


def test_a_failed_configuration_gets_no_verdict_and_its_figures_are_shown(side, query):
    failed = side([1.0, 1.0, query("q2", 0.0, status="error", reason="timed out", values={}, ranking=())])
    found = one(side([0.5, 0.5, 0.5]), failed)
    assert (found.verdict.word, found.verdict.reasons) == ("not comparable", ("the candidate failed on 1 of 3 queries",))
    assert found.change.n == 2
    assert [unpaired.id for unpaired in found.unpaired] == ["q2"]


def test_a_configuration_that_answers_nothing_gets_no_verdict(side, query):
    silent = side([query(f"q{place}", 0.0, ranking=()) for place in range(8)])
    found = one(side([1.0] * 8), silent)
    assert (found.verdict.word, found.verdict.reasons) == ("not comparable", ("the candidate answered none of 8 queries",))
    # Two that say nothing are not praised as identical either.
    assert one(silent, silent).verdict.word == "not comparable"


def test_queries_name_both_ranks_and_rankings(side):
    found = one(side([1.0, 0.5, 0.2]), side([0.5, 1.0, 0.2]))
    assert [[change.id for change in found.of(outcome)] for outcome in ("worse", "better", "same")] == [["q0"], ["q1"], ["q2"]]
    (worse,) = found.of("worse")
    assert (worse.ranks, worse.values, worse.delta) == ((1, 2), (1.0, 0.5), -0.5)
    assert [ranking.index("q0.md") for ranking in worse.rankings] == [0, 1]


def test_a_category_that_falls_while_the_mean_rises_is_marked(side, query):
    before = side([query(f"q{place}", 0.5, category="rare" if place == 0 else "common") for place in range(4)])
    after = side([query(f"q{place}", 0.25 if place == 0 else 1.0, category="other name") for place in range(4)])
    found = one(before, after)
    assert [(each.category, each.n, each.delta, each.against) for each in found.categories] == [
        ("common", 3, 0.5, False),
        ("rare", 1, -0.25, True),
    ]


@pytest.mark.parametrize(
    ("after", "against"),
    [
        ([0.5, 1.0], [False, False]),  # one stays while the mean rises
        ([0.25, 0.75], [True, True]),  # one falls, one rises, the mean stays
        ([0.25, 1.0], [True, False]),
        ([0.5, 0.5], [False, False]),
    ],
)
def test_a_category_is_against_the_mean_only_where_it_moved(side, query, after, against):
    before = side([query(name, 0.5, category=name) for name in "ab"])
    candidate = side([query(name, 0.5, values={"mrr@10": value}) for name, value in zip("ab", after, strict=True)])
    assert [each.against for each in one(before, candidate).categories] == against


def test_no_evidence_is_only_said_where_a_tenth_would_have_shown(side):
    """Nothing changed of n: deviation sqrt(2 (n + 2)) / (n + 2), as detectable as .1 from 40 queries on."""
    words = {n: one(side([0.5] * n), side([0.5] * (n - 1) + [0.51])).verdict.word for n in (38, 42)}
    assert words == {38: "too few queries", 42: "no evidence of a difference"}


def test_paired_queries_without_a_value_are_counted_beside_the_word(side, query):
    candidate = side([1.0] + [0.5] * 13 + [query("q14", 0.5, values={})])
    assert one(side([0.5] * 15), candidate).verdict.reasons[-1] == "paired, but without a value of mrr@10 on one side: 1"


def test_pages_that_changed_are_said_beside_the_word(side):
    found = one(side([0.5] * 14), side([1.0] * 14, snapshot_sha256="t" * 64))
    assert found.verdict.word == "better"
    assert found.verdict.reasons[-1].startswith("confounded")


def test_a_family_of_candidates_pays_for_its_size(side):
    """6 wins of 6: p = .03125 alone, .0625 as the smaller of two, whether or not the other can be tested."""
    baseline, wins = side([0.5] * 14), side([0.5] * 8 + [1.0] * 6, name="wins")
    for other in (side([0.5] * 14, name="same"), side([0.5] * 14, name="other", depth=20)):
        first, _ = compare(baseline, [wins, other])
        assert (first.family, first.change.chance.p, first.change.chance.p_adjusted) == (2, 2 / 64, 4 / 64)
        assert first.verdict.word == "too few queries"
        assert first.change.chance.wins_needed == 7
    assert compare(baseline, [wins])[0].verdict.word == "better"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(RRS), st.sampled_from(RRS)), min_size=1, max_size=30))
def test_swapping_the_sides_flips_the_sign_and_keeps_p(side, pairs):
    there = one(side([before for before, _ in pairs]), side([after for _, after in pairs]))
    back = one(side([after for _, after in pairs]), side([before for before, _ in pairs]))
    assert there.change.delta == -back.change.delta
    assert (there.change.wins, there.change.losses) == (back.change.losses, back.change.wins)
    assert there.change.chance.p == back.change.chance.p
    swapped = {"better": "worse", "worse": "better"}
    assert there.verdict.word == swapped.get(back.verdict.word, back.verdict.word)
    assert (there.change.interval.low, there.change.interval.high) == pytest.approx(
        (-back.change.interval.high, -back.change.interval.low)
    )
