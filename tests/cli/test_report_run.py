from __future__ import annotations

import json
from pathlib import Path

import pytest

from vault_eval.cli import main
from vault_eval.interop import ranx, trec

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "original"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    assert main(["index", "--vault", str(FIXTURE / "pages"), "--data", str(folder)], script="vault-eval.py") == 0
    return folder


@pytest.fixture
def ask(data, capsys):
    """Exit code, stdout and stderr of one command."""

    def run(*arguments: object):
        capsys.readouterr()
        code = main([*map(str, arguments), "--data", str(data)], script="vault-eval.py")
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def report(ask, tmp_path):
    file = tmp_path / "report.json"
    given = ("--vault", FIXTURE / "pages", "--queries", FIXTURE / "queries.json", "--cold-samples", 0)
    assert ask("bench", *given, "-r", "keyword", "-r", "title", "--out", file)[0] == 0
    return file


def rankings(report, number):
    rows = json.loads(report.read_text(encoding="utf-8"))["runs"][number]["queries"]
    return {row["id"]: [hit["page"] for hit in row["ranking"]] for row in rows}


def pages(run):
    return {qid: [one.page for one in ranking] for qid, ranking in run.rankings.items()}


@pytest.mark.parametrize(("number", "name"), [(0, "keyword"), (1, "title")])
def test_each_run_is_written_in_the_order_of_the_report(ask, report, number, name):
    found = rankings(report, number)
    code, out, err = ask("report", report, "--format", "trec", "--run", name)
    run = trec.read_run(out, "the run")
    silent = [qid for qid, ranking in found.items() if not ranking]
    assert (code, run.tag, pages(run)) == (0, name, {qid: ranking for qid, ranking in found.items() if ranking})
    assert all(repr(qid) in err for qid in silent)
    assert pages(ranx.read_run(ask("report", report, "--format", "ranx", "--run", name)[1], "the run")) == found


def test_run_that_was_written_is_measured_with_the_same_figures(ask, report, tmp_path):
    run = tmp_path / "keyword.run"
    run.write_text(ask("report", report, "--format", "trec", "--run", "keyword")[1], encoding="utf-8")
    given = ("--vault", FIXTURE / "pages", "--queries", FIXTURE / "queries.json", "--cold-samples", 0)
    code, out, _ = ask("bench", *given, "-r", f"run:{run}", "--format", "json")
    before, after = json.loads(report.read_text(encoding="utf-8"))["runs"][0], json.loads(out)["runs"][0]
    names = ("recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10", "ap@10", "hit@1", "no_result_accuracy")
    assert code == 0
    assert {name: after["metrics"][name] for name in names} == {name: before["metrics"][name] for name in names}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "trec"), "the report has several runs; name one with --run: 'keyword', 'title'"),
        (("--format", "ranx", "--run", "titel"), "the report has no run 'titel'; name one with --run: 'keyword', 'title'"),
        (("--run", "title"), "--run goes with --miss ID, and with --format trec or ranx"),
        (("--miss", "no-swimming", "--run", "titel"), "the report has no run 'titel'; name one with --run: 'keyword', 'title'"),
    ],
)
def test_run_must_be_one_of_the_report(ask, report, arguments, message):
    code, out, err = ask("report", report, *arguments)
    assert (code, out) == (2, "")
    assert message in err
