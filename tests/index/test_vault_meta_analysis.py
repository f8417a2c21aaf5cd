"""Terms as a claude-obsidian index counts them, by its own rules and not by ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.index.vault_meta.analysis import TEXT_MAX_CHARACTERS, TEXT_MAX_TERMS, TextTooLongError, terms_of

CASES = {
    "stop words and single letters are left out": ("The C of a ship", ["ship"]),
    "apostrophes and hyphens stay inside": ("user's well-formed 'quoted' -dash-", ["user's", "well-formed", "quoted", "dash"]),
    "identifiers stay whole": ("search_term _private_ a.b", ["search_term", "private"]),
    "letters are lowered, not folded": ("Straße STRASSE İz", ["straße", "strasse", "i̇z"]),
    "full width is narrow": ("ＡＢＣ １２", ["abc", "12"]),
    "chinese is cut in runs of one to three": ("码头船", ["码", "头", "船", "码头", "头船", "码头船"]),
    "repeats are kept": ("tide tide 港港", ["tide", "tide", "港", "港", "港港"]),
    "a word is parted where the script changes": ("v2码头-x版", ["v2", "码", "头", "码头", "版"]),
    "kana and hangul are cut too": ("ふね 항구", ["ふ", "ね", "ふね", "항", "구", "항구"]),
    "marks part thai words": ("ท่าเรือ", ["าเร"]),
    "marks part hindi words": ("लंगर", ["गर"]),
    "nothing but signs": ("— … 🚢 !", []),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_terms(text, expected):
    assert terms_of(text) == expected


def test_text_at_the_bounds_is_taken_and_beyond_them_refused():
    assert terms_of("ab " * (TEXT_MAX_CHARACTERS // 3)) == ["ab"] * (TEXT_MAX_CHARACTERS // 3)
    with pytest.raises(TextTooLongError, match="8,001 characters, of which"):
        terms_of("x" * (TEXT_MAX_CHARACTERS + 1))
    # One sign that NFKC makes eighteen of.
    with pytest.raises(TextTooLongError, match="9,000 characters in NFKC"):
        terms_of("\ufdfa" * 500)
    # A run of n characters has 3n - 3 sequences: 6,668 of them are 20,001.
    assert len(terms_of("港" * 6_667)) == 19_998 <= TEXT_MAX_TERMS
    with pytest.raises(TextTooLongError, match="20,001 terms"):
        terms_of("港" * 6_668)


@given(st.text(max_size=60))
def test_terms_are_never_empty_and_the_same_whatever_stands_around(text):
    terms = terms_of(text)
    assert all(terms)
    assert terms_of(f"  {text}\n") == terms
