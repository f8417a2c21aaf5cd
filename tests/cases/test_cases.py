"""Faults that people have met in programs of this kind, each as an input with what must come of it: see README.md."""

from __future__ import annotations

import pytest
from case_input import load_cases
from case_steps import NOT_HERE

CASES = [case for case in load_cases().values() if case.get("labels", True)]


def _name(case: dict[str, object]) -> str:
    return f"{case['id']} {case['symptom'][:90]}"


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_fault_does_not_happen_here(case, outcomes):
    wrong = outcomes[case["id"]].result()
    if wrong and wrong[0].startswith(NOT_HERE):
        pytest.skip(wrong[0])
    assert wrong == []
