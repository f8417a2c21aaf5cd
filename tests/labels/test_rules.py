from __future__ import annotations

import sys

import pytest

from vault_eval.errors import LabelError, MissingPackageError
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.rules import report_unknown_keys, usable_target
from vault_eval.model import Target
from vault_eval.vault.targets import TargetError


def test_pdf_gold_names_the_missing_extra(monkeypatch, tmp_path):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pypdf", None)
        with pytest.raises(TargetError, match=r"needs the extra \[pdf\]; it is not installed"):
            usable_target("Chart.Pdf#page=4")
        assert usable_target("Chart.md") == Target("Chart.md")
        without.setitem(sys.modules, "jinja2", None)  # as in a Python that lets the private environment go on
        with pytest.raises(MissingPackageError, match="needs the extra"):
            usable_target("Chart.Pdf")
    (tmp_path / "pypdf.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert usable_target("Chart.Pdf#page=4") == Target("Chart.Pdf", pdf_page=4)


@pytest.mark.parametrize("key", ["qurey", "Query", "QUERY"])
def test_an_unknown_key_is_answered_with_the_near_one_in_any_letter_case(key):
    problems = Problems()
    report_unknown_keys([key], ("id", "query"), Place(problems, "q.json"))
    with pytest.raises(LabelError, match=f"unknown key '{key}' \\(did you mean 'query'\\?\\); allowed are id, query"):
        problems.raise_if_any()
