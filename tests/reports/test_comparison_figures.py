from __future__ import annotations

import pytest

from vault_eval.comparison.compare import compare
from vault_eval.metrics.catalogue import mean_metrics
from vault_eval.reports.compared import sides
from vault_eval.reports.comparison_findings import compared_figures
from vault_eval.reports.comparison_text import comparison_text


@pytest.fixture
def comparison(make_row, make_run, make_report):
    """Two queries of which the candidate finds one no longer: RR 1 and 1, then 1 and 0; judged 1/1 and 1/1, then 1/1 and 0/1."""
    before, after = (
        make_report(make_run([make_row("a", "q", ["A.md"], ["A.md"]), make_row("b", "r", ["B.md"], found)]))
        for found in (["B.md"], ["X.md"])
    )
    (found,) = compare(sides(before)[0], sides(after))
    return found


def test_what_nobody_judged_is_no_search_that_got_worse(comparison):
    figures = {one.label: one.cells for one in compared_figures(comparison)}
    assert figures["MRR@10"][-4:] == ("2", "0", "1", "1")
    assert figures["judged@10"][:4] == ("judged@10", "1.000", "0.500", "-0.500")
    assert figures["judged@10"][-4:] == ("2", "–", "–", "–")
    assert any(line.split()[-3:] == ["–", "–", "–"] for line in comparison_text([comparison]).splitlines() if "judged@10" in line)


def test_all_but_judged_is_quality():
    assert [metric.name for metric in mean_metrics(20) if not metric.is_quality] == ["judged@10"]
