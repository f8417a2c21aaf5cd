"""Grades: what they may be, and what those of a label's places say of its pages."""

from __future__ import annotations

from vault_eval.model import Label
from vault_eval.vault.targets import parse_target

GRADES = (0, 1, 2)  # does not help, a part of the answer, answers


def page_grades(label: Label) -> dict[str, int]:
    """The graded pages: each as good as the best place of it, where an expected place without a grade has grade 1."""
    if not label.grades:
        return {}
    stated = dict.fromkeys(label.gold, 1) | {parse_target(target): grade for target, grade in label.grades.items()}
    grades: dict[str, int] = {}
    for target, grade in stated.items():
        grades[target.page] = max(grade, grades.get(target.page, grade))
    return grades
