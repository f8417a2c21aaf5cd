"""What `bench` writes never takes the place of what it reads, nor of a file that somebody else made."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "vault-eval.py"
LABELS = {
    "schema": "vault-eval.labels.v1",
    "queries": [
        {"id": "moon", "query": "moon", "expected_pages": ["Tides.md"], "split": "dev"},
        {"id": "hull", "query": "hull", "expected_pages": ["Boat.md"], "split": "holdout"},
    ],
}


class Folder:
    def __init__(self, path: Path) -> None:
        self.path, self.vault = path, path / "Notes"
        self.vault.mkdir()
        (self.vault / "Tides.md").write_text("The moon pulls the water.\n", encoding="utf-8")
        (self.vault / "Boat.md").write_text("Paint the hull in spring.\n", encoding="utf-8")
        (path / "labels.json").write_text(json.dumps(LABELS), encoding="utf-8")
        (path / "r.trec").write_text("moon Q0 Tides.md 1 2 t\nhull Q0 Boat.md 1 2 t\n", encoding="utf-8")
        self.command("index")

    def words(self, command: str, *words: object) -> list[str]:
        return [
            sys.executable,
            str(SCRIPT),
            command,
            "--vault",
            str(self.vault),
            "--data",
            str(self.path / "data"),
            *map(str, words),
        ]

    def command(self, command: str, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(command, *words), capture_output=True, text=True, encoding="utf-8", check=False, cwd=self.path
        )

    def bench(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.command("bench", "--queries", "labels.json", "--cold-samples", "0", *words)

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.path.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return Folder(tmp_path_factory.mktemp("outputs"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "labels.json"), "named twice: it is what is measured too"),
        (("--junit", "labels.json", "--fail-under", "0.1"), "named twice"),
        (("--step-summary", "labels.json"), "named twice"),
        (("-r", "run:r.trec", "--junit", "r.trec", "--fail-under", "0.1"), "named twice"),
        (("--junit", "x.xml", "--step-summary", "x.xml", "--fail-under", "0.1"), "named twice: it is --junit too"),
        (("--junit", "mine.txt", "--fail-under", "0.1"), "was not written by this command"),
        (("--out", "mine.json"), "was not written by this command"),
        (("--out", "mine.md"), "was not written by this command"),
        (("--out", "mine.html"), "was not written by this command"),
        (("--junit", "", "--fail-under", "0.1"), "--junit names no file"),
        (("--step-summary", ""), "--step-summary names no file"),
        (("--step-summary", "none/s.md"), "there is no folder"),
    ],
)
def test_output_in_the_place_of_something_else_is_refused_before_anything_is_measured(folder, words, said):
    for suffix in ("txt", "json", "md", "html"):
        (folder.path / f"mine.{suffix}").write_text("my own words", encoding="utf-8")
    before = folder.files()
    done = folder.bench(*words)
    assert (done.returncode, said in done.stderr, done.stdout) == (2, True, ""), done.stderr
    assert folder.files() == before


@pytest.mark.parametrize("name", ["again.json", "again.md", "again.html", "again"])
def test_report_of_ours_is_replaced(folder, name):
    assert [folder.bench("--out", name).returncode for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("name", ["pages.json", "report.json", "report.md", "report.html"])
def test_a_folder_that_holds_a_file_of_somebody_else_under_a_name_of_ours_is_left_as_it_is(folder, tmp_path, name):
    (tmp_path / name).write_text('{"pages": 12}', encoding="utf-8")
    done = folder.bench("--out", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--out {str(tmp_path / name)!r} was not written by this command" in done.stderr
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [(name, '{"pages": 12}')]


def test_a_report_written_elsewhere_is_set_against_the_last_one_kept_and_is_not_kept_itself(tmp_path):
    folder = Folder(tmp_path)
    assert "Since the last report" not in folder.bench("--out", "first.json").stdout
    assert "Since the last report" not in folder.bench().stdout
    assert "Since the last report" in folder.bench("--out", "second").stdout
    points = json.loads(folder.command("history", "--format", "json").stdout)["series"][0]["points"]
    assert len(points) == 1


def test_history_that_cannot_be_written_is_said_and_fails_nothing(tmp_path):
    folder = Folder(tmp_path)
    (tmp_path / "data" / "reports").write_text("a file where the folder would be", encoding="utf-8")
    done = folder.bench("--fail-under", "0.1")
    assert (done.returncode, "vault-eval: the report was not kept" in done.stderr) == (0, True), done.stderr
    assert "recall@5" in done.stdout


def test_fixture_is_kept_in_no_history(tmp_path):
    words = [sys.executable, str(SCRIPT), "bench", "--fixture", "--data", str(tmp_path / "data"), "--cold-samples", "0"]
    done = subprocess.run([*words, "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "out" / "report.json").exists()) == (0, True), done.stderr
    assert not (tmp_path / "data" / "reports").exists()


def test_gates_of_ours_are_replaced_and_a_summary_grows(folder):
    for _ in range(2):
        assert folder.bench("--junit", "gates.xml", "--step-summary", "s.md", "--fail-under", "0.1").returncode == 0
    assert (folder.path / "gates.xml").read_text(encoding="utf-8").count("<testsuites") == 1
    assert (folder.path / "s.md").read_text(encoding="utf-8").count("## Search in") == 2


def test_report_is_no_comparison_and_is_not_replaced_by_one(folder):
    assert folder.bench("--out", "a.json", "-r", "keyword,title").returncode == 0
    before = (folder.path / "a.json").read_bytes()
    words = [sys.executable, str(SCRIPT), "compare", "a.json", "--out", "a.json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder.path)
    assert (done.returncode, "was not written by this command" in done.stderr) == (2, True)
    assert (folder.path / "a.json").read_bytes() == before


def test_each_look_at_the_holdout_is_counted_and_dev_is_none(folder):
    assert "holdout" not in folder.bench("--split", "dev").stderr
    first = folder.bench("--split", "holdout", "--why", "the final figure").stderr
    assert "was looked at" in first
    assert "--split dev leaves it out while you tune" not in first
    assert "--split dev leaves it out while you tune" in folder.bench().stderr
    (ledger,) = (folder.path / "data" / "holdout").iterdir()
    whys = [json.loads(line)["why"] for line in ledger.read_text(encoding="utf-8").splitlines()]
    assert "the final figure" in whys


def test_a_comparison_that_measures_the_holdout_is_a_look_too(folder):
    compare = ("compare", "--queries", "labels.json", "-r", "keyword,title")
    assert "holdout" not in folder.command(*compare, "--split", "dev").stderr
    assert "was looked at" in folder.command(*compare, "--split", "holdout", "--why", "title or keyword").stderr
    (ledger,) = (folder.path / "data" / "holdout").iterdir()
    last = json.loads(ledger.read_text(encoding="utf-8").splitlines()[-1])
    assert (last["why"], last["configurations"]) == ("title or keyword", ["keyword", "title"])


def test_a_second_collection_is_refused(folder):
    done = folder.bench("--collection", "a", "--collection", "b")
    assert (done.returncode, "--collection is given twice" in done.stderr) == (2, True)


def test_searcher_that_always_fails_is_what_is_to_be_mended(folder):
    done = folder.bench("-r", f"command:{sys.executable} -m none.such.module --q={{query}}")
    assert done.returncode == 0
    assert "mend the searcher: it failed on 2 queries" in done.stdout
    assert "add labels that expect a page" not in done.stdout
    assert (
        folder.bench("-r", f"command:{sys.executable} -m none.such.module --q={{query}}", "--fail-under", "0.1").returncode == 3
    )


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_terminal_that_closes_stops_the_searcher_too(folder, tmp_path):
    program = tmp_path / "hang.py"
    program.write_text("import os, sys, time\nopen(sys.argv[1], 'w').write(str(os.getpid()))\ntime.sleep(60)\n", encoding="utf-8")
    spec = f"command:{sys.executable} {program} {tmp_path / 'pid'} --q={{query}}"
    words = folder.words("bench", "--queries", "labels.json", "--cold-samples", "0", "-r", spec)
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder.path)
    until = time.monotonic() + 30
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    started.send_signal(signal.SIGHUP)
    _, said = started.communicate(timeout=30)
    assert (started.returncode, b"stopped" in said) == (130, True)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize(
    ("option", "name"), [("--out", "r.json"), ("--out", "new"), ("--junit", "j.xml"), ("--step-summary", "s.md")]
)
def test_nothing_is_written_into_another_vault_than_the_one_that_is_measured(folder, tmp_path, option, name):
    (tmp_path / ".obsidian").mkdir()
    done = folder.bench("--fail-under", "0.1", option, tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} {str(tmp_path / name)!r} lies inside the vault {str(tmp_path)!r}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [".obsidian"]
