"""The figures of whole reports against pytrec_eval and ir_measures, on the shipped fixture and on public sets.

The fixture is always measured. `VAULT_EVAL_SETS` may name a folder of further sets, NAME/vault and NAME/queries*.json, with
qrels.trec where there are judgments to take from elsewhere. Everything goes through the shipped commands; the oracles get
the rankings of the report itself with scores that fall strictly by rank, so that none of them reorders a tie.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from oracle_names import IR_NAMES, METRICS, TREC_ASKED, TREC_NAMES, oracle

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
SETS = os.environ.get("VAULT_EVAL_SETS", "")
FIXTURE_LABELS = ROOT / "fixtures" / "original" / "queries.json"

SAME = 1e-9

Qrels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]  # metric -> query id -> value


@dataclass(frozen=True)
class Measured:
    """One report as JSON, and what was judged of the queries it scored."""

    report: Mapping[str, Any]
    qrels: Qrels

    @property
    def run(self) -> Mapping[str, Any]:
        return self.report["runs"][0]

    @property
    def scored(self) -> list[dict[str, Any]]:
        return [row for row in self.run["queries"] if row["status"] == "scored"]

    @property
    def as_trec(self) -> dict[str, dict[str, float]]:
        """Without the queries that found nothing, as a run file would be."""
        rankings = {row["id"]: [hit["page"] for hit in row["ranking"]] for row in self.scored}
        return {
            qid: {page: 1000.0 - rank for rank, page in enumerate(pages, start=1)} for qid, pages in rankings.items() if pages
        }


def command(script: str, *arguments: object) -> bytes:
    done = subprocess.run([sys.executable, str(SCRIPTS / script), *map(str, arguments)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def evaluate(vault: Path, labels: Path, folder: Path) -> dict[str, Any]:
    places = ("--vault", vault, "--index", folder / "index", "--data", folder / "data")
    if not (folder / "index").exists():
        command("vault-eval.py", "index", *places)
    output = command("evaluate-retrieval.py", *places, "--queries", labels, "--cold-samples", "0", "--format", "json")
    report: dict[str, Any] = json.loads(output)
    return report


def fixture_report(folder: Path) -> dict[str, Any]:
    output = command(
        "evaluate-retrieval.py", "--fixture", "--format", "json", "--cold-samples", "0", "--data", folder / "fixture-data"
    )
    report: dict[str, Any] = json.loads(output)
    return report


def labelled_qrels(file: Path) -> Qrels:
    """What a label file judges: grade 1 unless it says otherwise; a section stands for its page."""
    qrels: Qrels = {}
    for one in json.loads(file.read_text(encoding="utf-8"))["queries"]:
        judged = dict.fromkeys((page_of(target) for target in one["expected_pages"]), 1)
        for target, grade in one.get("grades", {}).items():
            judged[page_of(target)] = grade
        qrels[one["id"]] = judged
    return qrels


def page_of(target: str) -> str:
    head, mark, _ = target.partition(".md#")
    return head + ".md" if mark else target


def trec_qrels(file: Path) -> Qrels:
    """A qrels file, in whose paths blank and per cent are written %20 and %25."""
    qrels: Qrels = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        qid, _, page, grade = line.split()
        qrels.setdefault(qid, {})[unquote(page)] = int(grade)
    return qrels


def ours(measured: Measured) -> Scores:
    """What the rows say themselves, query by query."""
    rows = measured.scored
    scores: Scores = {f"recall@{k}": {row["id"]: row["recall"][str(k)] for row in rows} for k in (1, 5, 10)}
    scores["mrr@10"] = {row["id"]: row["rr"] for row in rows}
    return scores


def ours_computed(measured: Measured) -> Scores:
    """Every metric of every scored query, by the program's own arithmetic on the rankings of the report."""
    from vault_eval.metrics import JudgedQuery, metrics_for

    judged = {}
    for row in measured.scored:
        grades = measured.qrels[row["id"]]
        gold = tuple(page for page, grade in grades.items() if grade > 0)
        judged[row["id"]] = JudgedQuery(gold, tuple(hit["page"] for hit in row["ranking"]), grades)
    metrics = {metric.name: metric for metric in metrics_for(10)}
    return {name: {qid: metrics[name].per_query(query) for qid, query in judged.items()} for name in METRICS}


def by_pytrec_eval(measured: Measured) -> Scores:
    module = oracle("pytrec_eval")
    found = module.RelevanceEvaluator(measured.qrels, TREC_ASKED).evaluate(measured.as_trec)
    unanswered = dict.fromkeys(TREC_NAMES.values(), 0.0)  # trec_eval itself leaves such a query out
    return {ours: {qid: found.get(qid, unanswered)[name] for qid in measured.qrels} for ours, name in TREC_NAMES.items()}


def by_ir_measures(measured: Measured) -> tuple[Scores, dict[str, float]]:
    module = oracle("ir_measures")
    measures = {module.parse_measure(name): ours for ours, name in IR_NAMES.items()}
    scores: Scores = {name: {} for name in IR_NAMES}
    for found in module.iter_calc(list(measures), measured.qrels, measured.as_trec):
        scores[measures[found.measure]][found.query_id] = found.value
    means = module.calc_aggregate(list(measures), measured.qrels, measured.as_trec)
    return scores, {measures[measure]: value for measure, value in means.items()}


def assert_same_as_oracles(measured: Measured) -> None:
    assert measured.scored
    assert {row["id"] for row in measured.scored} == set(measured.qrels)
    theirs, (also, their_means) = by_pytrec_eval(measured), by_ir_measures(measured)
    for scores in (ours(measured), ours_computed(measured)):
        for name, column in scores.items():
            assert column == pytest.approx(theirs[name], abs=SAME), name
            assert column == pytest.approx(also[name], abs=SAME), name
    for name in METRICS:
        said = measured.run["metrics"][name]
        assert (said["n"], said["status"]) == (len(measured.qrels), "ok"), name
        assert said["value"] == pytest.approx(fsum(theirs[name].values()) / len(measured.qrels), abs=SAME), name
        assert said["value"] == pytest.approx(their_means[name], abs=SAME), name


def only_scored(report: Mapping[str, Any], qrels: Qrels) -> Qrels:
    """The judgments of the queries that the report scored; the others must have said why not."""
    rows = {row["id"]: row for row in report["runs"][0]["queries"]}
    assert all(row["status"] in ("scored", "negative") for row in rows.values())
    return {qid: dict(qrels[qid]) for qid, row in rows.items() if row["status"] == "scored"}


def find_sets() -> list[Path]:
    return sorted(folder for folder in Path(SETS).iterdir() if (folder / "vault").is_dir()) if SETS else []


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    return {folder.name: tmp_path_factory.mktemp("set") for folder in find_sets()}


def each_set(*names: str) -> pytest.MarkDecorator:
    found = [folder for folder in find_sets() if not names or folder.name in names]
    if not found:
        skip = pytest.mark.skip(reason=f"VAULT_EVAL_SETS names no folder that holds {' or '.join(names) or 'labelled sets'}")
        return pytest.mark.parametrize("folder", [pytest.param(None, marks=skip, id="none")])
    return pytest.mark.parametrize("folder", found, ids=[folder.name for folder in found])


def test_fixture_figures_are_those_of_the_oracles(tmp_path) -> None:
    report = fixture_report(tmp_path)
    assert_same_as_oracles(Measured(report, only_scored(report, labelled_qrels(FIXTURE_LABELS))))


def test_query_that_found_nothing_counts_zero_in_every_mean(tmp_path) -> None:
    report = fixture_report(tmp_path)
    qrels = only_scored(report, labelled_qrels(FIXTURE_LABELS))
    silent = set(sorted(qrels)[::2])
    run = report["runs"][0]
    rows = [{**row, "ranking": [] if row["id"] in silent else row["ranking"]} for row in run["queries"]]
    measured = Measured({**report, "runs": [{**run, "queries": rows}]}, qrels)
    computed, theirs, (also, means) = ours_computed(measured), by_pytrec_eval(measured), by_ir_measures(measured)
    for name, column in computed.items():
        assert all(column[qid] == 0.0 for qid in silent)
        assert column == pytest.approx(theirs[name], abs=SAME), name
        assert column == pytest.approx(also[name], abs=SAME), name
        assert fsum(column.values()) / len(qrels) == pytest.approx(means[name], abs=SAME), name


def label_files(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("queries*.json"))


@each_set()
def test_real_figures_are_those_of_the_oracles(folder, folders) -> None:
    given = trec_qrels(folder / "qrels.trec") if (folder / "qrels.trec").exists() else None
    for file in label_files(folder):
        report = evaluate(folder / "vault", file, folders[folder.name])
        labelled = only_scored(report, labelled_qrels(file))
        if given is not None:
            assert only_scored(report, {**labelled_qrels(file), **given}) == labelled, "qrels.trec and the labels differ"
        assert_same_as_oracles(Measured(report, labelled))


@each_set("cranfield")
def test_graded_figures_are_those_of_the_oracles(folder, folders, tmp_path) -> None:
    graded, every = trec_qrels(folder / "qrels.graded.trec"), trec_qrels(folder / "qrels.all-pairs.trec")
    labels = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    labels["schema"] = "vault-eval.labels.v1"
    for one in labels["queries"]:
        # Grades 1 to 4 become 1, 1, 2, 2, the two that our format has; pairs that only all-pairs holds are judged 0.
        one["grades"] = {page: -(-grade // 2) for page, grade in graded[one["id"]].items()}
        one["grades"] |= {page: 0 for page in every[one["id"]] if page not in graded[one["id"]]}
    file = tmp_path / "graded.json"
    file.write_text(json.dumps(labels, ensure_ascii=False), encoding="utf-8")
    report = evaluate(folder / "vault", file, folders[folder.name])
    measured = Measured(report, only_scored(report, labelled_qrels(file)))
    assert {grade for judged in measured.qrels.values() for grade in judged.values()} == {0, 1, 2}
    assert_same_as_oracles(measured)
