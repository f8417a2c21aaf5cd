from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.authoring.frontmatter_edit import with_item
from vault_eval.errors import LabelError, UnreadableFileError
from vault_eval.labels.property import questions_of
from vault_eval.labels.rules import normalise_query
from vault_eval.vault.note_text import body_digest, decode, frontmatter_block

NEW = "when: is it?"


def added(before: str, name: str = "answers", item=NEW) -> str:
    return with_item(before.encode(), name, item).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("# Text\n", '---\nanswers:\n  - "when: is it?"\n---\n# Text\n', id="no frontmatter"),
        pytest.param("", '---\nanswers:\n  - "when: is it?"\n---\n', id="empty note"),
        pytest.param("---\n---\nx", '---\nanswers:\n  - "when: is it?"\n---\nx', id="empty frontmatter"),
        pytest.param("---\n# c\n---\n", '---\n# c\nanswers:\n  - "when: is it?"\n---\n', id="comments alone"),
        pytest.param("---\na: 1 # c\n---", '---\na: 1 # c\nanswers:\n  - "when: is it?"\n---', id="no final newline"),
        pytest.param("---\nanswers:\n---\n", '---\nanswers:\n  - "when: is it?"\n---\n', id="no value"),
        pytest.param("---\nanswers: # c\n---\n", '---\nanswers: # c\n  - "when: is it?"\n---\n', id="only a comment"),
        pytest.param("---\nanswers: []\n---\n", '---\nanswers: ["when: is it?"]\n---\n', id="empty brackets"),
        pytest.param("---\nanswers: [a, 'b']\n---\n", "---\nanswers: [a, 'b', \"when: is it?\"]\n---\n", id="brackets"),
        pytest.param("---\nanswers:\n- a\nb: 1\n---\n", '---\nanswers:\n- a\n- "when: is it?"\nb: 1\n---\n', id="no indent"),
        pytest.param(
            "---\na:\n  answers:\n    - x\n---\n",
            '---\na:\n  answers:\n    - x\nanswers:\n  - "when: is it?"\n---\n',
            id="a nested property of the same name",
        ),
        pytest.param(
            "---\na: |\n  answers:\n    - x\nb: 1\n---\n",
            '---\na: |\n  answers:\n    - x\nb: 1\nanswers:\n  - "when: is it?"\n---\n',
            id="a text that looks like it",
        ),
        pytest.param(
            "---\nanswers:\n  - a\n---\n\n---\nanswers:\n  - b\n---\n",
            '---\nanswers:\n  - a\n  - "when: is it?"\n---\n\n---\nanswers:\n  - b\n---\n',
            id="fences in the text",
        ),
        pytest.param(
            "---\nanswers:\n    - a\n\n    # c\nb: 1\n---\n",
            '---\nanswers:\n    - a\n    - "when: is it?"\n\n    # c\nb: 1\n---\n',
            id="comment below the list",
        ),
        pytest.param(
            "---\nanswers:\n# by Ann\n  - a\n\n# c\n  - b\n# of b\nb: 1\n---\n",
            '---\nanswers:\n# by Ann\n  - a\n\n# c\n  - b\n  - "when: is it?"\n# of b\nb: 1\n---\n',
            id="comments at the margin",
        ),
        pytest.param(
            "---\nanswers: [a,\n'b']\nb: 1\n---\n",
            "---\nanswers: [a,\n'b', \"when: is it?\"]\nb: 1\n---\n",
            id="brackets that go on at the margin",
        ),
        pytest.param(
            "---\n'answers':\n  - >-\n    folded\n    text\n---\n",
            "---\n'answers':\n  - >-\n    folded\n    text\n  - \"when: is it?\"\n---\n",
            id="folded item",
        ),
    ],
)
def test_one_line_is_written_and_the_rest_stays(before, after):
    assert added(before) == after


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_are_those_of_the_note(line_end, bom):
    before = bom + line_end.join(["---", "tags: [a]", "---", "text", ""])
    assert added(before) == bom + line_end.join(["---", "tags: [a]", "answers:", '  - "when: is it?"', "---", "text", ""])
    assert added(bom + f"text{line_end}") == bom + line_end.join(["---", "answers:", '  - "when: is it?"', "---", "text", ""])


def test_mixed_line_ends_stay_mixed():
    assert added("---\r\na: 1\nanswers:\n  - x\r\n---\nb\r") == '---\r\na: 1\nanswers:\n  - x\r\n  - "when: is it?"\r\n---\nb\r'


def test_query_of_a_label_note_is_written_a_key_a_line():
    before = "---\nschema: x\nqueries:\n  - id: a\n    expected_pages:\n      - A.md\n---\n"
    query = {"id": "b", "query": 'say "b"', "expected_pages": ["[draft] B.md"]}
    lines = ['  - id: "b"', '    query: "say \\"b\\""', '    expected_pages: ["[draft] B.md"]']
    after = added(before, "queries", query)
    assert after == before[: -len("---\n")] + "\n".join(lines) + "\n---\n"


def test_query_goes_into_a_list_in_brackets_as_json():
    assert added('---\nqueries: [{id: "a"}]\n---\n', "queries", {"id": "b"}) == '---\nqueries: [{id: "a"}, {"id": "b"}]\n---\n'


@pytest.mark.parametrize(
    ("note", "why"),
    [
        ("---\nanswers: one question\n---\n", "it holds no list of lines"),
        ("---\nanswers: {a: 1}\n---\n", "it holds no list of lines"),
        ("---\nanswers: [a] # why\n---\n", "with a comment"),
        ("---\nanswers: [a,\n  b\n  ]\n---\n", "over several lines"),
        ("---\nanswers: ~\n---\n", "it holds no list of lines"),
        ("---\nanswers: [a, ]\n---\n", "does not allow it"),
        ("---\nanswers:\n  - |+\n    kept\n\n---\n", "does not allow it"),
        ("---\nanswers: &a [x]\nb: *a\n---\n", "anchors"),
        ("---\nanswers: [a]\nanswers: [b]\n---\n", "there twice"),
        ("---\na: [\n---\n", "line 3: the frontmatter is not valid YAML"),
        ("---\n- a\n---\n", "holds no properties"),
        ("+++\na = 1\n+++\n", "TOML"),
        ("---\nanswers:\n  - a\n", "not closed"),
        ("\ufeff--- \r\na: 1", "not closed"),
        ("---\nanswers: [\n  a\n]\n---\n", "over several lines"),
        ('---\nanswers: [\n"a"\n]\n---\n', "over several lines"),
        ("---\nanswers:\n\t- a\n---\n", "starts with a tab"),
        ("---\n{a: 1}\n---\n", "does not allow it"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused_with_a_reason(note, why):
    with pytest.raises(LabelError, match=why) as error:
        added(note)
    assert "by hand" in str(error.value)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(UnreadableFileError, match="not UTF-8"):
        with_item(b"---\na: \xff\n---\n", "answers", NEW)


SCALARS = st.sampled_from(
    ["1", "plain text", "'quoted: x'", '"two"', "2025-02-30", "no", "[a, b] # c", "{a: 1}", "~", "|\n  block\n  more"]
)
PROPERTIES = st.lists(st.tuples(st.sampled_from("abcdef"), SCALARS), unique_by=lambda pair: pair[0], max_size=4)
LISTS = st.sampled_from(
    [
        "",
        "answers:\n",
        "answers: []\n",
        "answers:\n- x\n",
        "answers:\n    - 'x'\n    - y # c\n",
        'answers: ["x", y]\n',
        "answers:\n# c\n- x\n",
    ]
)
BODIES = st.sampled_from(["", "text", "# H\n\ntext\n", "\n---\n", "\n\n- a\n---\nb\n", "answers:\n  - no\n"])
QUESTIONS = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufffe\uffff"), min_size=1, max_size=40).map(
    normalise_query
)


@given(PROPERTIES, LISTS, BODIES, QUESTIONS.filter(bool), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.data())
def test_every_byte_stays_around_the_one_place_where_something_is_written(
    properties, answers, body, question, line_end, has_block, data
):
    lines = [f"{name}: {value}\n" for name, value in properties]
    at = data.draw(st.integers(0, len(lines)))
    block = "".join([*lines[:at], answers, *lines[at:]])
    before = (f"---\n{block}---\n{body}" if has_block else body).replace("\n", line_end).encode()
    after = with_item(before, "answers", question)
    assert questions_of("A.md", decode(after), "answers")[-1] == question
    same = next((place for place, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(before))
    assert (len(after) > len(before), after.endswith(before[same:])) == (True, True)
    if frontmatter_block(decode(before)) is not None:
        assert body_digest(after) == body_digest(before)


@pytest.mark.parametrize("text", ["---\nAnswers: []\n---\n", "---\nanswers: []\nANSWERS: []\n---\n"])
def test_property_that_another_equals_but_for_letter_case_is_left(text):
    with pytest.raises(LabelError, match=r"the note has the property 'A\w+', which Obsidian takes for the same as 'answers'"):
        with_item(text.encode(), "answers", "q")
