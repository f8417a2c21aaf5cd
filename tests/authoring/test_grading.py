from __future__ import annotations

import json

import pytest

from vault_eval.authoring.grading import graded_label, with_grades
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import EXTENDED_SCHEMA, PLAIN_SCHEMA
from vault_eval.model import Label
from vault_eval.vault.targets import parse_target, target_text

ENTRY = '{"id": "a", "query": "b", "expected_pages": ["A.md"]}'


def document(text: str, name: str = "Labels.json") -> LabelDocument:
    return LabelDocument(name, text.encode(), None, list)


def graded(text: str, name: str = "Labels.json", **grades: int) -> str:
    """The file with these pages graded for its last label; `B=2` is `B.md`."""
    given = document(text, name)
    last = load_labels([given]).labels[-1]
    return with_grades(given, graded_label(last, {parse_target(f"{page}.md"): grade for page, grade in grades.items()})).decode()


def native(*entries: str, schema: str = EXTENDED_SCHEMA) -> str:
    return f'{{"schema": "{schema}", "queries": [\n  {", ".join(entries)}\n]}}\n'


def test_grade_of_a_page_that_does_not_help_is_all_that_changes():
    assert graded(native(ENTRY, ENTRY.replace('"a"', '"c"').replace('"b"', '"d"')), B=0) == native(
        ENTRY, '{"id": "c", "query": "d", "expected_pages": ["A.md"], "grades": {"B.md": 0}}'
    )


def test_page_that_answers_is_expected_too():
    assert graded(native(ENTRY), B=2, A=1, C=0) == native(
        '{"id": "a", "query": "b", "expected_pages": ["A.md", "B.md"], "grades": {"B.md": 2, "A.md": 1, "C.md": 0}}'
    )


def test_plain_file_gets_the_schema_that_holds_grades():
    assert graded(native(ENTRY, schema=PLAIN_SCHEMA), B=0) == graded(native(ENTRY), B=0)


@pytest.mark.parametrize("empty", ["[]", "[ ]"])
def test_negative_of_which_a_page_answers_expects_it(empty):
    entry = f'{{"id": "a", "query": "b", "expected_pages": {empty}, "grades": {{}}}}'
    assert graded(native(entry), B=1) == native('{"id": "a", "query": "b", "expected_pages": ["B.md"], "grades": {"B.md": 1}}')


def test_lists_and_objects_of_several_lines_go_on_as_they_are_laid_out():
    entry = {"id": "a", "query": "b", "expected_pages": ["A.md"], "grades": {"A.md": 2}}
    text = json.dumps({"schema": EXTENDED_SCHEMA, "queries": [entry]}, indent=2)
    entry |= {"expected_pages": ["A.md", "B.md"], "grades": {"A.md": 2, "B.md": 1}}
    assert graded(text, B=1) == json.dumps({"schema": EXTENDED_SCHEMA, "queries": [entry]}, indent=2)


def test_grade_that_is_there_is_not_written_again_and_never_changed():
    text = native('{"id": "a", "query": "b", "expected_pages": ["A.md"], "grades": {"B.md": 0}}')
    assert graded(text, B=0) == text
    with pytest.raises(LabelError, match=r"'B.md' has the grade 0 for 'a' already; .* change it by hand"):
        graded(text, B=1)


def graded_place(gold: list[str], grades: dict[str, int], place: str, grade: int) -> tuple[list[str], dict[str, int]]:
    """What a label with this gold and these grades expects, and its grades, once the place is graded too."""
    label = Label("a", "q", tuple(map(parse_target, gold)), "", "", grades=grades)
    after = graded_label(label, {parse_target(place): grade})
    return [target_text(target) for target in after.gold], dict(after.grades)


@pytest.mark.parametrize(
    ("gold", "place", "grade", "expected"),
    [
        (["A.md#Keel"], "A.md#Winter", 1, ["A.md#Keel", "A.md#Winter"]),
        (["A.md"], "A.md#Winter", 2, ["A.md", "A.md#Winter"]),
        (["A.md#^k"], "A.md#^w", 2, ["A.md#^k", "A.md#^w"]),
        (["A.pdf#page=1"], "A.pdf#page=3", 1, ["A.pdf#page=1", "A.pdf#page=3"]),
        (["A.md#Keel"], "A.md#Winter", 0, ["A.md#Keel"]),
        (["A.md#Keel"], "A.md", 1, ["A.md#Keel"]),  # the page is expected in this place
    ],
)
def test_place_that_answers_is_expected_also_in_a_page_that_is(gold, place, grade, expected):
    assert graded_place(gold, {}, place, grade) == (expected, {place: grade})


@pytest.mark.parametrize(
    ("gold", "place"),
    [("A.md#Keel", "A.md#keel"), ("A.md#Keel", "A.md#*KEEL*"), ("A.md#^k", "A.md#^K"), ("A.md#Keel: oak", "A.md#keel oak")],
)
def test_place_in_other_letters_is_the_one_that_is_there(gold, place):
    assert graded_place([gold], {}, place, 1) == ([gold], {gold: 1})
    assert graded_place([gold], {gold: 2}, place, 2) == ([gold], {gold: 2})
    with pytest.raises(LabelError, match="has the grade 2 for 'a' already"):
        graded_place([gold], {gold: 2}, place, 1)


@pytest.mark.parametrize(
    ("gold", "grades", "place", "grade"), [(["A.md#Keel"], {"A.md#Keel": 2}, "A.md", 0), ([], {"A.md": 0}, "A.md#Keel", 1)]
)
def test_page_that_does_not_help_holds_no_place_that_answers(gold, grades, place, grade):
    with pytest.raises(LabelError, match=r"'A\.md' has the grade 0 for 'a', but 'A\.md#Keel' is expected; grade"):
        graded_place(gold, grades, place, grade)


def test_label_that_is_skipped_is_not_graded():
    with pytest.raises(LabelError, match=r"'a' is skipped \('later'\); take its skip_reason out by hand first"):
        graded(native('{"id": "a", "query": "b", "expected_pages": [], "skip_reason": "later"}'), B=1)


def test_grade_that_breaks_a_rule_is_an_error():
    with pytest.raises(LabelError, match=r"Labels.json: query 'a': grades: 'A.md' has 0 but is in expected_pages"):
        graded(native(ENTRY), A=0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Labels.jsonl", '{"query": "b", "relevant": [{"source": "A.md"}]}\n'),
        ("Labels.json", '{"schema_version": 1, "queries": [{"query": "b", "expect": ["A.md"]}]}'),
    ],
)
def test_file_of_another_format_says_which_holds_grades(name, text):
    with pytest.raises(LabelError, match=f"graded in JSON label files alone; .* the schema '{EXTENDED_SCHEMA}' first"):
        graded(text, name, B=0)
