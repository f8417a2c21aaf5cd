"""An option that would do nothing is refused with what to name in its place: it would look as if it had been heeded."""

from __future__ import annotations

import json

import pytest

from vault_eval.cli import main
from vault_eval.cli.bench import parser
from vault_eval.data_folder import DataFolder
from vault_eval.limits import LABEL_QUERIES_MAX
from vault_eval.rankings.cold import EVERY_LABEL
from vault_eval.vault.location import vault_id, vault_root

LABELS = {
    "schema": "claude-obsidian.retrieval-queries.v1",
    "queries": [{"id": "t", "query": "tide", "expected_pages": ["A.md"]}],
}


@pytest.fixture
def desk(tmp_path, data, monkeypatch):
    """The current folder: a vault of one note, a label file, and two files with a name of ours that somebody else wrote."""
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes" / "A.md").write_text("the tide is high\n", encoding="utf-8")
    (tmp_path / "q.json").write_text(json.dumps(LABELS), encoding="utf-8")
    for name in ("mine.xml", "mine.json"):
        (tmp_path / name).write_text("mine\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VAULT_EVAL_DATA", str(data))
    return tmp_path


@pytest.fixture
def ask(desk, capsys):
    """Exit code, stdout and stderr of one command line."""

    def run(line: str):
        code = main(line.split(), script="vault-eval.py")
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.mark.parametrize(
    "option",
    [
        *("--queries q.json", "--top 20", "--top 10", "--split dev", "--split all", "--vary k1=1.2", "-r keyword", "--index i"),
        *("--product-root .", "--collection c", "--cold-samples 0", "--no-rerank", "--allow-remote"),
    ],
)
def test_saved_reports_are_compared_with_no_option_that_says_what_is_measured(ask, option):
    name = {"-r": "--retriever"}.get(option.split()[0], option.split()[0])
    said = "saved reports are compared as they are; name --vault in their place to measure now, or leave that out"
    assert ask(f"compare a.json b.json {option}") == (2, "", f"vault-eval: {name} would do nothing here: {said}\n")


def test_saved_reports_are_compared_with_every_other_option(ask, desk):
    ask("index --vault Notes")
    assert ask("bench --vault Notes --queries q.json --cold-samples 0 -r keyword,title --out a.json")[0] == 0
    line = "compare a.json a.json --run keyword --primary recall@5 --allow-different --format json --out c.json --data d"
    assert (ask(line)[0], (desk / "c.json").exists()) == (0, True)


@pytest.mark.parametrize(
    "option",
    [
        *("--vault Notes", "--queries q.json", "--index i", "--vary k1=1.2", "--remember", "--collection c", "--split dev"),
        "--why curious",
    ],
)
def test_the_shipped_example_is_measured_with_no_option_that_it_would_ignore(ask, option):
    said = "--fixture measures the notes and labels that are shipped, on an index of their own; leave that out, or --fixture"
    assert ask(f"bench --fixture {option}") == (2, "", f"vault-eval: {option.split()[0]} would do nothing here: {said}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--junit mine.xml --fail-under 0.1", "was not written by this command"),
        ("--out mine.json", "was not written by this command"),
        ("--out r.json --junit r.json --fail-under 0.1", "--junit 'r.json' is named twice: it is --out too"),
        ("--out r.pdf", "no report is written as .pdf"),
        ("-r run:mine.json --out mine.json", "named twice: it is what is measured too"),
    ],
)
def test_the_shipped_example_takes_the_place_of_no_file_either(ask, desk, words, said):
    before = {path.name: path.read_bytes() for path in desk.iterdir() if path.is_file()}
    code, out, err = ask(f"bench --fixture --cold-samples 0 {words}")
    assert (code, out, said in err) == (2, "", True), err
    assert {path.name: path.read_bytes() for path in desk.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--margin 0.1", "--margin needs --baseline; name that too, or leave --margin out"),
        ("--margin 0.1 --fail-under 0.1", "--margin needs --baseline; name that too, or leave --margin out"),
        ("--gate-on lower", "--gate-on needs --fail-under; name that too, or leave --gate-on out"),
        ("--gate-on point", "--gate-on needs --fail-under; name that too, or leave --gate-on out"),
        ("--gate-on lower --baseline a.json", "--gate-on needs --fail-under; name that too, or leave --gate-on out"),
        ("--min-n 1", "--min-n needs --fail-under or --baseline; name that too, or leave --min-n out"),
        ("--junit gates.xml", "--junit needs --fail-under or --baseline; name that too, or leave --junit out"),
        ("--remember", "--remember needs --queries; name that too, or leave --remember out"),
    ],
)
def test_an_option_of_a_gate_that_is_not_there_is_refused(ask, desk, words, said):
    assert ask(f"bench --vault Notes {words}") == (2, "", f"vault-eval: {said}\n")
    assert not (desk / "gates.xml").exists()


def test_doctor_looks_at_no_index_of_an_unnamed_vault(ask):
    assert ask("doctor --index i") == (2, "", "vault-eval: --index needs --vault; name that too, or leave --index out\n")


def test_a_gate_takes_each_of_its_options(ask, desk):
    ask("index --vault Notes")
    bench = "bench --vault Notes --queries q.json --cold-samples 0"
    assert ask(f"{bench} --out a.json --fail-under 0.1 --gate-on point --min-n 1 --junit j.xml")[0] == 0
    # One query: no bound can be told, so that the gate of the baseline is undecided, which exit 3 says.
    assert ask(f"{bench} --baseline a.json --margin 0.1 --min-n 1 --junit j.xml")[0] in (0, 3)
    assert 'tests="1"' in (desk / "j.xml").read_text(encoding="utf-8")


def test_what_is_remembered_is_kept_where_nothing_new_was_named(ask, desk, data):
    ask("index --vault Notes")
    assert ask("bench --vault Notes --queries q.json --cold-samples 0 --remember")[0] == 0
    assert ask("bench --vault Notes --cold-samples 0 --remember")[0] == 2
    settings = DataFolder(str(data)).settings(vault_id(vault_root("Notes")))
    assert list(settings.labels) == [str(desk / "q.json")]


def test_an_option_counts_as_given_also_with_its_default_and_by_its_second_name():
    made = parser()
    words = ["-k", "10", "--markdown", "--strategy=k1=1", "-r", "keyword", "-r", "title"]
    assert made.parse_given(words)[1] == [
        "--retriever",
        "--vary",
        "--top",
        "--format",
    ]
    assert made.parse_given([])[1] == []
    for line in ([], words):  # and the options are those of any other parser, defaults included
        found, plain = (vars(each) for each in (made.parse_given(line)[0], made.parse_args(line)))
        assert {name: found[name] for name in plain} == plain


def test_cold_samples_of_all_labels_are_of_more_than_one_label_file_holds():
    assert parser().parse_args(["--cold-samples", "all"]).cold_samples == EVERY_LABEL > LABEL_QUERIES_MAX


@pytest.mark.parametrize("query", ["", " ", "\t\n"])
def test_an_empty_query_is_refused(desk, capsys, query):
    assert main(["index", "--vault", "Notes"], script="vault-eval.py") == 0
    capsys.readouterr()
    assert main(["retrieve", "--vault", "Notes", query], script="vault-eval.py") == 2
    assert capsys.readouterr() == ("", "vault-eval: the query is empty: write what is looked for\n")
