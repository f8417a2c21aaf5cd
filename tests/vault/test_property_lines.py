"""Which lines belong to a property, held against what YAML itself reads."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.labels.property import questions_of
from vault_eval.vault.note import frontmatter_tree
from vault_eval.vault.note_text import body_digest, with_empty_property, without_properties
from vault_eval.vault.yaml_tree import YamlScalar

# How people and programs write a list of questions; each is the whole property. All but the last four hold two questions.
LISTS = {
    "block": "answers:\n- a b\n- c\n",
    "indented": "answers:\n    - a b\n\n    - 'c' # d\n",
    "quoted key": '"answers" : # e\n  - a b\n  - c\n',
    "comment at the margin": "answers:\n# asked by Ann\n- a b\n# and by Bob\n\n- c\n",
    "comment before the first item": "answers:\n  # 'one\n  - a b\n  - c\n",
    "brackets": "answers: [a b, c]\n",
    "brackets at the margin": 'answers: [\n"a b",\nc\n]\n',
    "brackets further in": "answers:\n  [\na b,\n  c]\n",
    "bracket in quotes": "answers: [\n\"a ] b\",\n'c ] ''d'\n]\n",
    "bracket in a comment": "answers: [ # one ]\na b, # two ]\n# three ]\nc]\n",
    "apostrophe in brackets": "answers: [don't\n know, isn't\nit]\n",
    "hash in brackets": "answers: [a#b,\nc]\n",
    "escaped quote": 'answers: [\n"a \\" ] b",\n"c"\n]\n',
    "quotes over two lines": "answers:\n- \"a\nb\"\n- 'c\n\nd'\n",
    "folded": 'answers:\n  - >-\n    a\n\n    # b\n  - |\n    - "c\n    d [\n',
    "brackets in plain text": "answers:\n  - what [is\n  - it 'or\n    \"not\n",
    "one": "answers: [a]\n",
    "empty": "answers:\n",
    "empty brackets": "answers: []\n",
    "null": "answers: ~\n",
}
OTHERS = (
    "z: 1\n",
    "tags: [x, y]\n",
    "tags:\n- x\n",
    'q: "it\'s"\n',
    "# comment\n",
    "text: |\n  answers:\n    - x\n",
    "s: 'a] b'\n",
)


def without(block: str) -> str:
    return without_properties(f"---\n{block}---\nbody\n")


@pytest.mark.parametrize("written", LISTS.values(), ids=LISTS)
def test_all_of_the_property_is_left_out_and_nothing_else(written):
    assert without(f"a: 1\n{written}b: 2\n") == "---\na: 1\nb: 2\n---\nbody\n"
    assert without(written) == "body\n"  # nothing else was between the fences
    crlf = f"---\r\na: 1\r\n{written}---\r\n".replace("\r\n", "\n").replace("\n", "\r\n").encode()
    assert body_digest(crlf) == body_digest(b"---\r\na: 1\r\n---\r\n")


@pytest.mark.parametrize("written", [*LISTS.values()][:-4], ids=[*LISTS][:-4])
def test_these_are_lists_of_two_questions_to_the_reader_of_labels(written):
    assert len(questions_of("A.md", f"---\na: 1\n{written}b: 2\n---\n", "answers")) == 2


@given(st.lists(st.sampled_from(OTHERS), max_size=3, unique_by=lambda one: one.split(":")[0]), st.data())
def test_other_properties_are_what_they_were(others, data):
    at = data.draw(st.integers(0, len(others)))
    written = data.draw(st.sampled_from([*LISTS.values()]))
    note = "---\n" + "".join([*others[:at], written, *others[at:], "last: 1\n"]) + "---\n"
    left = frontmatter_tree(without_properties(note)).pairs
    before = [(key, value) for key, value in frontmatter_tree(note).pairs if not _is_answers(key)]
    assert [(_text(key), _text(value)) for key, value in left] == [(_text(key), _text(value)) for key, value in before]
    assert without_properties(note) == "---\n" + "".join([*others, "last: 1\n"]) + "---\n"


def _is_answers(key) -> bool:
    return isinstance(key, YamlScalar) and key.text == "answers"


def _text(node) -> object:
    return node.text if isinstance(node, YamlScalar) else [_text(item) for item in node.items]


@pytest.mark.parametrize("below", ["# of b\nb: 1\n", "\n# of b\n\nb: 1\n", "# the end\n"])
def test_a_comment_below_the_property_stays(below):
    assert without(f"answers:\n- a\n{below}") == f"---\n{below}---\nbody\n"


def test_what_nothing_closes_takes_no_other_property_with_it():
    assert without("answers: [a,\nb: 1\n") == "---\nb: 1\n---\nbody\n"
    assert without("answers:\n- 'a\nb: it is\n") == "---\nb: it is\n---\nbody\n"


def test_other_lines_keep_their_numbers_where_they_are_asked_for():
    assert with_empty_property('---\nanswers: [\n"a"\n]\nb: 1\n---\n') == "---\n\n\n\nb: 1\n---\n"


@pytest.mark.parametrize("line", ["- [", "- '", '- "\\', "- [a, 'b", "answers: ["])
def test_many_lines_that_nothing_closes_take_no_time(line):
    started = time.monotonic()
    without("answers:\n" + f"{line}\n" * 20_000)
    assert time.monotonic() - started < 5
