"""Terms: what a word is, the same for notes and queries."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.errors import UsageError
from vault_eval.index import terms as terms_module
from vault_eval.index.terms import Analyzer, is_run, without_data_uris, word_places

# Scripts that take another way each: ASCII, case, marks, no blanks, compatibility forms, joints, invisible characters.
LETTERS = "aZ9_ .-@:\n'’‐–ıİßſKéЖʼאَहिि्กัກ້កာ潮ガｶﾞ한ᄒ\u0301\u0307\u200b\u00ad\ufe0f\U0001f680½ﷺⅣǅ"
TEXTS = st.one_of(st.text(), st.text(alphabet=LETTERS), st.text(alphabet="aB1_.-", max_size=300))


def terms(text):
    return Analyzer().terms(text)


def meets(query, note):
    """Whether every term of the query stands in the note."""
    return bool(terms(query)) and set(terms(query)) <= set(terms(note))


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("盆栽教室", "この文書は趣味の盆栽教室について書いたものです。"),
        ("备份", "我们每天复盘系统备份情况。"),
        ("도서관", "오늘은 도서관에서 끝말잇기를 했다."),
        ("潮位", "系统的潮位表在这里。"),
        ("潮", "系统的潮位表在这里。"),
        ("AI tutor", "The Go board has an AI tutor."),
        ("Go board", "The Go board has an AI tutor."),
        ("github", "GitHub备份脚本上传失败了"),
        ("备份脚本", "GitHub备份脚本上传失败了"),
        ("GitHub备份", "GitHub备份脚本上传失败了"),
        ("समुद्र", "मुंबई समुद्र किनारे"),
        ("கடல்", "கடல் அலை"),
        ("كِتَابًا", "قَرَأتُ كِتَابًا"),
        ("vpn 2025", "ＶＰＮ 接続手順 ２０２５"),
        ("ガイド", "ﾌﾟﾛｸﾞﾗﾑ ｶﾞｲﾄﾞ"),
        ("ﾌﾟﾛｸﾞﾗﾑ", "プログラム"),
        ("istanbul", "İstanbul"),
        ("İSTANBUL", "ISTANBUL"),
        ("izmir", "Karargâh İZMİR yolunda."),
        ("IŞIK", "Oda ışığı ışık ışık."),
        ("HAFENSTRASSE", "Die Hafenstraße ist gesperrt."),
        ("ΟΔΌΣ", "Η οδός του λιμανιού."),
        ("finial flywheel", "The ﬁnial and the ﬂywheel."),
        ("getuserprofile", "getUserProfile()"),
        ("get user profile", "getUserProfile()"),
        ("agentic os", "The agentic-os dashboard"),
        ("-dashboard", "The agentic-os dashboard"),
        ("e-mail relay", "The e‑mail relay"),
        ("log-in page", "the log–in page"),
        ("1.2.3", "# Release 1.2.3"),
        ("C++ C#", "Rewritten from C++ to C# on .NET"),
        ("ops@harbour.example", "mail ops@harbour.example."),
        ("п'ять", "пʼять"),  # U+02BC, an apostrophe that Unicode takes for a letter
        ("п’ять", "пʼять"),
        ("辻", "辻\U000e0100"),  # with a variation selector: the same letter, another glyph
        ("co\u00adoperate", "cooperate"),
        ("zero\u200bwidth", "zerowidth"),
        ("हिन्दी", "日本हिन्दी"),  # no blank between scripts
        ("tides", 'spring OR (tides NEAR "x*" --title:tides'),
    ],
)
def test_query_meets_the_word_in_the_note(query, note):
    assert meets(query, note)


def test_an_identifier_counts_whole_in_its_parts_and_in_its_humps():
    assert terms("atomic_write_json") == ["atomic_write_json", "atomic", "write", "json"]
    assert terms("getUserProfile") == ["getuserprofile", "get", "user", "profile"]
    assert terms("HTTPServer v1.2.3-rc.1") == ["httpserver", "http", "server", "v1.2.3-rc.1", "v1", "2", "3", "rc", "1"]
    assert terms("a:b élanVital") == ["a:b", "a", "b", "élanvital", "élan", "vital"]


def test_two_versions_of_the_same_numbers_differ_by_the_whole():
    assert set(terms("1.2.3")) ^ set(terms("3.2.1")) == {"1.2.3", "3.2.1"}


def test_text_without_letters_has_no_terms():
    assert terms("?! ... () 🚀 — ** __ … ❤️ \u200b\u00ad") == []


def test_no_word_is_left_out_however_short_or_common():
    assert terms("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


def test_scripts_without_blanks_give_runs_of_one_to_three_characters():
    assert terms("潮位表") == ["潮", "位", "表", "潮位", "位表", "潮位表"]
    assert terms("กข") == ["ก", "ข", "กข"]


def test_a_letter_is_of_a_script_without_blanks_where_the_pattern_of_runs_says_so():
    pattern = re.compile(f"[{terms_module._UNSPACED}]")
    letters = [*map(chr, range(0x30000)), *map(chr, range(0x30000, sys.maxunicode + 1, 997))]
    assert [one for one in letters if is_run(one)] == [one for one in letters if pattern.match(one)]


def test_every_combining_mark_stays_in_its_word():
    """Each Mn and Mc the running Python knows: none is missing from the list of marks, up to Unicode 15.1 at least."""
    fallen = []
    for code in range(0x300, sys.maxunicode + 1):
        mark = chr(code)
        if unicodedata.category(mark) in {"Mn", "Mc"} and unicodedata.name(mark, "") and code not in terms_module._INVISIBLE:
            base = "漢" if terms_module._is_unspaced(mark) else "a"
            longest = max(terms(f"{base}{mark}{base}"), key=len, default="")
            plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", f"{base}{mark}{base}").casefold())
            if longest != plain[:3] and longest != plain:
                fallen.append(f"U+{code:04X}")
    assert fallen == []


def test_marks_dropped_are_only_those_that_do_not_show():
    dropped = [chr(code) for code in terms_module._INVISIBLE if unicodedata.category(chr(code)) in {"Mn", "Mc"}]
    assert all("VARIATION SELECTOR" in unicodedata.name(mark) or mark == "\u034f" for mark in dropped)


@given(TEXTS)
def test_counts_are_those_of_the_terms(text):
    analyzer = Analyzer()
    assert Counter(analyzer.terms(text)) == analyzer.counts(text)
    assert Counter(analyzer.terms(text)) == analyzer.counts(text), "a second time, from memory"


@given(TEXTS, TEXTS)
def test_terms_of_two_lines_are_those_of_the_first_and_those_of_the_second(first, second):
    """Whatever else stands in a note, a word gives the terms it gives as a query."""
    assert terms(first) + terms(second) == terms(f"{first}\n{second}")


@given(TEXTS)
def test_unicode_form_of_a_file_or_query_makes_no_difference(text):
    assert terms(text) == terms(unicodedata.normalize("NFD", text))
    assert terms(text) == terms(unicodedata.normalize("NFC", text))


@given(TEXTS)
def test_no_term_is_empty_or_holds_a_blank(text):
    assert all(term and not any(letter.isspace() for letter in term) for term in terms(text))


@given(st.text(alphabet="abcxyzABC ", max_size=60))
def test_letter_case_of_a_plain_word_makes_no_difference(text):
    assert terms(text.lower()) == terms(text.lower().upper())


@pytest.mark.parametrize(
    "uri",
    [
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA+/==",
        "data:text/plain;charset=utf-8;base64,aGVsbG8=",
        "data:;base64,aGVsbG8=",
        "data:image/svg+xml;utf8,%3Csvg%20xmlns=%22x%22/%3E",
        "data:application/octet-stream;base64," + "QUJD" * 5000,
    ],
)
def test_data_uris_give_no_terms(uri):
    assert terms(f"![a chart]({uri}) after") == ["a", "chart", "after"]
    assert terms(f'<img src="{uri}">') == ["img", "src"]
    assert len(without_data_uris(f"x {uri} y")) == len(f"x {uri} y")


@pytest.mark.parametrize("text", ["data: tides/swell, wind", "metadata:a/b,c", "data:tide/swell,wind", "base64, data"])
def test_prose_about_data_keeps_its_words(text):
    assert without_data_uris(text) == text


def test_a_very_long_token_is_cut_and_still_meets_itself():
    blob = "Ab9" * 100_000
    assert [len(term) for term in terms(blob)] == [128]
    assert meets(blob, f"before {blob} after")


def test_a_long_run_without_blanks_still_gives_all_its_grams():
    assert Counter(terms("潮" * 10_000)) == {"潮": 10_000, "潮潮": 9_999, "潮潮潮": 9_998}


def test_memory_of_known_words_is_bounded(monkeypatch):
    monkeypatch.setattr(terms_module, "_CACHED_WORDS_MAX", 50)
    analyzer = Analyzer()
    for number in range(1000):
        assert analyzer.terms(f"word{number}") == [f"word{number}"]
        assert len(analyzer._known) <= 50
    analyzer.terms("x" * 25)
    assert "x" * 25 not in analyzer._known


def test_stemming_is_the_same_on_both_sides():
    pytest.importorskip("snowballstemmer")
    analyzer = Analyzer("english")
    assert analyzer.terms("Sailing boats") == analyzer.terms("sail boat")


def test_an_unknown_stemming_language_names_those_there_are():
    pytest.importorskip("snowballstemmer")
    with pytest.raises(UsageError, match=r"--stem 'klingon': allowed are none, .*english"):
        Analyzer("klingon")


def places(text):
    return [text[start:end] for start, end in word_places(text)]


def test_places_of_words_are_those_of_the_text_as_it_stands():
    assert places("My-backup.md: Stra\u00adße, don’t") == ["My", "backup", "md", "Stra\u00adße", "don", "t"]
    assert places("यह हिन्दी है") == ["यह", "हिन्दी", "है"]
    assert places("用git备份") == ["用", "git", "备", "份", "备份"]
    assert places("…, – ") == places("") == []


@given(TEXTS)
def test_every_place_of_a_word_lies_in_the_text_and_holds_no_blank(text):
    for start, end in word_places(text):
        assert 0 <= start < end <= len(text)
        assert not re.search(r"\s", text[start:end])


@given(st.text("abXY09 -.:@'", max_size=30))
def test_words_at_their_places_give_the_terms_of_the_text_but_for_whole_identifiers(text):
    analyzer = Analyzer()
    parts = {term for term in analyzer.terms(text) if term.isalnum()}
    assert {term for word in places(text) for term in analyzer.terms(word)} == parts
