from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vault_eval.cli import main
from vault_eval.labels.load import LabelDocument, load_labels

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "vault-eval.py"
LABELS = {
    "schema": "vault-eval.labels.v1",
    "queries": [
        {
            "id": "leak",
            "query": "where is the water",
            "expected_pages": ["Water butt.md", "Sea/Tides.md#High"],
            "grades": {"Water butt.md": 2},
        },
        {"id": "gone", "query": "a lost note", "expected_pages": ["Lost.md"]},
        {"id": "later", "query": "who knows", "expected_pages": ["Sea/Tides.md"], "skip_reason": "unsure"},
        {"id": "nothing", "query": "helicopter", "expected_pages": []},
        {"id": "hashed", "query": "tides", "expected_pages": ["Sea/Tides.md"], "hashes": {"Sea/Tides.md": "0" * 64}},
    ],
}


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    (folder / "Sea").mkdir(parents=True)
    (folder / "Water butt.md").write_text("# Water\nrain\n", encoding="utf-8")
    (folder / "Sea" / "Tides.md").write_text("# Tides\n## High\nnoon\n", encoding="utf-8")
    return folder


@pytest.fixture
def labels(tmp_path):
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(LABELS), encoding="utf-8")
    return file


@pytest.fixture
def ask(tmp_path, capsys):
    """Exit code, stdout and stderr of one `labels` command."""

    def run(*arguments: object):
        code = main(["labels", *map(str, arguments), "--data", str(tmp_path / "data")], script="vault-eval.py")
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def written(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def ids(text):
    return [label.id for label in load_labels([LabelDocument("out.json", text.encode(), None, list)]).labels]


def test_export_prints_the_file_and_says_what_it_lost(ask, vault, labels):
    code, out, err = ask("export", "--vault", vault, "--queries", labels, "--to", "trec")
    assert (code, out) == (0, "leak 0 Water%20butt.md 2\nleak 0 Sea/Tides.md 1\nhashed 0 Sea/Tides.md 1\n")
    assert err.splitlines() == [
        "vault-eval: not carried over: the query, since a page that it expects does not exist; 1 of 5 queries: 'gone'",
        "vault-eval: not carried over: the digests of the pages as they were judged; 1 of 4 queries: 'hashed'",
        "vault-eval: not carried over: the text of the query (--to topics writes it); 2 of 2 queries",
        "vault-eval: not carried over: that no page is expected: the query is left out; 1 of 4 queries: 'nothing'",
        "vault-eval: not carried over: the reason to skip it: the query is left out; 1 of 4 queries: 'later'",
        "vault-eval: not carried over: sections and blocks: the note stands for them; 1 of 2 queries: 'leak'",
    ]


def test_native_export_loses_nothing(ask, vault, labels):
    code, out, err = ask("export", "--vault", vault, "--queries", labels, "--to", "native")
    assert (code, json.loads(out), err) == (0, LABELS, "")


def test_our_other_json_keeps_labels_whose_page_is_gone(ask, vault, labels):
    code, out, _ = ask("export", "--vault", vault, "--queries", labels, "--to", "expect")
    assert (code, [one["query"] for one in json.loads(out)["queries"]]) == (
        0,
        ["where is the water", "a lost note", "helicopter", "tides"],
    )


def test_trec_export_and_import_meet(ask, vault, labels, tmp_path):
    for form in ("trec", "topics"):
        assert ask("export", "--vault", vault, "--queries", labels, "--to", form, "--out", tmp_path / form)[:2] == (0, "")
    code, out, err = ask("import", tmp_path / "trec", "--from", "trec", "--topics", tmp_path / "topics", "--vault", vault)
    assert (code, err) == (0, "")
    assert json.loads(out)["queries"] == [
        {
            "id": "leak",
            "query": "where is the water",
            "expected_pages": ["Water butt.md", "Sea/Tides.md"],
            "grades": {"Water butt.md": 2},
        },
        {"id": "hashed", "query": "tides", "expected_pages": ["Sea/Tides.md"]},
    ]


def test_beir_is_a_folder_both_ways(ask, vault, labels, tmp_path):
    folder = tmp_path / "set"
    code, out, err = ask("export", "--vault", vault, "--queries", labels, "--to", "beir", "--out", folder, "--corpus")
    assert (code, out) == (0, "")
    assert "printed is" not in err
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "corpus.jsonl",
        "qrels/test.tsv",
        "queries.jsonl",
        "unanswerable.json",
    ]
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    assert corpus[0] == {"_id": "Sea/Tides.md", "title": "Tides", "text": "# Tides\n## High\nnoon\n"}
    assert "is there and not empty" in ask("export", "--vault", vault, "--queries", labels, "--to", "beir", "--out", folder)[2]
    code, out, _ = ask("import", folder, "--from", "beir", "--out", tmp_path / "back.json")
    assert (code, out) == (0, "")
    assert ids((tmp_path / "back.json").read_text(encoding="utf-8")) == ["leak", "nothing", "hashed"]


def test_file_that_out_names_is_never_replaced_by_another(ask, vault, labels, tmp_path):
    """Labels that were written by hand after an import would be gone."""
    out = tmp_path / "out.json"
    export = ("export", "--vault", vault, "--queries", labels, "--to", "native", "--out", out)
    assert [ask(*export)[0], ask(*export)[0]] == [0, 0]  # the same bytes: nothing to do
    out.write_text("mine", encoding="utf-8")
    code, _, err = ask(*export)
    assert (code, "nothing is overwritten" in err) == (2, True)
    assert out.read_text(encoding="utf-8") == "mine"


def test_without_corpus_no_text_of_a_note_is_copied(ask, vault, labels, tmp_path):
    assert ask("export", "--vault", vault, "--queries", labels, "--to", "beir", "--out", tmp_path / "set")[0] == 0
    assert not any("noon" in path.read_text(encoding="utf-8") for path in (tmp_path / "set").rglob("*") if path.is_file())
    assert ask("export", "--vault", vault, "--queries", labels, "--to", "trec", "--corpus")[0] == 2


def test_first_of_several_files_is_printed_and_the_others_are_named(ask, vault, labels):
    code, out, err = ask("export", "--vault", vault, "--queries", labels, "--to", "beir")
    assert (code, json.loads(out.splitlines()[0])["_id"]) == (0, "leak")
    assert err.splitlines()[0] == (
        "vault-eval: printed is queries.jsonl; --out FOLDER writes qrels/test.tsv, unanswerable.json too"
    )


@pytest.mark.parametrize("command", ["import", "export"])
def test_nothing_is_written_into_the_vault(ask, vault, labels, tmp_path, command):
    qrels = written(tmp_path / "a.qrels", "q 0 a.md 1\n")
    given = {"import": (qrels, "--from", "trec"), "export": ("--queries", labels, "--to", "native")}[command]
    before = sorted(vault.rglob("*"))
    code, out, err = ask(command, *given, "--vault", vault, "--out", vault / "Sea" / "out.json")
    assert (code, out) == (2, "")
    assert "lies inside the vault" in err
    assert sorted(vault.rglob("*")) == before


@pytest.mark.parametrize("command", ["import", "export", "pool"])
@pytest.mark.parametrize("place", ["", "Sea/out.json", ".obsidian/out.json"])
def test_nothing_is_written_into_a_vault_that_nobody_named(ask, vault, labels, tmp_path, command, place):
    other = tmp_path / "Other"
    (other / ".obsidian").mkdir(parents=True)
    qrels = written(tmp_path / "a.qrels", "q 0 a.md 1\n")
    before = sorted(tmp_path.rglob("*"))
    given = {
        "import": (qrels, "--from", "trec"),
        "export": ("--queries", labels, "--to", "native", "--vault", vault),
        "pool": ("--queries", labels, "--vault", vault),
    }[command]
    code, out, err = ask(command, *given, "--out", other / place)
    assert (code, out) == (2, "")
    assert f"lies inside the vault {str(other)!r}" in err
    assert sorted(tmp_path.rglob("*")) == before


def test_import_says_which_pages_the_vault_lacks(ask, vault, tmp_path):
    file = written(tmp_path / "q.jsonl", '{"id": "a", "query": "x", "relevant": ["sea/tides.md"]}\n')
    code, out, err = ask("import", file, "--from", "enquire-mcp", "--vault", vault)
    assert (code, ids(out)) == (0, ["a"])
    assert "query 'a': 'sea/tides.md': no note of that name is in the vault; in other letter case there is 'Sea/Tides.md'" in err


def test_names_without_a_path_are_found_in_the_vault(ask, vault, tmp_path):
    file = written(tmp_path / "cases.tsv", "when is high water\tTides.md\n")
    code, out, _ = ask("import", file, "--from", "omind", "--vault", vault)
    assert (code, json.loads(out)["queries"][0]["expected_pages"]) == (0, ["Sea/Tides.md"])
    assert ask("import", file, "--from", "omind")[0] == 2
    (vault / "Archive").mkdir()
    (vault / "Archive" / "tides.md").write_text("another", encoding="utf-8")
    code, out, err = ask("import", file, "--from", "omind", "--vault", vault)
    assert (code, out) == (2, "")
    assert "line 1: the link '[[Tides.md]]' fits 2 pages: 'Archive/tides.md', 'Sea/Tides.md'" in err


def test_literal_names_are_not_decoded(ask, tmp_path):
    qrels = written(tmp_path / "a.qrels", "q%41 0 100%20.md 1\n")
    texts = written(tmp_path / "topics.tsv", "q%41\tx\n")
    code, out, _ = ask("import", qrels, "--from", "trec", "--topics", texts, "--literal")
    assert (code, json.loads(out)["queries"]) == (0, [{"id": "q%41", "query": "x", "expected_pages": ["100%20.md"]}])


def test_set_larger_than_a_label_file_is_taken_in_parts(ask, tmp_path):
    rows = [f'{{"id": "q{number}", "query": "text {number}", "relevant": ["a.md"]}}\n' for number in range(1_190)]
    file = written(tmp_path / "q.jsonl", "".join(rows))
    code, out, err = ask("import", file, "--from", "enquire-mcp")
    assert (code, out) == (2, "")
    assert "1,190 queries; a label file has at most 1,000: add --part 1/2, then --part 2/2" in err
    parts = [ids(ask("import", file, "--from", "enquire-mcp", "--part", part)[1]) for part in ("1/2", "2/2")]
    assert [len(part) for part in parts] == [595, 595]
    assert [*parts[0], *parts[1]] == [f"q{number}" for number in range(1_190)]
    for wrong in ("0/2", "3/2", "1", "1/0"):
        assert ask("import", file, "--from", "enquire-mcp", "--part", wrong)[0] == 2


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("trec", "q 0 two words.md 1\n", "a.file: line 1: 5 columns"),
        ("trec", "q 0 a.md 1\n", "query 'q' has no text; name a file of lines 'ID TAB TEXT' with --topics"),
        ("trec", "q 0 4983 1\n", "a.file: line 1: the path '4983' is neither Markdown"),
        ("trec", "", "there are no queries"),
        ("trec", "q 0 ../a.md 1\n", "line 1: the path '../a.md' holds the segment `..`"),
        ("ranx", "[]", "it is a list; it must be an object"),
        ("elasticsearch", "{", "not JSON"),
        ("beir", "", "is no folder"),
        (
            "enquire-mcp",
            '{"query": "x", "relevant": ["a.md", "a.md"]}',
            "line 1: 'a.md' is judged twice for '2d711642b726'; judge it once",
        ),
    ],
)
def test_faulty_file_is_refused_with_its_place(ask, tmp_path, form, text, message):
    code, out, err = ask("import", written(tmp_path / "a.file", text), "--from", form)
    assert (code, out) == (2, "")
    assert message in err


def test_note_that_is_no_utf_8_is_named_as_left_out_of_the_corpus(ask, vault, labels, tmp_path):
    (vault / "Old.md").write_bytes(b"caf\xe9\n")
    options = ("--vault", vault, "--queries", labels, "--to", "beir", "--corpus", "--out", tmp_path / "set")
    code, _, err = ask("export", *options)
    assert (code, "vault-eval: 'Old.md': not UTF-8: " in err, "it is not in corpus.jsonl" in err) == (0, True, True)


@pytest.mark.parametrize(
    ("form", "encoding"), [("trec", "latin-1"), ("native", "cp1252"), ("beir", "ascii"), ("topics", "ascii")]
)
def test_printed_file_is_the_one_that_out_writes_whatever_the_console_can_show(vault, tmp_path, encoding, form):
    """A path with its letters escaped would be that of another page."""
    (vault / "Fête 🎉.md").write_text("party\n", encoding="utf-8")
    content = {"id": "fête", "query": "où 🎉", "expected_pages": ["Fête 🎉.md"]}
    source = written(
        tmp_path / "labels.json", json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": [content]})
    )
    words = ["labels", "export", "--vault", vault, "--queries", source, "--to", form, "--data", tmp_path / "data"]

    def run(*more: object):
        line = [sys.executable, str(SCRIPT), *map(str, (*words, *more))]
        return subprocess.run(line, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": encoding}).stdout

    printed = run()
    run("--out", tmp_path / "out")
    out = tmp_path / "out"
    assert printed == (out / "queries.jsonl" if out.is_dir() else out).read_bytes()
    assert "🎉" in printed.decode("utf-8") or b"%F0%9F%8E%89" in printed


def test_file_that_cannot_be_read_is_named(ask, tmp_path):
    assert "does not exist" in ask("import", tmp_path / "none", "--from", "trec")[2]
    (tmp_path / "bytes").write_bytes(b"q 0 \xff.md 1\n")
    assert f"{str(tmp_path / 'bytes')!r}: not UTF-8" in ask("import", tmp_path / "bytes", "--from", "trec")[2]
    written(tmp_path / "real.qrels", "q 0 a.md 1\n")
    (tmp_path / "link").symlink_to("real.qrels")
    assert "link" in ask("import", tmp_path / "link", "--from", "trec")[2]


def test_pages_that_the_vault_lacks_are_counted_beyond_the_first(ask, vault, tmp_path):
    rows = [f'{{"id": "q{number}", "query": "text {number}", "relevant": ["none {number}.md"]}}\n' for number in range(30)]
    err = ask("import", written(tmp_path / "q.jsonl", "".join(rows)), "--from", "enquire-mcp", "--vault", vault)[2]
    assert len(err.splitlines()) == 21
    assert err.splitlines()[-1].startswith("vault-eval: … and 10 more missing pages")
