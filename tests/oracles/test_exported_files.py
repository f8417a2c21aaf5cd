"""A run and its judgments, exported by the shipped commands and scored by pytrec_eval and ir_measures, give the report's figures.

The fixture's pages are always measured; `VAULT_EVAL_SETS` adds one public set. Skipped where a package is absent, unless
REQUIRE_ORACLES=1 makes that a failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import fsum
from pathlib import Path

import pytest
from oracle_names import IR_NAMES, METRICS, TREC_ASKED, TREC_NAMES, oracle

ROOT = Path(__file__).resolve().parents[2]
SETS = os.environ.get("VAULT_EVAL_SETS", "")
SET = "known-en-obsidian-tasks"
SAME = 1e-9


def printed(folder, *arguments: object):
    line = [sys.executable, "-I", str(ROOT / "scripts" / "vault-eval.py"), *map(str, arguments), "--data", str(folder / "data")]
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_pytrec_eval(qrels, run):
    found = oracle("pytrec_eval").RelevanceEvaluator(qrels, TREC_ASKED).evaluate(run)
    # trec_eval leaves out a query that has no row; it counts 0 here, as `trec_eval -c` has it.
    return {
        ours: fsum(found[qid][theirs] if qid in found else 0.0 for qid in qrels) / len(qrels)
        for ours, theirs in TREC_NAMES.items()
    }


def exported(folder, vault, labels, *, depth=10):
    """The figures of the report, and its judgments and rankings as each format that pytrec_eval reads holds them."""
    printed(folder, "index", "--vault", vault)
    printed(
        folder, "bench", "--vault", vault, "--queries", labels, "-k", depth, "--cold-samples", 0, "--out", folder / "report.json"
    )
    judged = {
        form: printed(folder, "labels", "export", "--vault", vault, "--queries", labels, "--to", form)
        for form in ("trec", "ranx")
    }
    ranked = {form: printed(folder, "report", folder / "report.json", "--format", form) for form in ("trec", "ranx")}
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report["runs"][0]["metrics"], judged, ranked


def by_ir_measures(qrels, run):
    module = oracle("ir_measures")
    measures = {module.parse_measure(name): ours for ours, name in IR_NAMES.items()}
    found = module.calc_aggregate(list(measures), module.read_trec_qrels(qrels), module.read_trec_run(run))
    return {measures[measure]: value for measure, value in found.items()}


def check(folder, vault, labels):
    figures, judged, ranked = exported(folder, vault, labels)
    parse = oracle("pytrec_eval")
    from_trec = parse.parse_qrel(judged["trec"].splitlines()), parse.parse_run(ranked["trec"].splitlines())
    from_json = json.loads(judged["ranx"]), json.loads(ranked["ranx"])
    ours = {name: figures[name]["value"] for name in METRICS}
    for qrels, run in (from_trec, from_json):
        assert len(qrels) == figures["mrr@10"]["n"]
        assert ours == pytest.approx(by_pytrec_eval(qrels, run), abs=SAME)
    assert ours == pytest.approx(by_ir_measures(judged["trec"], ranked["trec"]), abs=SAME)


def graded(labels):
    """The labels with a grade above 1 and a page judged 0 on every other query."""
    for number, one in enumerate(labels["queries"]):
        if one["expected_pages"] and number % 2:
            one["grades"] = {one["expected_pages"][0]: 2, "Fuel dock.md": 0 if "Fuel dock.md" not in one["expected_pages"] else 1}
    return labels


def test_exported_files_of_the_fixture_give_the_figures_of_the_report(tmp_path):
    labels = json.loads((ROOT / "fixtures" / "original" / "queries.json").read_text(encoding="utf-8"))
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(graded(labels), ensure_ascii=False), encoding="utf-8")
    check(tmp_path, ROOT / "fixtures" / "original" / "pages", file)


@pytest.mark.skipif(not (SETS and (Path(SETS) / SET).is_dir()), reason=f"VAULT_EVAL_SETS names no folder that holds {SET}")
def test_exported_files_of_a_public_set_give_the_figures_of_the_report(tmp_path):
    check(tmp_path, Path(SETS) / SET / "vault", Path(SETS) / SET / "queries.json")
