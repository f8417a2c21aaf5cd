"""`index` as it is asked again: the options it remembers, how they are forgotten, and the step that it says comes next."""

from __future__ import annotations

import json
import shlex

import pytest

from vault_eval.cli import main
from vault_eval.data_folder import DataFolder
from vault_eval.index.options import IndexOptions
from vault_eval.inputs import index_options

LABEL = '{"id": "t", "query": "tide", "expected_pages": ["A.md"]}'
FILE = f'{{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{LABEL}]}}'
NOTE = f"---\nschema: claude-obsidian.retrieval-queries.v1\nqueries: [{LABEL}]\n---\n"
DIFFERENT = (
    "--chunk-chars 1000",
    "--chunk-max 3000",
    "--overlap 100",
    "--prefix none",
    "--exclude 'old notes/*'",
    "--exclude=--x",
)
FORGOTTEN = "--chunk-chars 2000 --chunk-max 4000 --overlap 200 --prefix synthetic --exclude ''"


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "Notes"
    folder.mkdir()
    (folder / "A.md").write_text("the tide is high\n", encoding="utf-8")
    return folder


@pytest.fixture
def check(vault, data, capsys):
    """Exit code and stdout of `index --check` with a line of options."""

    def run(line: str = ""):
        code = main(["index", "--vault", str(vault), "--data", data, "--check", *shlex.split(line)], script="vault-eval.py")
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def index(vault, data, capsys):
    """stdout and stderr of `index` with a line of options."""

    def run(line: str = ""):
        code = main(["index", "--vault", str(vault), "--data", data, *shlex.split(line)], script="vault-eval.py")
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return printed.out, printed.err

    return run


def test_an_option_that_is_remembered_and_not_given_is_named_each_time(index, vault):
    index("--chunk-chars 1000")
    said = "with the remembered --chunk-chars 1000 (--chunk-chars 2000 goes back to the default)"
    assert f"Nothing changed: 1 notes, 1 chunks, {said}. The index is in" in index()[0]
    (vault / "B.md").write_text("ebb\n", encoding="utf-8")
    assert f"Indexed (1 notes reused): 2 notes, 2 chunks, {said}. The index is in" in index()[0]


def test_an_option_that_is_given_is_not_called_remembered(index):
    index("--chunk-chars 1000 --chunk-max 3000")
    out, _ = index("--chunk-chars 1000")
    assert "with the remembered --chunk-max 3000 (--chunk-max 4000 goes back to the default)" in out
    assert "remembered" not in index("--chunk-chars 1000 --chunk-max 3000")[0]


def test_options_that_are_remembered_from_now_on_are_told_once_with_what_forgets_them(index):
    said = "vault-eval: from now on index takes --chunk-chars 1000 for this vault also where it is not given"
    assert index("--chunk-chars 1000")[1].startswith(f"{said}; --chunk-chars 2000 goes back to the default\n")
    assert index("--chunk-chars 1000")[1] == index()[1] == ""


def test_what_is_said_to_forget_every_option_forgets_every_option(index, vault, data):
    index(" ".join(DIFFERENT))
    out, _ = index()
    assert f"with the remembered {' '.join(DIFFERENT)} ({FORGOTTEN} goes back to the default)" in out
    assert index(FORGOTTEN)[1] == "vault-eval: from now on index takes the default options for this vault again\n"
    assert index_options(DataFolder(data), str(vault)) == IndexOptions()
    assert "remembered" not in index()[0]


def test_the_next_step_without_labels_is_to_write_the_first(index, vault):
    out, _ = index()
    assert "Next: write labels (labels init makes a file of examples)" in out
    assert f"labels add --vault {vault} --query 'WHAT YOU LOOKED FOR' --page 'THE NOTE THAT ANSWERS'" in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("files", "rest"),
    [
        ({"Notes.queries.json": FILE}, ""),
        ({"Notes/Labels.md": NOTE}, ""),
        ({"Notes/Labels.md": NOTE, "Notes/More labels.md": NOTE}, " --queries 'note:Labels.md'"),
        ({"Notes/Labels.md": NOTE, "Notes/More labels.md": NOTE, "Notes.queries.json": FILE}, ""),
    ],
)
def test_the_next_step_where_there_are_labels_is_the_line_that_measures_them(index, vault, data, tmp_path, capsys, files, rest):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    line = index()[0].splitlines()[-1]
    assert line.startswith("Next: python3 ")
    words = shlex.split(line)[3:]
    assert words == ["bench", "--vault", str(vault), *shlex.split(rest), "--data", data]
    assert main([*words, "--cold-samples", "0"], script="vault-eval.py") == 0
    assert "1 scored" in capsys.readouterr().out


def test_the_next_step_where_labels_are_remembered_measures_those(index, vault, data, tmp_path, capsys):
    (tmp_path / "mine.json").write_text(FILE, encoding="utf-8")
    index()
    places = ["--vault", str(vault), "--data", data]
    main(
        ["bench", *places, "--queries", str(tmp_path / "mine.json"), "--remember", "--cold-samples", "0"], script="vault-eval.py"
    )
    capsys.readouterr()
    (vault / "B.md").write_text("ebb\n", encoding="utf-8")
    assert index()[0].splitlines()[-1].endswith(shlex.join(["bench", *places]))


@pytest.mark.parametrize(
    ("built", "asked", "told"),
    [
        ("", "--chunk-chars 1000", "--chunk-chars 1000, where the index has --chunk-chars 2000"),
        ("--chunk-max 3000", "--chunk-max 4000", "--chunk-max 4000, where the index has --chunk-max 3000"),
        ("", "--prefix none", "--prefix none, where the index has --prefix synthetic"),
        ("--stem english", "--stem none", "--stem none, where the index has --stem english"),
        ("", "--exclude 'old notes/*' --exclude B", "--exclude 'old notes/*' --exclude B, where the index has --exclude ''"),
        ("--exclude B", "--exclude ''", "--exclude '', where the index has --exclude B"),
        ("", "--pdf", "--pdf, where the index has --no-pdf"),
    ],
)
def test_an_index_of_other_options_than_those_asked_for_is_stale_and_they_are_named(index, check, built, asked, told):
    if "english" in built:
        pytest.importorskip("snowballstemmer")
    index(built)
    assert check() == check(built) == (0, "The index is fresh.\n")
    assert check(asked) == (1, f"The index is stale; run index again.\n  other option: {told}\n")
    assert check() == (0, "The index is fresh.\n")  # a look remembers nothing


def test_an_index_of_other_options_than_those_remembered_is_stale_as_index_would_build_it_again(index, check, tmp_path):
    elsewhere = f"--index {tmp_path / 'elsewhere'}"
    index()
    index(f"--chunk-chars 1000 {elsewhere}")
    assert check(elsewhere)[0] == 0
    code, out = check("--format json")
    assert (code, json.loads(out)) == (
        1,
        {
            "fresh": False,
            "options": [{"option": "chunk_chars", "index": 2000, "now": 1000}],
            "added": [],
            "changed": [],
            "removed": [],
        },
    )
    assert "Indexed" in index()[0]
    assert check()[0] == 0


def test_a_note_that_is_excluded_now_counts_as_removed_from_a_stale_index(index, check, vault):
    (vault / "B.md").write_text("ebb\n", encoding="utf-8")
    index()
    code, out = check("--exclude B.md")
    assert (code, out.splitlines()[2:]) == (1, ["  removed: B.md"])


def test_json_parts_what_is_left_out_from_what_is_odd_but_indexed(index, vault):
    (vault / "Old.md").write_text("ebb\n", encoding="utf-8")
    (vault / "Latin.md").write_bytes(b"\xe9bb\n")
    (vault / "Broken.md").write_text("---\ntags: [a\n---\nflood\n", encoding="utf-8")
    out, err = index("--exclude Old.md --format json")
    content = json.loads(out)
    assert [page["path"] for page in content["pages"]] == ["A.md", "Broken.md"]
    assert [one["path"] for one in content["skipped"]] == ["Latin.md", "Old.md"]
    assert content["skipped"][1]["reason"] == "excluded: Old.md"
    assert [one["path"] for one in content["warnings"]] == ["Broken.md"]
    assert f"vault-eval: Broken.md: indexed, but: {content['warnings'][0]['reason']}\n" in err


def test_the_first_of_many_odd_notes_are_told_beside_json(index, vault):
    for number in range(23):
        (vault / f"N{number:02}.md").write_text("---\ntags: [a\n---\n", encoding="utf-8")
    out, err = index("--format json")
    assert (len(json.loads(out)["warnings"]), err.count("indexed, but: ")) == (23, 20)
    assert err.endswith("vault-eval: 3 more are odd; see warnings\n")
