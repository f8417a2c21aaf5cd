"""`history` from the shell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LABELS = {
    "schema": "claude-obsidian.retrieval-queries.v1",
    "queries": [{"id": "neap", "query": "neap tide", "expected_pages": ["A.md"]}],
}


def script(*words: str, cwd: Path, encoding: str = "utf-8", read_as: str | None = None):
    line = [sys.executable, str(ROOT / "scripts/vault-eval.py"), *map(str, words), "--vault", "vault", "--data", "data"]
    environment = {"PYTHONIOENCODING": encoding, "PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    return subprocess.run(
        line, capture_output=True, text=True, encoding=read_as or encoding, check=False, cwd=cwd, env=environment
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    (folder / "vault").mkdir()
    (folder / "vault/A.md").write_text("# Neap\nneap tide", encoding="utf-8")
    (folder / "vault.queries.json").write_text(json.dumps(LABELS), encoding="utf-8")
    for text in (None, "# Neap\nneap tide, again"):
        if text is not None:
            (folder / "vault/A.md").write_text(text, encoding="utf-8")
        assert script("index", cwd=folder).returncode == 0
        assert script("bench", "--cold-samples", "0", cwd=folder).returncode == 0
    return folder


def test_every_kept_report_is_a_point(desk):
    done = script("history", "--format", "json", cwd=desk)
    assert done.returncode == 0, done.stderr
    (series,) = json.loads(done.stdout)["series"]
    assert [point["changed"] for point in series["points"]] == [[], ["notes"]]
    assert [point["value"] for point in series["points"]] == [1.0, 1.0]


def test_an_index_that_caught_up_with_the_notes_is_a_step_of_its_own(tmp_path):
    """The second report is of an index that is behind the notes; before the third it is built anew, and no note changes."""
    (tmp_path / "vault").mkdir()
    note = tmp_path / "vault/A.md"
    (tmp_path / "vault.queries.json").write_text(json.dumps(LABELS), encoding="utf-8")
    for text, commands in (("# Neap", ("index", "bench")), ("# Neap\nneap tide", ("bench", "index", "bench"))):
        note.write_text(text, encoding="utf-8")
        for command in commands:
            done = script(command, *(["--cold-samples", "0"] if command == "bench" else []), cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    (series,) = json.loads(script("history", "--format", "json", cwd=tmp_path).stdout)["series"]
    assert [point["changed"] for point in series["points"]] == [[], ["notes"], ["index"]]
    assert series["points"][2]["index_change"] == "the indexes were built from other states of the notes: one of them is stale"


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_what_is_left_out_is_said_on_stderr(desk, form):
    (vault,) = (desk / "data/reports").iterdir()
    file = max(vault.iterdir()) / "report.json"
    unchanged = file.read_bytes()
    assert script("history", "--format", form, cwd=desk).stderr == ""
    file.write_bytes(unchanged.replace(b'"n": 1', b'"n": 2'))
    done = script("history", "--format", form, cwd=desk)
    file.write_bytes(unchanged)
    assert done.returncode == 0
    assert done.stderr.startswith("! left out of the trend: 1 of 2 kept reports\n")
    assert str(file.relative_to(desk)) in "".join(done.stderr.split())
    assert "whichfollowsfromtherows" in "".join(done.stderr.split())


def test_text_has_bars_on_a_terminal_that_has_the_letters(desk):
    assert "  █│█\n" in script("history", cwd=desk).stdout
    done = script("history", "--metric", "RECALL@5", cwd=desk, encoding="ascii")
    assert done.returncode == 0
    assert "recall@5" in done.stdout
    assert "\\u25" not in done.stdout


def test_html_is_one_page(desk):
    page = script("history", "--format", "html", cwd=desk).stdout
    assert (page.startswith("<!DOCTYPE html>"), page.isascii()) == (True, False)
    # It says that it is UTF-8, and is, whatever the console can show.
    assert script("history", "--format", "html", cwd=desk, encoding="latin-1", read_as="utf-8").stdout == page


def test_an_unknown_metric_and_a_vault_without_reports_end_with_2(desk):
    done = script("history", "--metric", "speed", cwd=desk)
    assert (done.returncode, done.stdout) == (2, "")
    assert "speed" in done.stderr
    (desk / "data/reports").rename(desk / "data/elsewhere")
    done = script("history", cwd=desk)
    (desk / "data/elsewhere").rename(desk / "data/reports")
    assert (done.returncode, done.stdout) == (2, "")
    assert "measure it first" in done.stderr


def test_two_collections_of_one_label_file_are_told_apart_in_the_trend_and_each_has_its_own_last_report(tmp_path):
    """`sea` is found at rank 1 and `land` not at all: without the collection the trend would rise and fall by itself."""
    (tmp_path / "vault").mkdir()
    for name, text in (("A", "neap tide"), ("B", "oak")):
        (tmp_path / f"vault/{name}.md").write_text(text, encoding="utf-8")
    queries = [
        {"id": "neap", "query": "neap tide", "expected_pages": ["A.md"], "collection": "sea"},
        {"id": "wood", "query": "neap", "expected_pages": ["B.md"], "collection": "land"},
    ]
    labels = {"schema": "vault-eval.labels.v1", "queries": queries}
    (tmp_path / "vault.queries.json").write_text(json.dumps(labels), encoding="utf-8")
    assert script("index", cwd=tmp_path).returncode == 0
    for chosen, said in (("sea", False), ("land", False), ("sea", True)):
        done = script("bench", "--cold-samples", "0", "--collection", chosen, cwd=tmp_path)
        assert (done.returncode, "Since the last report" in done.stdout) == (0, said), done.stderr
    (series,) = json.loads(script("history", "--format", "json", cwd=tmp_path).stdout)["series"]
    assert [(point["value"], point["changed"]) for point in series["points"]] == [(1.0, []), (0.0, ["labels"]), (1.0, ["labels"])]
