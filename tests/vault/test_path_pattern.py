"""A pattern finds what `re` finds, and never takes long over it."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.vault.path_pattern import PathPattern

# What people write into Obsidian's excluded files, and paths that tell them apart.
PATTERNS = (
    *(r"^Templates/", r"/_[^/]+/", r"\.excalidraw\.md$", r"^(?!Notes/).*", r"^(?!.*(Daily|Weekly)).*\.md$", r".*/attachments/.*"),
    *(r"^(?:(?!keep).)*$", r"^((?!(Inbox|Zettel)).)*$", r"^([^/]*/){3,}", r"^(?:[^/]+/)*_templates/", r"^(.*/)?Templates/"),
    *(r"^(.*/)*Archive/", r"\d{4}-\d{2}-\d{2}", r"(^|/)\.?draft(s|ed)?\b", r"(?<!Old )Log/", r"(?<=Sea/)T", r"[^\w/. -]"),
    *(r"(Daily|Weekly)+/\d+\.md", r"^(\w+\s?)*$", r"(a|aa)+$", r"(?:x*)*y", r"a{2,3}b?", r"", r"^$", r"\Btides\B", r".+?/(.+?)/"),
)
PATHS = (
    *("Templates/Daily.md", "a/Templates/x.md", "Notes/keep me.md", "Sea/Tides.md", "Log/2025-03-11.md", "Old Log/x.md"),
    *("A/B/C/D.md", "A/B.md", "x/_templates/y.md", "Inbox/Drafts/draft.md", "DRAFT.md", "Weekly/12.md", "DailyWeekly/3.md"),
    *("a/Archive/b/attachments/c.md", "Café/naïve.md", "Straße.md", "İ.md", "ſ.md", "K.md", "aaab", "aa", "a\nb.md", "a\n", ""),
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_people_write_finds_what_it_finds_with_re(pattern):
    made = PathPattern(pattern)
    expected = [re.search(pattern, path, re.IGNORECASE) is not None for path in PATHS]
    assert [made.is_found_in(path) for path in PATHS] == expected
    assert [made.is_followed_through(path) for path in PATHS] == expected


ATOMS = st.sampled_from(
    ["a", "B", "/", ".", r"\w", r"\W", r"\s", "[^a/]", "[a-c]", "[^b-c]", "^", "$", r"\b", r"\B", r"\A", r"\Z", ""]
)
REPEATS = st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{0,2}?", "{2,}"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, REPEATS),
        st.builds("(?{}{})".format, st.sampled_from("=!"), inner),
        st.builds("(?<{}{})".format, st.sampled_from("=!"), st.sampled_from(["a", "ab", "[^/]", "a|b"])),
    )


@given(st.recursive(ATOMS, _grown, max_leaves=8), st.text("aAbc/ \n", max_size=9))
def test_every_pattern_finds_what_re_finds(pattern: str, text: str) -> None:
    try:
        made = PathPattern(pattern)
    except re.error as error:
        assert "nested" in str(error) or "multiple repeat" in str(error)  # noqa: PT017 - the rest is understood
        return
    assert made.is_followed_through(text) == (re.search(pattern, text, re.IGNORECASE) is not None)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(\w+\s?)*$",
        r"^(a|aa)+$",
        r"(.*)*=",
        r"((a*)*)*=",
        r"(((a*)*)*)*=",
        ".*" * 30 + "=",
        "a?" * 60 + "a" * 600,
        r"^(?=(.*a.*)*=)",
        r"(?!((a+)+=)).*.*.*=",
        r"(a{0,99}){99}=",
    ],
)
def test_no_pattern_takes_long(pattern):
    made = PathPattern(pattern)
    started = time.monotonic()
    for path in ("a" * 25 + "!", "a" * 250 + "!", "a/" * 300 + "!"):
        assert not made.is_found_in(path)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(a)?(?(1)b|c)", "((((a*)*)*)*)*", "(?i:a)b", "(" * 60 + "a" + ")" * 60])
def test_what_is_not_followed_is_refused(pattern):
    with pytest.raises(re.error, match=r"references to groups, flags inside|are nested in each other"):
        PathPattern(pattern)
