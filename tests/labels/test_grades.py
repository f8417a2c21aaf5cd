from __future__ import annotations

import pytest

from vault_eval.labels.grades import page_grades
from vault_eval.model import Label
from vault_eval.vault.targets import parse_target


@pytest.mark.parametrize(
    ("gold", "grades", "expected"),
    [
        (["A.md"], {}, {}),
        (["A.md", "B.md"], {"A.md": 2}, {"A.md": 2, "B.md": 1}),
        (["A.md"], {"B.md": 0}, {"A.md": 1, "B.md": 0}),
        # One place of the page is no answer; the page as a whole is.
        (["A.md"], {"A.md#Heading": 0}, {"A.md": 1}),
        (["A.md#Heading"], {"A.md": 0}, {"A.md": 1}),
        (["A.md#One", "A.md#Two"], {"A.md#One": 0, "A.md#Two": 2}, {"A.md": 2}),
        (["A.md"], {"A.md": 0}, {"A.md": 0}),
    ],
)
def test_page_has_the_grade_of_its_best_place(gold, grades, expected):
    label = Label("q", "query", tuple(map(parse_target, gold)), "labels.json", "", grades=grades)
    assert page_grades(label) == expected
