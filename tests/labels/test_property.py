from __future__ import annotations

import hashlib
import sys

import pytest

from vault_eval.errors import LabelError
from vault_eval.labels.property import gather_answers
from vault_eval.model import Target


def note(*lines: str):
    return "---\n" + "".join(f"{line}\n" for line in lines) + "---\n\nBody. answers: none\n"


def test_equal_questions_become_one_label_with_several_gold_pages():
    labels = gather_answers(
        [
            ("Sea/Tides.md", note("answers:", "  - When is   the spring tide?", "  - What pulls the sea?")),
            ("Plain.md", "answers: in the body\n"),
            ("Sea/Moon.md", note("tags: [x]", "answers: ['When is the spring tide?']")),
        ]
    )
    spring, pull = labels.labels
    assert spring.gold == (Target("Sea/Tides.md"), Target("Sea/Moon.md"))
    assert (spring.query, spring.place) == ("When is the spring tide?", "Sea/Tides.md line 3")
    assert spring.id == hashlib.sha256(b"When is the spring tide?").hexdigest()[:12]
    assert pull.gold == (Target("Sea/Tides.md"),)
    assert (labels.sources[0].name, labels.sources[0].format) == ("property:answers", "property")


def test_page_names_are_canonical():
    labels = gather_answers([("Re\u0301sume\u0301.md", note("answers: [who]"))])
    assert labels.labels[0].pages == ("Résumé.md",)


def test_property_without_a_value_asks_nothing():
    labels = gather_answers([("a.md", note("answers:")), ("b.md", note("answers: []")), ("c.md", note("answers: [why]"))])
    assert [label.pages for label in labels.labels] == [("c.md",)]


def test_name_of_the_property_is_the_callers_to_choose():
    text = note("questions: [why]", "answers: [no]")
    assert [label.query for label in gather_answers([("a.md", text)], "questions").labels] == ["why"]


def test_digest_changes_with_a_question_and_with_its_page_only():
    digests = [
        gather_answers([(page, text)]).sources[0].sha256
        for page, text in [
            ("a.md", note("answers: [why]")),
            ("a.md", note("title: x", "answers: [why]")),
            ("a.md", note("answers: [how]")),
            ("b.md", note("answers: [why]")),
        ]
    ]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("answers: why",), "line 2: answers must be a list"),
        (("answers:", "  - why", "  - ", "  - how"), "line .*: answers holds something that is no text"),
        (("answers:", "  - 14:30"), "line 3: answers holds '14:30'.*quote"),
        (("answers:", "  - [a]"), "line 3: .*quote"),
        (("answers:", "  - why", "  - ' why '"), "line 4: .*twice"),
        (("answers: [why]", "answers: [how]"), "line 3: .*twice"),
        (("answers:", "  - why: how: who"), "line 3: .*quote the text"),
        (("x: &x why", "answers: [*x]"), "line 2: .*anchors"),
        (("answers: [' ']",), "line 2: .*empty question"),
        (("answers: [" + "x" * 8_001 + "]",), "line 2: .*8,001 characters"),
    ],
)
def test_faulty_questions_are_refused_with_note_and_line(lines, words):
    with pytest.raises(LabelError, match=f"Sea/Tides.md: {words}"):
        gather_answers([("Sea/Tides.md", note(*lines)), ("b.md", note("answers: [fine]"))])


def test_broken_properties_of_other_notes_do_not_matter():
    broken = note("title: Tide: table: answers")
    assert len(gather_answers([("broken.md", broken), ("a.md", note("answers: [why]"))]).labels) == 1


def test_vault_without_a_question_is_refused():
    with pytest.raises(LabelError, match="no note of the vault has a question"):
        gather_answers([("a.md", "text"), ("b.md", note("answers:"))])


def test_more_than_sixty_four_notes_for_one_question_are_refused():
    with pytest.raises(LabelError, match="65 notes hold the question 'why'"):
        gather_answers((f"{number}.md", note("answers: [why]")) for number in range(65))


def test_notes_without_the_property_are_not_parsed(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(LabelError, match="no note of the vault"):
        gather_answers([("a.md", note("title: the answers: all")), ("b.md", note("x: y"))])
