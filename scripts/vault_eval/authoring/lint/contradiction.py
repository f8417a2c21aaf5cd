"""Labels that say otherwise of the same query, or of a page and a place in it: no ranking can satisfy both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.diagnosis.label_findings import normalised
from vault_eval.labels.grades import page_grades
from vault_eval.model import Label
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import parse_target, target_text

NAME = "contradicting labels"
ADVICE = "no ranking can satisfy both: decide for one"


def find(checked: Checked) -> Iterator[Finding]:
    """Each pair of labels with the same words of which one expects what the other rules out, or grades it otherwise; and
    each label that expects a place in a page that does not help.
    """
    by_words: dict[str, list[Label]] = {}
    for label in checked.labels:
        by_words.setdefault(normalised(label.query).strip() or label.query, []).append(label)
        yield from _denied_places(label)
    for same in by_words.values():
        for one, other in combinations(same, 2):
            for what, page in _disagreements(one, other):
                yield Finding(f"{quoted(one.query)}: {what}", (one.id, other.id), (page,) if page else ())


def _denied_places(label: Label) -> Iterator[Finding]:
    for target in label.gold:
        if label.grades.get(target.page) == 0:
            what = f"{quoted(target_text(target))} is expected, but {quoted(target.page)} graded 0"
            yield Finding(f"{quoted(label.query)}: {what}", (label.id,), (target.page,))


def _disagreements(one: Label, other: Label) -> Iterator[tuple[str, str]]:
    if bool(one.gold) != bool(other.gold):
        yield "one expects a page, the other none", ""
    elif not set(one.pages) & set(other.pages):
        yield "they expect different pages", ""
    said, others = _judged(one), _judged(other)
    for page in sorted(said.keys() & others.keys()):
        if _is_against(said[page], others[page]):
            yield f"{quoted(page)} is {_words(said[page])} in one, {_words(others[page])} in the other", page


def _judged(label: Label) -> dict[str, int | None]:
    """The grade of each judged page, None where it is expected and nobody said how good it is."""
    graded = {parse_target(target).page for target in label.grades}
    grades = {page: grade for page, grade in page_grades(label).items() if page in graded}
    return dict.fromkeys(label.pages) | grades


def _is_against(grade: int | None, other: int | None) -> bool:
    """Whether two grades of one page cannot both be meant: an expected page may have any but 0."""
    return 0 in (grade, other) if None in (grade, other) else grade != other


def _words(grade: int | None) -> str:
    return "expected" if grade is None else f"graded {grade}"
