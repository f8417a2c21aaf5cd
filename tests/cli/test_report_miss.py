"""`report FILE --miss ID`: one query, for a person, for a note, for a program."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from vault_eval.cli import main

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "original"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a vault, a data folder, and a report of three searchers and a variant in it."""
    folder = tmp_path_factory.mktemp("place")
    shutil.copytree(FIXTURE / "pages", folder / "vault")
    vault, data = ("--vault", str(folder / "vault")), ("--data", str(folder / "data"))
    given = (*vault, "--queries", str(FIXTURE / "queries.json"), "--cold-samples", "0", *data)
    searchers = ("-r", "keyword", "-r", "keyword:k1=1.2", "-r", "keyword:chunk-chars=1000", "-r", "title")
    assert main(["index", *vault, *data], script="vault-eval.py") == 0
    assert main(["bench", *given, "--vary", "chunk-chars=1000"], script="vault-eval.py") == 0
    assert main(["bench", *given, *searchers, "--out", str(folder / "report.json")], script="vault-eval.py") == 0
    return folder


@pytest.fixture
def ask(place, capsys):
    """Exit code, stdout and stderr of `report --miss`."""

    def run(*arguments: str):
        capsys.readouterr()
        code = main(["report", str(place / "report.json"), *arguments], script="vault-eval.py")
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_a_person_gets_text_and_a_program_the_record(ask):
    code, out, _ = ask("--miss", "lifting-freight")
    assert code == 0
    assert out == ask("--miss", "lifting-freight", "--format", "text")[1]
    assert "no query word stands in the note" in out
    record = json.loads(ask("--miss", "lifting-freight", "--format", "json")[1])
    assert list(record) == ["vault", "retriever", "row", "pages_returned", "causes"]
    assert record["retriever"] == "keyword"
    assert ask("--miss", "lifting-freight", "--format", "markdown")[1].startswith("# lifting-freight: lifting heavy freight\n")


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_run_is_chosen_by_its_searcher_and_is_the_first_where_none_is_named(ask, form):
    first = ask("--miss", "no-swimming", "--format", form)[1]
    assert first == ask("--miss", "no-swimming", "--format", form, "--run", "keyword")[1]
    code, other, _ = ask("--miss", "no-swimming", "--format", form, "--run", "title")
    assert code == 0
    assert "title" in other
    assert other != first


@pytest.mark.parametrize("form", ["html", "trec", "ranx"])
def test_other_forms_are_refused_and_those_there_are_named(ask, form):
    code, out, err = ask("--miss", "lifting-freight", "--format", form)
    assert (code, out) == (2, "")
    assert f"--miss ID with --format {form}: allowed are text, json, markdown" in err


def test_an_unknown_id_is_told_the_nearest_first(ask):
    code, out, err = ask("--miss", "Lifting-frieght")
    assert (code, out) == (2, "")
    assert "no query with this id; near it are 'lifting-freight'" in err
    assert err.index("near it are") < err.index("worst misses are")
    assert "near it are 'lifting-freight'" in ask("--miss", "lifting")[2]
    assert "near it" not in ask("--miss", "xyz")[2]


@pytest.mark.parametrize(("searcher", "named"), [("keyword", []), ("keyword:k1=1.2", ["-r", "keyword:k1=1.2"])])
def test_the_line_that_tells_the_words_answers_as_the_run_did(ask, place, searcher, named, capsys):
    data = ("--data", str(place / "data"))
    out = ask("--miss", "no-swimming", "--run", searcher, *data)[1]
    line = shlex.split(out.splitlines()[-1])
    assert line[2:] == ["retrieve", "--vault", "VAULT", *data, *named, "--explain", "--", "harbour swimming lessons"]
    given = [str(place / "vault") if word == "VAULT" else word for word in line[2:]]
    assert main(given, script="vault-eval.py") == 0
    answer = json.loads(capsys.readouterr().out)["ranking"]
    row = json.loads(ask("--miss", "no-swimming", "--run", searcher, "--format", "json")[1])["row"]
    assert [(hit["page"], hit["score"]) for hit in answer] == [(hit["page"], hit["score"]) for hit in row["ranking"]]
    assert all(hit["terms"] for hit in answer)


@pytest.mark.parametrize("searcher", ["title", "keyword:chunk-chars=1000"])
def test_what_no_such_line_answers_as_it_did_gets_none(ask, searcher):
    code, out, _ = ask("--miss", "no-swimming", "--run", searcher)
    assert (code, "retrieve" in out) == (0, False)


@pytest.mark.parametrize("query", ["harbour \x1b[2J lessons", "harbour " * 900])
def test_a_query_that_cannot_be_copied_is_not_put_into_the_line(place, tmp_path, query, capsys):
    report = json.loads((place / "report.json").read_text(encoding="utf-8"))
    row = next(row for row in report["runs"][0]["queries"] if row["id"] == "no-swimming")
    row["query"] = query
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert main(["report", str(tmp_path), "--miss", "no-swimming"], script="vault-eval.py") == 0
    assert capsys.readouterr().out.endswith(" retrieve --vault VAULT --explain -- QUERY\n")


def test_a_report_without_runs_has_no_query(place, tmp_path, capsys):
    report = json.loads((place / "report.json").read_text(encoding="utf-8"))
    report["runs"] = report["timing"]["runs"] = []
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert main(["report", str(tmp_path), "--miss", "no-swimming"], script="vault-eval.py") == 2
    assert "run" in capsys.readouterr().err
