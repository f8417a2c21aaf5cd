from __future__ import annotations

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.strict_json import StrictJsonError, dumps, encode, loads

# Two halves of one character side by side are, in JSON, that character: no file name holds them.
TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF))
SCALARS = (
    st.none() | st.booleans() | st.integers(1 - 10**100, 10**100 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


def refusal(text):
    with pytest.raises(StrictJsonError) as error:
        loads(text)
    assert isinstance(error.value, ValueError)
    return error.value


@given(VALUES, st.integers(0, 4), st.booleans())
def test_value_comes_back_from_every_form(value, spread, ascii_only):
    text = dumps(value, spread=spread, ascii_only=ascii_only)
    assert loads(text) == value
    assert loads(encode(text).decode("utf-8")) == value
    assert json.loads(text) == value
    assert text.isascii() or not ascii_only


@given(VALUES, st.integers(0, 4))
def test_strict_reading_agrees_with_pythons(value, indent):
    assert loads(json.dumps(value, indent=indent)) == value


@given(st.text())
def test_any_text_is_a_value_or_a_strict_error(text):
    with contextlib.suppress(StrictJsonError):
        loads(text)


def test_keys_keep_their_order():
    assert list(loads('{"b": 1, "a": 2}')) == ["b", "a"]
    assert dumps({"b": 1, "a": 2}) == '{"b": 1, "a": 2}'


def test_spread_gives_one_line_an_entry_for_the_outer_levels():
    value = {"a": [1, [2, 3]], "b": {}, "c": [], "d": {"e": (4, 5)}}
    assert dumps(value, spread=1) == '{\n"a": [1, [2, 3]],\n"b": {},\n"c": [],\n"d": {"e": [4, 5]}\n}'
    assert dumps(value, spread=2) == '{\n"a": [\n1,\n[2, 3]\n],\n"b": {},\n"c": [],\n"d": {\n"e": [4, 5]\n}\n}'
    assert dumps("x", spread=3) == '"x"'


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]', '{"a": 1, "\\u0061": 2}'])
def test_repeated_key_is_refused_by_name(text):
    assert "the key 'a' is repeated; write it once" in str(refusal(text))


def test_repeated_key_names_the_object_by_its_id():
    assert (
        str(refusal('{"id": "q7", "query": "x", "query": "y"}'))
        == "the key 'query' is repeated in the object with id 'q7'; write it once"
    )


def test_messages_are_bounded_and_escaped():
    message = str(refusal(json.dumps({"id": "\x1b" * 500})[:-1] + ', "' + "k" * 500 + '": 1, "' + "k" * 500 + '": 1}'))
    assert "\x1b" not in message
    assert len(message) < 300


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[NaN]", '{"a": -Infinity}'])
def test_what_is_no_json_number_is_refused(text):
    assert "is not JSON" in str(refusal(text))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1E+999", "9" * 101])
def test_refused_number_is_told_with_its_line(number):
    """The same letters before it, in texts with escapes and in a longer number's place, are not it."""
    text = f'{{"{number}": "\\"{number}",\n"a": ["\\\\", 1e9],\n\n"b": [1, {number}],\n"c": {number}}}'
    assert refusal(text).line == 4


@pytest.mark.parametrize("number", ["1e999", "9" * 101])
@pytest.mark.parametrize("rest", ["e", "-1", ".", "e+", "x"])
def test_line_is_told_where_a_refused_number_runs_on(number, rest):
    assert refusal(f"[\n{number}{rest}]").line == 2


@pytest.mark.parametrize("text", ["1e400", "-1e400", "[1e309]", "9" * 400 + ".0", "1" + "0" * 400 + "e1"])
def test_number_that_overflows_is_refused(text):
    message = str(refusal(text))
    assert "too large" in message
    assert len(message) < 100


def test_largest_and_smallest_numbers_are_read():
    assert loads("1.7976931348623157e308") == 1.7976931348623157e308
    assert loads("5e-324") == 5e-324
    assert loads("-0") == 0
    assert math.copysign(1, loads("-0.0")) == -1


def test_integer_of_a_hundred_digits_is_read_and_a_longer_one_is_not():
    assert loads("9" * 100) == 10**100 - 1
    assert loads("-" + "9" * 100) == 1 - 10**100
    assert "an integer of 101 digits; at most 100 are read" in str(refusal("9" * 101))
    assert "5000 digits" in str(refusal("9" * 5_000))


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}"), ('[{"a": ', "}]")])
def test_a_hundred_levels_are_read_and_more_are_not_whatever_the_interpreter(opening, closing):
    levels = 100 // opening.count("[" if "{" not in opening else "{") // (2 if opening.startswith("[{") else 1)
    assert loads(opening * levels + "1" + closing * levels)
    for depth in (levels + 1, 3_000, 200_000):
        assert "nested deeper than 100 levels" in str(refusal(opening * depth + "1" + closing * depth))


def test_wide_values_are_not_deep():
    assert len(loads("[" + "[[]]," * 50_000 + "[]]")) == 50_001


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("{", 1),
        ("\n\n{,}", 3),
        ("[1] 2", 1),
        ("'a'", 1),
        ("\ufeff{}", 1),
        ('"a\nb"', 1),
        ("01", 1),
        ("tru", 1),
        ("{a: 1}", 1),
    ],
)
def test_bad_syntax_names_line_and_column(text, line):
    error = refusal(text)
    assert error.line == line
    assert str(error).startswith("not JSON: ")
    assert " at column " in str(error)


@pytest.mark.parametrize(("text", "line"), [("[1,]", 1), ('{"a": 1,\n}', 1), ("[\n1,\n2,\n\n]", 3)])
def test_a_comma_after_the_last_entry_is_named_with_its_own_line(text, line):
    error = refusal(text)
    assert (str(error), error.line) == ("not JSON: there is a comma after the last entry; remove it", line)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")], {"a": float("nan")}])
@pytest.mark.parametrize("spread", [0, 2])
def test_nan_and_infinity_are_never_written(value, spread):
    with pytest.raises(ValueError, match="JSON compliant"):
        dumps(value, spread=spread)


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {"a": {1}}, [b"x"]])
@pytest.mark.parametrize("spread", [0, 2])
def test_what_json_has_no_form_for_is_never_written(value, spread):
    with pytest.raises(TypeError):
        dumps(value, spread=spread)


def test_key_that_is_no_text_is_not_written_as_bad_json():
    for key in (1, None, True, (1,)):
        with pytest.raises(TypeError, match="a key of an object is text"):
            dumps({key: 1}, spread=1)


@pytest.mark.parametrize("text", ["bad\udcff.md", "\udc80", 'a"\\\udcfe\n', "\\\udcff"])
def test_file_name_that_is_not_utf8_survives_writing_and_reading(text):
    written = encode(dumps({text: text}))
    assert loads(written.decode("utf-8")) == {text: text}
    assert loads(dumps(text, ascii_only=True)) == text


def test_text_is_written_as_it_is():
    assert encode(dumps("潮 é </script> \u2028")).decode() == '"潮 é </script> \u2028"'
    assert dumps("潮", ascii_only=True) == '"\\u6f6e"'
