"""Labels that say otherwise of the same query: no ranking can satisfy both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from vault_eval.authoring.lint import Checked, Finding
from vault_eval.diagnosis.label_findings import normalised
from vault_eval.model import Label
from vault_eval.vault.paths import quoted
from vault_eval.vault.targets import parse_target

NAME = "contradicting labels"
ADVICE = "no ranking can satisfy both: decide for one"


def find(checked: Checked) -> Iterator[Finding]:
    """Each pair of labels with the same words of which one expects what the other rules out, or grades it otherwise."""
    by_words: dict[str, list[Label]] = {}
    for label in checked.labels:
        by_words.setdefault(normalised(label.query), []).append(label)
    for same in by_words.values():
        for one, other in combinations(same, 2):
            for what, page in _disagreements(one, other):
                yield Finding(f"{quoted(one.query)}: {what}", (one.id, other.id), (page,) if page else ())


def _disagreements(one: Label, other: Label) -> Iterator[tuple[str, str]]:
    if bool(one.gold) != bool(other.gold):
        yield "one expects a page, the other none", ""
    elif not set(one.pages) & set(other.pages):
        yield "they expect different pages", ""
    grades, others = _grades(one), _grades(other)
    for page in sorted(grades.keys() & others.keys()):
        if grades[page] != others[page]:
            yield f"{quoted(page)} has the grades {grades[page]} and {others[page]}", page


def _grades(label: Label) -> dict[str, int]:
    """The highest grade of each page; gold without a grade has the highest there is."""
    grades = dict.fromkeys(label.pages, 2) if not label.grades else {}
    for target, grade in label.grades.items():
        page = parse_target(target).page
        grades[page] = max(grade, grades.get(page, 0))
    return grades
