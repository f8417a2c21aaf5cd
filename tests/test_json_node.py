from __future__ import annotations

import pytest

from vault_eval.errors import UsageError
from vault_eval.json_node import Node

ADVICE = "this is no list of ours; make it again"


def refusal(value: object, read) -> str:
    with pytest.raises(UsageError) as error:
        read(Node(value, "l.json", ADVICE))
    return str(error.value)


@pytest.mark.parametrize(
    ("value", "read", "said"),
    [
        ({"a": [{"b": 7}]}, lambda top: next(top["a"].items())["b"].text(), "l.json: a[0]: b: found '7', allowed is text"),
        ({"a": 1}, lambda top: top["b"], "l.json: found \"{'a': 1}\", allowed is an object with the key 'b'"),
        (
            {"a": {"b": True}},
            lambda top: dict(top["a"].members())["b"].whole(),
            "l.json: a: b: found 'True', allowed is a whole number",
        ),
        ({"a": "x" * 99}, lambda top: top["a"].number(), f"l.json: a: found '{'x' * 60}', allowed is a number"),
        ({"a": "z"}, lambda top: top["a"].one_of(("x", "y")), "l.json: a: found 'z', allowed is x, y"),
    ],
)
def test_what_is_not_allowed_is_named_with_its_place_and_closed_with_the_advice(value, read, said):
    assert refusal(value, read) == f"{said}; {ADVICE}"


def test_key_that_a_terminal_would_obey_is_shown_escaped():
    assert refusal({"\x1b[2J": 1}, lambda top: top["\x1b[2J"].text()).startswith(r"l.json: '\x1b[2J': found '1', ")
