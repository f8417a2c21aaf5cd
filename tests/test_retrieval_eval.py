"""The contract, end to end, through the real commands: `python3 tests/test_retrieval_eval.py`, or pytest.

Plain Python, no test library. The figures of the shipped fixture were worked out by hand; see `fixtures/original/README.md`
for the rank of each gold page.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))

from vault_eval.errors import VaultEvalError  # noqa: E402 - after its folder is on the path

SCHEMA = "claude-obsidian.retrieval-queries.v1"


class Workspace:
    """A temporary vault, labels and data folder; `data` may be shared, so that an environment is built once."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder = folder
        self.data = data
        self.vault = folder / "My vault"
        self.labels = folder / "labels.json"
        self.index = folder / "index"
        self.note("Sea/Tides.md", "# Tides\n\nSpring tides follow the new moon and the full moon.\n")
        self.note("Garden/Pruning.md", "# Pruning roses\n\nCut above an outward bud in late winter.\n")
        self.note("Garden/Compost.md", "# Compost heap\n\nTurn the heap every second week and keep it damp.\n")

    def note(self, page: str, text: str) -> None:
        place = self.vault / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def label(self, *queries: dict[str, object]) -> None:
        self.labels.write_text(json.dumps({"schema": SCHEMA, "queries": list(queries)}), encoding="utf-8")

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPTS / script), *arguments, "--data", str(self.data)]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=self.folder, check=False)

    def build(self) -> None:
        done = self.run("vault-eval.py", "index", "--vault", str(self.vault), "--index", str(self.index))
        assert done.returncode == 0, done.stderr

    def evaluate(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        places = ["--vault", str(self.vault), "--queries", str(self.labels), "--index", str(self.index)]
        return self.run("evaluate-retrieval.py", *places, "--cold-samples", "0", *arguments)

    def report(self, *arguments: str) -> dict[str, object]:
        done = self.evaluate("--format", "json", *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def test_fixture_figures_equal_the_fractions_worked_out_by_hand(work: Workspace) -> None:
    done = work.run("evaluate-retrieval.py", "--fixture", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    metrics = report["runs"][0]["metrics"]
    # 12 scored queries. First ten of each ranking, gold found within the cutoff:
    # at 1: seven queries whole, guest-safety 1 of 2                  (7 + 1/2) / 12 = 15/24
    assert metrics["recall@1"]["value"] == 15 / 24
    # at 5: those, wear-lifejacket (ranks 2, 3, 4) and berth-three-depth (rank 2) whole       (9 + 1/2) / 12 = 19/24
    assert metrics["recall@5"]["value"] == 19 / 24
    # at 10: guest-safety whole too (ranks 1, 7); lifting-freight shares no word, fuel-dock-hours is stale       10 / 12
    assert metrics["recall@10"]["value"] == 10 / 12
    # reciprocal ranks: eight of 1, two of 1/2, two of 0               (8 + 1/2 + 1/2) / 12 = 9/12
    assert metrics["mrr@10"]["value"] == 9 / 12
    assert all(metrics[name]["n"] == 12 for name in ("recall@1", "recall@5", "recall@10", "mrr@10"))
    # 2 negatives: no-helicopter finds nothing, no-swimming finds two notes through the word harbour
    assert (metrics["no_result_accuracy"]["value"], metrics["no_result_accuracy"]["n"]) == (1 / 2, 2)
    assert report["coverage"] == {"gold_pages": 9, "exist": 9, "in_scope": 9, "indexed": 9, "fresh": 8}


def test_fixture_report_names_every_file_by_its_hash_and_leaves_nothing_behind(work: Workspace) -> None:
    before = set(Path(tempfile.gettempdir()).glob("vault-eval-fixture-*"))
    report = json.loads(work.run("evaluate-retrieval.py", "--fixture", "--format", "json", "--cold-samples", "0").stdout)
    files = {one["path"]: one["sha256"] for one in report["fixture"]["files"]}
    source = ROOT / "fixtures" / "original"
    expected = [*sorted((source / "pages").rglob("*.md")), source / "queries.json"]
    assert files == {path.relative_to(source).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in expected}
    assert len(files) == 11
    assert set(Path(tempfile.gettempdir()).glob("vault-eval-fixture-*")) <= before


def test_fixture_shows_that_a_stale_chunk_is_rejected(work: Workspace) -> None:
    report = json.loads(work.run("evaluate-retrieval.py", "--fixture", "--format", "json", "--cold-samples", "0").stdout)
    row = next(row for row in report["runs"][0]["queries"] if row["id"] == "fuel-dock-hours")
    assert report["fixture"]["stale_page"] == "Fuel dock.md"
    assert row["diagnostics"]["stale_pages"] == ["Fuel dock.md"]
    assert "Fuel dock.md" not in [hit["page"] for hit in row["ranking"]]
    assert row["diagnosis"][0]["cause"] == "stale"
    # Raw candidates held it, usable ones did not: 11 of 12 queries against 10 of 12.
    metrics = report["runs"][0]["metrics"]
    assert metrics["raw_candidate_recall"]["value"] == 11 / 12
    assert metrics["usable_candidate_recall"]["value"] == 10 / 12


def test_provisioning_on_an_existing_path_is_refused_and_changes_nothing(work: Workspace) -> None:
    from vault_eval.fixture_mode import provision

    taken = work.folder / "taken"
    taken.write_text("mine", encoding="utf-8")
    assert _refusal(lambda: provision(str(taken))).exit_code == 2
    assert taken.read_text(encoding="utf-8") == "mine"


def test_missing_fixture_files_are_said_and_never_replaced_by_other_notes(work: Workspace) -> None:
    from vault_eval.fixture_mode import provision

    empty = work.folder / "empty"
    empty.mkdir()
    refusal = _refusal(lambda: provision(str(work.folder / "new"), str(empty)))
    assert refusal.exit_code == 2
    assert "source fixture unavailable" in str(refusal)
    assert not (work.folder / "new").exists()


def test_deleted_gold_page_is_excluded_not_missed(work: Workspace) -> None:
    work.label(
        {"id": "gone", "query": "outward bud", "expected_pages": ["Garden/Pruning.md"]},
        {"id": "here", "query": "spring tides", "expected_pages": ["Sea/Tides.md"]},
    )
    work.build()
    (work.vault / "Garden/Pruning.md").unlink()
    run = work.report()["runs"][0]
    assert (run["metrics"]["recall@5"]["value"], run["metrics"]["recall@5"]["n"]) == (1.0, 1)
    assert run["counts"]["missing_gold"] == 1
    assert run["queries"][0]["missing"] == ["Garden/Pruning.md"]


def test_skip_reason_excludes_and_an_empty_list_is_a_negative(work: Workspace) -> None:
    work.label(
        {"id": "later", "query": "spring tides", "expected_pages": ["Sea/Tides.md"], "skip_reason": "under review"},
        {"id": "none", "query": "zzyzx", "expected_pages": []},
    )
    work.build()
    run = work.report()["runs"][0]
    assert {row["id"]: row["status"] for row in run["queries"]} == {"later": "skipped", "none": "negative"}
    assert run["metrics"]["recall@5"] == {"value": None, "n": 0, "status": "no data", "interval": None}
    assert (run["metrics"]["no_result_accuracy"]["value"], run["metrics"]["no_result_accuracy"]["n"]) == (1.0, 1)


def test_every_aggregate_follows_from_the_rows(work: Workspace) -> None:
    report = json.loads(work.run("evaluate-retrieval.py", "--fixture", "--format", "json", "--cold-samples", "0").stdout)
    run = report["runs"][0]
    scored = [row for row in run["queries"] if row["status"] == "scored"]
    for cutoff in (1, 5, 10):
        values = [
            len(set(row["expected"]) & {hit["page"] for hit in row["ranking"][:cutoff]}) / len(row["expected"]) for row in scored
        ]
        assert values == [row["recall"][str(cutoff)] for row in scored]
        assert run["metrics"][f"recall@{cutoff}"]["value"] == sum(values) / len(values)
        hits = [value > 0 for value in values]
        assert run["metrics"][f"hit@{cutoff}"]["value"] == sum(hits) / len(hits)
    ranks = [[rank for rank in row["ranks"].values() if rank is not None] for row in scored]
    assert [row["rr"] for row in scored] == [1 / min(found) if found else 0.0 for found in ranks]
    assert run["metrics"]["mrr@10"]["value"] == sum(row["rr"] for row in scored) / len(scored)
    negatives = [row for row in run["queries"] if row["status"] == "negative"]
    assert run["metrics"]["no_result_accuracy"]["value"] == sum(row["no_result"] for row in negatives) / len(negatives)
    for kind in ("usable", "raw"):
        found = [len(row["diagnostics"][f"{kind}_gold"]) / len(row["expected"]) for row in scored]
        assert run["metrics"][f"{kind}_candidate_recall"]["value"] == sum(found) / len(found)


def test_missing_index_is_exit_10_with_the_command_that_builds_it(work: Workspace) -> None:
    work.label({"id": "t", "query": "spring tides", "expected_pages": ["Sea/Tides.md"]})
    done = work.evaluate()
    assert done.returncode == 10, done.stderr
    assert done.stdout == ""
    assert not work.index.exists()
    command = done.stderr.strip().splitlines()[-1].strip()
    built = subprocess.run(
        [*shlex.split(command), "--data", str(work.data)], capture_output=True, text=True, cwd=work.folder, check=False
    )
    assert built.returncode == 0, built.stderr
    assert work.evaluate().returncode == 0


def test_evaluation_leaves_the_vault_as_it_was(work: Workspace) -> None:
    work.label({"id": "t", "query": "spring tides", "expected_pages": ["Sea/Tides.md"]})
    before = _state(work.vault)
    work.build()
    assert work.evaluate("--out", str(work.folder / "out")).returncode == 0
    assert _state(work.vault) == before


def test_report_inside_the_vault_is_refused(work: Workspace) -> None:
    work.label({"id": "t", "query": "spring tides", "expected_pages": ["Sea/Tides.md"]})
    work.build()
    before = _state(work.vault)
    done = work.evaluate("--out", str(work.vault / "report.json"))
    assert done.returncode == 2
    assert "outside" in done.stderr
    assert _state(work.vault) == before


def test_run_quality_returns_the_report_and_raises_instead_of_exiting(work: Workspace) -> None:
    from vault_eval.evaluation import run_quality

    work.label({"id": "t", "query": "spring tides", "expected_pages": ["Sea/Tides.md"]})
    settings = {"index": str(work.index), "data": str(work.data), "cold_samples": 0}
    assert _refusal(lambda: run_quality(str(work.vault), str(work.labels), **settings)).exit_code == 10
    work.build()
    report = run_quality(str(work.vault), str(work.labels), top_k=20, **settings)
    assert report["schema"] == "vault-eval.report.v1"
    assert report["runs"][0]["metrics"]["mrr@20"]["value"] == 1.0


def _refusal(call: Callable[[], object]) -> VaultEvalError:
    """The error that `call` raises; a call that goes through is a failure of the test."""
    try:
        call()
    except VaultEvalError as error:
        return error
    raise AssertionError("nothing was refused")


def _state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def _shared_data() -> Path:
    """One data folder for the whole file: the one-time environment is built at most once."""
    return Path(os.environ.get("VAULT_EVAL_TEST_DATA") or tempfile.mkdtemp(prefix="vault-eval-test-data-"))


try:
    import pytest
except ImportError:
    pytest = None
else:

    @pytest.fixture(scope="session")
    def shared_data() -> object:
        data = _shared_data()
        yield data
        shutil.rmtree(data, ignore_errors=True)

    @pytest.fixture
    def work(tmp_path: Path, shared_data: Path) -> Workspace:
        return Workspace(tmp_path, shared_data)


def main() -> int:
    """Run every test of this file in order; returns 1 where one failed."""
    data = _shared_data()
    failed = 0
    tests = [(name, test) for name, test in sorted(globals().items()) if name.startswith("test_")]
    for name, test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Workspace(Path(folder), data))
            except Exception as error:  # noqa: BLE001 - every kind of failure is counted, and the next test runs
                failed += 1
                print(f"FAILED {name}: {type(error).__name__}: {error}")
            else:
                print(f"passed {name}")
    shutil.rmtree(data, ignore_errors=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
