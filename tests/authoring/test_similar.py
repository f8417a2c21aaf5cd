from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.authoring.similar import SAME_MIN_SHARE, QueryTwins
from vault_eval.index.terms import Analyzer


def are_twins(one: str, other: str) -> bool:
    twins = QueryTwins(Analyzer())
    twins.add("one", one)
    return twins.add("other", other) == "one"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("when is high water", "When is HIGH water?", True),
        ("water high is when", "when is high water", True),
        # {what went wrong with the launch} of {what went wrong with the product launch}: 6 of 7 = 0.86
        ("what went wrong with the launch", "what went wrong with the product launch", True),
        # {file properties} of {query file properties}: 2 of 3 = 0.67
        ("file properties", "query file properties", False),
        # {fuel dock hours} of {fuel dock hours today}: 3 of 4, just enough
        ("fuel dock hours", "fuel dock hours today", True),
        ("fuel dock hours", "fuel dock prices", False),
        ("软实力和硬通货是什么", "软实力和硬通货是什么？", True),
        ("软实力和硬通货是什么", "锂电池怎么充电", False),
    ],
)
def test_twins_share_three_quarters_of_their_terms(one, other, expected):
    assert are_twins(one, other) == are_twins(other, one) == expected


WORDS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8).map(" ".join)


@given(st.lists(WORDS, min_size=2, max_size=8))
def test_looking_at_the_first_terms_alone_misses_no_twin(queries):
    twins = QueryTwins(Analyzer())
    for number, query in enumerate(queries):
        terms = set(query.split())
        sets = [set(other.split()) for other in queries[:number]]
        first = next((at for at, other in enumerate(sets) if len(terms & other) >= SAME_MIN_SHARE * len(terms | other)), None)
        assert (twins.add(str(number), query) is None) == (first is None)


def test_the_first_twin_is_named():
    twins = QueryTwins(Analyzer())
    assert [twins.add(name, "high water") for name in "abc"] == [None, "a", "a"]
