"""What a newcomer mistypes: the sentence is short, and names what was meant."""

from __future__ import annotations

import json
import os

import pytest

from vault_eval.cli import main
from vault_eval.cli.bench import parser

LABELS = (
    '{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{"id": "t", "query": "tide", "expected_pages": ["A.md"]}]}'
)


def names(folder):
    return sorted(place.name for place in folder.iterdir())


@pytest.fixture
def home(tmp_path, data, monkeypatch):
    """A home folder that is the current one too, with a vault of one note and a label file."""
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes" / "A.md").write_text("the tide is high\n", encoding="utf-8")
    (tmp_path / "q.json").write_text(LABELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("VAULT_EVAL_DATA", str(data))
    return tmp_path


@pytest.fixture
def ask(home, capsys):
    """Exit code, stdout and stderr of one command."""

    def run(*words: str):
        code = main([*words], script="vault-eval.py")
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["bench", "--vault", "Notes", "--querys", "q.json"], "--queries"),
        (["bench", "--vault", "Notes", "--querys=q.json"], "--queries"),
        (["bench", "--vault", "Notes", "-queries", "q.json"], "--queries"),
        (["index", "--vualt", "Notes"], "--vault"),  # which is required, and not what is missing
        (["index", "--vault", "Notes", "--chunk-char", "1000"], "--chunk-chars"),
        (["retrieve", "--vault", "Notes", "jet", "lag", "--tpo", "3"], "--top"),
        (["labels", "add", "--vault", "Notes", "--querry", "tide"], "--query"),
        (["compare", "a.json", "b.json", "--primry", "mrr@10"], "--primary"),
        (["history", "--vault", "Notes", "--metrics", "mrr@10"], "--metric"),
    ],
)
def test_a_mistyped_option_is_named_with_the_one_that_was_meant_and_no_usage(ask, words, meant):
    code, out, err = ask(*words)
    first, second = err.splitlines()
    assert (code, out) == (2, "")
    assert first.startswith("vault-eval: there is no option '-")
    assert first.endswith(f" (did you mean {meant}?)")
    assert second.endswith("--help lists the options")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bench", "--vault", "Notes", "--zzz"], "there is no option '--zzz'"),
        (["bench", "--vault", "Notes", "q.json"], "no option takes 'q.json'"),
        (["index"], "the following arguments are required: --vault"),
        (["index", "--vault"], "argument --vault: expected one argument"),
        (["index", "--vault", "Notes", "--chunk-chars", "many"], "argument --chunk-chars: 'many' is no whole number"),
    ],
)
def test_every_other_fault_of_a_command_line_is_two_lines_too(ask, words, sentence):
    code, _, err = ask(*words)
    assert (code, err.splitlines()) == (2, [f"vault-eval: {sentence}", f"vault-eval.py {words[0]} --help lists the options"])


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["bench", "-r", "keywrod"], "keyword"),
        (["retrieve", "-r", "Keyword", "tide"], "keyword"),
        (["retrieve", "-r", "keyword:chunk_chars=900", "tide"], "chunk-chars"),
        (["bench", "--fail-under", "recal@5=0.5"], "recall@5"),
        (["bench", "--fail-under", "recal@5"], "recall@5"),
        (["bench", "--vary", "chunk_chars=1000"], "chunk-chars"),
        (["bench", "--format", "jsn"], "json"),
        (["bench", "--split", "hold-out"], "holdout"),
        (["index", "--prefix", "synthetics"], "synthetic"),
        (["index", "--vectors", "worldlama"], "wordllama"),
    ],
)
def test_a_mistyped_value_is_named_with_the_one_that_was_meant(ask, words, meant):
    code, _, err = ask(*words, "--vault", "Notes")
    assert (code, f"(did you mean {meant}?)" in err) == (2, True), err


def test_a_mistyped_metric_of_saved_reports_is_named_with_the_one_that_was_meant(ask):
    ask("index", "--vault", "Notes")
    assert ask("bench", "--vault", "Notes", "--queries", "q.json", "--cold-samples", "0", "--out", "a.json")[0] == 0
    assert "(did you mean mrr@10?)" in ask("compare", "a.json", "a.json", "--primary", "mrr10")[2]


def test_a_text_that_starts_with_dashes_is_no_mistyped_option():
    found = parser().parse_args(["--vault", "Notes", "--why", "--vualt is a slip", "--top", "10"])
    assert found.why == "--vualt is a slip"


def test_a_query_of_several_words_is_to_be_put_in_quotes(ask):
    code, out, err = ask("retrieve", "--vault", "Notes", "jet", "lag", "today's")
    assert (code, out) == (2, "")
    assert err == """vault-eval: the query is one argument, but 3 were given; put it in quotes: 'jet lag today'"'"'s'\n"""


def test_options_after_two_dashes_are_words_of_the_query(ask):
    code, out, err = ask("retrieve", "--vault", "Notes", "--", "-x", "--top", "3")
    assert (code, out) == (2, "")
    assert err == (
        "vault-eval: the query is one argument, but 3 were given; put it in quotes: '-x --top 3'; options stand before the --\n"
    )


def test_a_query_after_two_dashes_may_look_like_a_mistyped_option(ask):
    ask("index", "--vault", "Notes")
    code, out, _ = ask("retrieve", "--vault", "Notes", "--", "--vualt")
    assert (code, json.loads(out)["query"]) == (0, "--vualt")


def test_a_home_folder_in_quotes_is_the_home_folder_for_everything_that_is_read_or_written(ask, home):
    assert ask("index", "--vault", "~/Notes", "--index", "~/index")[0] == 0
    bench = ("bench", "--vault", "~/Notes", "--queries", "~/q.json", "--index", "~/index", "--cold-samples", "0")
    assert ask(*bench, "--out", "~/a.json")[0] == ask(*bench, "--out=~/b")[0] == 0
    assert ask("compare", "~/a.json", "~/b")[0] == ask("report", "~/a.json")[0] == 0
    assert names(home) == ["Notes", "a.json", "b", "index", "q.json"]


def test_a_folder_that_is_called_like_the_home_folder_stays_what_it_is(ask, home):
    (home / "~").mkdir()
    (home / "Notes").rename(home / "~" / "Notes")
    code, out, _ = ask("index", "--vault", "~/Notes")
    assert (code, "Indexed: 1 notes" in out) == (0, True)


def test_a_query_is_no_place(ask):
    ask("index", "--vault", "Notes")
    assert json.loads(ask("retrieve", "--vault", "Notes", "~/Notes")[1])["query"] == "~/Notes"


@pytest.mark.parametrize(
    "name", ["report.pdf", "report.txt", "Report.CSV", "report.docx", "report.xml", "report.yaml", "report.htm"]
)
def test_a_report_in_a_format_that_is_none_of_ours_is_refused_before_anything_is_measured(ask, home, name):
    code, out, err = ask("bench", "--vault", "Notes", "--queries", "q.json", "--out", name)
    assert (code, out, os.path.lexists(home / name)) == (2, "", False)
    assert "write NAME.json, NAME.md or NAME.html, or a folder" in err


@pytest.mark.parametrize("name", ["runs.v2", "2026.11", "report.pdf/"])
def test_a_folder_for_reports_may_have_a_dot_in_its_name(ask, home, name):
    ask("index", "--vault", "Notes")
    assert ask("bench", "--vault", "Notes", "--queries", "q.json", "--cold-samples", "0", "--out", name)[0] == 0
    assert names(home / name) == ["pages.json", "report.html", "report.json", "report.md"]


def test_with_neither_labels_nor_index_both_are_named(ask, home):
    code, _, err = ask("bench", "--vault", "Notes")
    assert (code, err.startswith("vault-eval: no labels were named")) == (2, True)
    assert "There is no index of this vault either.\n" in err
    assert err.splitlines()[-1].endswith(f"index --vault {home / 'Notes'}")


def test_without_labels_an_index_that_is_there_or_not_needed_is_not_spoken_of(ask):
    assert "no index" not in ask("bench", "--vault", "Notes", "-r", "title,grep")[2]
    ask("index", "--vault", "Notes")
    code, _, err = ask("bench", "--vault", "Notes")
    assert (code, "no index" in err) == (2, False)


def test_a_page_for_a_new_label_that_is_not_there_is_answered_with_the_near_one_and_no_word_of_a_label(ask, home):
    (home / "Notes" / "如何倒时差.md").write_text("早睡\n", encoding="utf-8")
    code, _, err = ask("labels", "add", "--vault", "Notes", "--query", "倒时差", "--page", "如何调时差")
    assert (code, err.endswith("no note of that name is in the vault; is '如何倒时差.md' meant?\n")) == (2, True)
    err = ask("labels", "add", "--vault", "Notes", "--query", "倒时差", "--page", "Nowhere")[2]
    assert err.endswith("no note of that name is in the vault; correct the path\n")
