from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.errors import UsageError
from vault_eval.retrievers.spec import (
    Spec,
    bm25_parameters,
    kinds,
    number_setting,
    parse_specs,
    refuse_unknown_settings,
    whole_setting,
)


def parsed(*texts: str):
    return [(spec.text, spec.kind, dict(spec.settings)) for spec in parse_specs(texts)]


def refusal(*texts: str):
    with pytest.raises(UsageError) as error:
        parse_specs(texts)
    return str(error.value)


PLAIN = ("keyword", "keyword", {})
VARIANT = ("keyword:chunk-chars=1000,stem=english", "keyword", {"chunk-chars": "1000", "stem": "english"})
TUNED = ("keyword:k1=1.2,b=0.5", "keyword", {"k1": "1.2", "b": "0.5"})


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), []),
        (("keyword",), [PLAIN]),
        (("keyword:k1=1.2,b=0.5",), [TUNED]),
        (("keyword:k1=1.2,b=0.5,keyword",), [TUNED, PLAIN]),
        (("keyword,keyword:k1=1.2,b=0.5",), [PLAIN, TUNED]),
        (("keyword", "keyword:k1=1.2,b=0.5"), [PLAIN, TUNED]),
        ((" keyword , keyword:k1=1.2, b=0.5 ",), [PLAIN, TUNED]),
        (
            ("keyword:k1=1,keyword:k1=2",),
            [("keyword:k1=1", "keyword", {"k1": "1"}), ("keyword:k1=2", "keyword", {"k1": "2"})],
        ),
        (("keyword:k1=a=b",), [("keyword:k1=a=b", "keyword", {"k1": "a=b"})]),
        (("keyword:k1,b=0.5",), [("keyword:k1,b=0.5", "keyword", {"k1": "", "b": "0.5"})]),
        (("keyword:chunk-chars=1000,stem=english",), [VARIANT]),
        (("hybrid+rerank,keyword",), [("hybrid+rerank", "hybrid+rerank", {}), PLAIN]),
    ],
)
def test_commas_part_specs_and_settings(texts, expected):
    assert parsed(*texts) == expected


@pytest.mark.parametrize(
    "text",
    ["keywrod", "", " ", "Keyword", "keyword,", ",keyword", "k1=2", "protocol", "select", "spec", "../keyword", "key_word"],
)
def test_unknown_searcher_is_refused_with_those_there_are(text):
    message = refusal(text)
    assert "there is no searcher" in message
    assert message.endswith(f"there are {', '.join(kinds())}")
    assert "keyword" in kinds()


@pytest.mark.parametrize(
    ("text", "pair"),
    [("keyword:", ""), ("keyword:k1=", "k1="), ("keyword:=2", "=2"), ("keyword:k1=1,k1=2", "k1=2")],
)
def test_what_is_no_setting_is_refused(text, pair):
    assert refusal(text) == f"--retriever {text!r}: {pair!r} is no setting; write NAME=VALUE, each name once"


def test_bare_word_where_a_number_belongs_is_refused():
    (spec,) = parse_specs(["keyword:k1"])
    with pytest.raises(UsageError, match=re.escape("k1='' is not allowed; k1 is a number from 0 to 100")):
        bm25_parameters(spec)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("run:a, b.trec", [("run:a, b.trec", "a, b.trec")]),
        (
            "keyword,command:rg -l {query},x=1,title",
            [("keyword", ""), ("command:rg -l {query},x=1,title", "rg -l {query},x=1,title")],
        ),
        ("mcp:server --a=b,c", [("mcp:server --a=b,c", "server --a=b,c")]),
        ("http:omnisearch,keyword", [("http:omnisearch,keyword", "omnisearch,keyword")]),
    ],
)
def test_text_after_a_program_address_or_file_is_kept_whole(option, expected):
    assert [(spec.text, spec.rest) for spec in parse_specs([option])] == expected


def test_two_programs_are_two_configurations_and_the_same_one_twice_is_not():
    assert len(parse_specs(["run:a.trec", "run:b.trec"])) == 2
    assert "is given twice" in refusal("run:a.trec", "run:a.trec")


@pytest.mark.parametrize(
    "texts", [("keyword", "keyword"), ("keyword,keyword",), ("keyword:k1=1,b=0", "keyword:b=0,k1=1"), ("keyword", " keyword")]
)
def test_same_configuration_twice_is_refused(texts):
    assert "is given twice; give each configuration once" in refusal(*texts)


def test_messages_are_bounded_and_escaped():
    message = refusal("\x1b[31m" + "x" * 10_000)
    assert "\x1b" not in message
    assert len(message) < 400


def test_every_kind_has_its_module_and_one_way_to_write_it():
    assert all(re.fullmatch(r"[a-z0-9]+([-+][a-z0-9]+)*", kind) for kind in kinds())
    assert not {"protocol", "select", "spec"} & set(kinds())
    assert list(kinds()) == sorted(kinds())


@pytest.mark.parametrize(
    ("text", "value"), [(None, 1.5), ("2", 2.0), ("0", 0.0), ("100", 100.0), ("1e1", 10.0), (".5", 0.5), ("2.", 2.0)]
)
def test_number_within_bounds_is_read(text, value):
    spec = Spec("keyword", "keyword", {} if text is None else {"k1": text})
    assert number_setting(spec, "k1", 1.5, 0.0, 100.0) == value


@pytest.mark.parametrize(
    "text", ["-1", "100.1", "nan", "inf", "-inf", "a", "1,2", "0x1", "1 2", "1_0", "\uff10.5", "\u0663", "+1", "1.2.3", "."]
)
def test_number_out_of_bounds_is_refused_with_what_is_allowed(text):
    with pytest.raises(UsageError) as error:
        number_setting(Spec(f"keyword:k1={text}", "keyword", {"k1": text}), "k1", 1.5, 0.0, 100.0)
    assert str(error.value) == f"--retriever 'keyword:k1={text}': k1={text!r} is not allowed; k1 is a number from 0 to 100"


@pytest.mark.parametrize(("text", "value"), [(None, 20), ("1", 1), ("1000", 1000), ("1e3", 1000), ("7.0", 7)])
def test_whole_number_within_bounds_is_read(text, value):
    found = whole_setting(Spec("hybrid", "hybrid", {} if text is None else {"pool": text}), "pool", 20, 1, 1_000)
    assert (found, type(found)) == (value, int)


@pytest.mark.parametrize("text", ["0", "1001", "1.5", "1e999", "-1", "a", ""])
def test_what_is_no_whole_number_within_bounds_is_refused_with_what_is_allowed(text):
    with pytest.raises(UsageError) as error:
        whole_setting(Spec(f"hybrid:pool={text}", "hybrid", {"pool": text}), "pool", 20, 1, 1_000)
    expected = f"pool={text!r} is not allowed; pool is a whole number from 1 to 1,000"
    assert str(error.value) == f"--retriever 'hybrid:pool={text}': {expected}"


def test_setting_that_a_kind_lacks_is_refused_with_those_it_has():
    spec = Spec("keyword:k2=1", "keyword", {"k2": "1"})
    with pytest.raises(UsageError, match="keyword has no setting 'k2'; it has k1, b"):
        refuse_unknown_settings(spec, ("k1", "b"))
    with pytest.raises(UsageError, match="keyword has no setting 'k2'; it has none"):
        refuse_unknown_settings(spec, ())
    refuse_unknown_settings(spec, ("k2",))


def test_bm25_parameters_are_those_given_or_the_defaults():
    assert bm25_parameters(Spec("keyword", "keyword", {})) == (1.5, 0.75)
    assert bm25_parameters(Spec("keyword:k1=1.2,b=0", "keyword", {"k1": "1.2", "b": "0"})) == (1.2, 0.0)
    with pytest.raises(UsageError, match="b is a number from 0 to 1"):
        bm25_parameters(Spec("keyword:b=2", "keyword", {"b": "2"}))
    with pytest.raises(UsageError, match="no setting 'c'; it has k1, b, chunk-chars"):
        bm25_parameters(Spec("keyword:c=2", "keyword", {"c": "2"}))


@given(st.dictionaries(st.sampled_from(["k1", "b", "c"]), st.integers(0, 9).map(str)))
def test_spec_comes_back_from_its_text(settings):
    text = "keyword" + (":" if settings else "") + ",".join(f"{name}={value}" for name, value in settings.items())
    assert parsed(text) == [(text, "keyword", settings)]


@given(st.text(max_size=40))
def test_any_text_is_specs_or_a_usage_error(text):
    try:
        specs = parse_specs([text])
    except UsageError:
        return
    assert {spec.kind for spec in specs} <= set(kinds())
