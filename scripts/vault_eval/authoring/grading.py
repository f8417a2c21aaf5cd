"""Single pages graded for a label that stands in a file already: what a search returned and nobody had judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vault_eval.authoring import json_edit
from vault_eval.authoring.label_files import label_format, schema_insert, without_place
from vault_eval.diagnosis.sections import compared_place
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import EXTENDED_SCHEMA
from vault_eval.model import Label, Target
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import parse_target, target_text


def graded_label(label: Label, grades: Mapping[Target, int]) -> Label:
    """The label with these grades too; what is graded above 0 is expected, but a page alone of which a place is expected.

    A place that the label holds in other letters keeps its spelling. Raises LabelError for a place that has another grade
    already, for a page graded 0 of which a place is expected, and for a label that is skipped.
    """
    if label.skip_reason is not None:
        raise LabelError(f"{quoted(label.id)} is skipped ({quoted(label.skip_reason)}); take its skip_reason out by hand first")
    spelled = {compared_place(target): target for target in (*map(parse_target, label.grades), *label.gold)}
    stated = {spelled.get(compared_place(target), target): grade for target, grade in grades.items()}
    before = {compared_place(parse_target(name)): grade for name, grade in label.grades.items()}
    for target, grade in stated.items():
        _refuse_other_grade(label, target, grade, before.get(compared_place(target), grade))
    answers = [target for target, grade in stated.items() if grade and not _is_expected(target, label)]
    new = {target_text(target): grade for target, grade in stated.items() if compared_place(target) not in before}
    graded = replace(label, gold=(*label.gold, *answers), grades={**label.grades, **new})
    for page in dict.fromkeys(target.page for target in stated):
        _refuse_useless_page(graded, page)
    return graded


def _refuse_other_grade(label: Label, target: Target, grade: int, there: int) -> None:
    if there != grade:
        problem = f"{quoted(target_text(target))} has the grade {there} for {quoted(label.id)} already"
        raise LabelError(f"{problem}; a judgement that is there is never changed: change it by hand")


def _is_expected(target: Target, label: Label) -> bool:
    return target in label.gold or (target == Target(target.page) and target.page in label.pages)


def _refuse_useless_page(label: Label, page: str) -> None:
    """A page that does not help holds no place that answers; that it is expected itself is against a rule of label files."""
    place = next((target for target in label.gold if target.page == page and target != Target(page)), None)
    if place is not None and label.grades.get(page) == 0:
        problem = f"{quoted(page)} has the grade 0 for {quoted(label.id)}, but {quoted(target_text(place))} is expected"
        raise LabelError(f"{problem}; grade the page 1 or 2, or the place alone")


def with_grades(document: LabelDocument, graded: Label) -> bytes:
    """The bytes of a native JSON file in which the label of this id is as `graded_label` made it; everything else stays.

    Raises LabelError for a file of another format, and for grades that break a rule.
    """
    if label_format(document) != "native":
        problem = "the pages of a label that is there are graded in JSON label files alone"
        by_hand = f"grade by hand, or write the labels as JSON with the schema {EXTENDED_SCHEMA!r} first"
        raise LabelError(f"{document.name}: {problem}; {by_hand}")
    labels = load_labels([document]).labels
    place = next(number for number, label in enumerate(labels) if label.id == graded.id)
    text = document.data.decode("utf-8")
    for target in graded.gold[len(labels[place].gold) :]:
        expected = json_edit.members(text, _entry(text, place).start)["expected_pages"]
        text = json_edit.applied(text, [json_edit.one_text_more(text, expected, target_text(target))])
    for key, before, values in (
        ("grades", labels[place].grades, graded.grades),
        ("hashes", labels[place].hashes, graded.hashes),
    ):
        for name, value in values.items():
            if name not in before:
                text = _with_member(text, place, key, name, value)
    top = json_edit.members(text, json_edit.top(text))
    if EXTENDED_SCHEMA not in text[top["schema"].start : top["schema"].end]:
        text = json_edit.applied(text, [schema_insert(top)])
    after = load_labels([replace(document, data=text.encode("utf-8"))]).labels
    wanted = [*labels[:place], graded, *labels[place + 1 :]]
    if list(map(without_place, after)) != list(map(without_place, wanted)):
        raise LabelError(f"{document.name}: the grades cannot be written without changing more; write them in by hand")
    return text.encode("utf-8")


def _entry(text: str, place: int) -> json_edit.Span:
    top = json_edit.members(text, json_edit.top(text))
    return json_edit.items(text, top["queries"].start)[place]


def _with_member(text: str, place: int, key: str, name: str, value: JsonValue) -> str:
    """The text with `name: value` in the object under `key` of an entry, which is made where there is none."""
    entry = _entry(text, place)
    there = json_edit.members(text, entry.start).get(key)
    member = (entry, key, {name: value}) if there is None else (there, name, value)
    return json_edit.applied(text, [json_edit.one_key_more(text, *member)])
