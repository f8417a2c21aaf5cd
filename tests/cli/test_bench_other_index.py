"""`bench` on a vault that another product has indexed: which index is searched, and that it is only read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "vault-eval.py"


@pytest.fixture
def bench(vault_meta, tmp_path):
    vault_meta.write("wiki/Tides.md", "The moon pulls the water.\n")
    vault_meta.write("wiki/Boat.md", "Paint the hull in spring.\n")
    vault_meta.index()
    labels = tmp_path / "labels.json"
    queries = [{"id": "moon", "query": "moon", "expected_pages": ["wiki/Tides.md"]}]
    labels.write_text(json.dumps({"schema": "claude-obsidian.retrieval-queries.v1", "queries": queries}), encoding="utf-8")

    def run(command: str, *words: object) -> subprocess.CompletedProcess[str]:
        places = ["--vault", str(vault_meta.root), "--data", str(tmp_path / "data")]
        measured = ["--queries", str(labels), "--cold-samples", "0", "--format", "json"] if command == "bench" else []
        argv = [sys.executable, str(SCRIPT), command, *places, *measured, *map(str, words)]
        return subprocess.run(argv, capture_output=True, text=True, encoding="utf-8", check=False)

    return run


def searched(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["metrics"]["recall@1"]["value"] == 1.0
    return run["index"]["format"]


def test_index_in_the_vault_is_searched_where_there_is_none_of_ours_and_named_where_there_is(bench, vault_meta):
    before = {path: path.read_bytes() for path in vault_meta.root.rglob("*") if path.is_file()}
    assert searched(bench("bench")) == "claude-obsidian.bm25.schema-2"
    assert bench("index").returncode == 0
    assert searched(bench("bench")) == "vault-eval.index.v1"
    assert searched(bench("bench", "--index", vault_meta.folder)) == "claude-obsidian.bm25.schema-2"
    assert {path: path.read_bytes() for path in vault_meta.root.rglob("*") if path.is_file()} == before


def test_any_other_place_in_the_vault_is_refused_as_an_index(bench, vault_meta):
    done = bench("bench", "--index", vault_meta.root / "wiki")
    assert (done.returncode, "lies inside the vault" in done.stderr) == (2, True)
    done = bench("index", "--index", vault_meta.folder)
    assert (done.returncode, "lies inside the vault" in done.stderr) == (2, True)


def test_a_note_whose_records_are_malformed_is_not_said_to_be_new_nor_to_be_mended_by_us(bench, vault_meta):
    vault_meta.record_file("wiki/Boat.md").write_text("{", encoding="utf-8")
    (warning,) = json.loads(bench("bench").stdout)["warnings"]
    assert warning == (
        "1 note not in the index: added since it was built, or of its 1 record skipped as malformed; have claude-obsidian index "
        "the vault again (contextual-prefix.py, then bm25-index.py), or have index make one of ours: 'wiki/Boat.md'"
    )


def test_a_note_that_is_new_to_the_index_of_another_product_is_not_said_to_be_mended_by_us(bench, vault_meta):
    vault_meta.write("wiki/New.md", "A new moon.\n")
    (warning,) = json.loads(bench("bench").stdout)["warnings"]
    assert warning == (
        "1 note added since the index was built, not in it; have claude-obsidian index the vault again (contextual-prefix.py, "
        "then bm25-index.py), or have index make one of ours: 'wiki/New.md'"
    )


def test_a_look_at_an_index_of_ours_that_is_absent_names_the_one_that_is_searched(bench, vault_meta):
    said = f"; in its place bench and retrieve search the one that claude-obsidian made, {str(vault_meta.folder)!r}\n"
    builds = f"vault-eval.py index --vault {vault_meta.root} --data"
    for line in (["index", "--check"], ["doctor"], ["doctor", "--index", str(vault_meta.folder)]):
        done = bench(*line)
        told = done.stdout + done.stderr
        assert (done.returncode, said in told, builds in told) == (10, True, True), told
    assert bench("index").returncode == bench("index", "--check").returncode == 0
    assert "claude-obsidian" not in bench("doctor").stdout.splitlines()[-2]
