from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.diagnosis.query_runs import in_own_words
from vault_eval.index.terms import Analyzer, is_run

QUESTION = "飞美国回来怎么调作息"


def lacking(query: str, *present: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for term in Analyzer().terms(query) if term not in present))


@pytest.mark.parametrize("query", [QUESTION, "お箸の持ち方", "시차적응하는법", "วิธีปรับเวลานอน"])
def test_a_question_of_which_nothing_is_there_is_shown_as_it_stands(query):
    assert in_own_words(query, lacking(query)) == (query,)


def test_what_is_there_parts_what_is_not():
    # 来 and 么 are there, alone; no run of more letters is, so that 回来怎 is covered by it as a whole.
    assert in_own_words(QUESTION, lacking(QUESTION, "来", "么")) == (QUESTION,)
    assert in_own_words(QUESTION, ("飞", "飞美", "怎么")) == ("飞美", "怎么")


def test_stretches_that_touch_are_one_and_those_of_two_words_are_two():
    assert in_own_words("飞美国", ("飞", "美")) == ("飞美",)
    assert in_own_words("飞 美国", ("飞", "美")) == ("飞", "美")
    assert in_own_words("美国,美", ("美",)) == ("美",), "said once"


def test_words_between_blanks_stay_as_they_are():
    terms = ("state-of-the-art", "lag", "ночь")
    assert in_own_words("State-of-the-art lag ночь", terms) is terms
    assert in_own_words("iPhone语言 怎么 switch", ("iphone", "i", "phone", "语", "言", "语言", "怎", "怎么", "switch")) == (
        *("iphone", "i", "phone"),
        *("语言", "怎么", "switch"),
    )


def test_a_mark_alone_is_no_word():
    query = "あ\u0301い"  # the index cuts it into あ, the mark, い, and the runs of them
    assert in_own_words(query, lacking(query)) == (query,)


def test_terms_that_the_query_does_not_hold_are_kept():
    assert in_own_words("飞美国", ("飞", "飛")) == ("飛", "飞")
    assert in_own_words("", ("飛", "lag")) == ("飛", "lag")


@given(
    st.text(alphabet="飞美国かなカ한국สัあ\u0301 -.aB1é", max_size=24).flatmap(
        lambda query: st.tuples(st.just(query), st.lists(st.sampled_from(lacking(query) or ("x",)), unique=True).map(tuple))
    )
)
def test_every_lacking_run_lies_in_what_is_shown_and_nothing_more_is_shown(drawn):
    query, terms = drawn
    shown = in_own_words(query, terms)
    assert all(any(term in one for one in shown) for term in terms)
    assert {term for term in terms if term.isascii()} <= set(shown)
    assert len(set(shown)) == len(shown)
    for run in filter(is_run, shown):
        for place in range(len(run)):
            assert any(run.startswith(term, start) for start in range(place + 1) for term in terms if start + len(term) > place)
