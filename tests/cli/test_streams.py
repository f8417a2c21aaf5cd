"""Whatever becomes of stdout and stderr: what could not be printed is never taken for printed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "vault-eval.py"
ROOM_BYTES = 2_048


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    place = tmp_path_factory.mktemp("streams") / "report.json"
    words = [sys.executable, str(SCRIPT), "bench", "--fixture", "--cold-samples", "0", "--out", str(place)]
    subprocess.run(words, check=True, capture_output=True)
    return place


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM_BYTES, ROOM_BYTES))


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("form", ["html", "trec", "markdown"])
def test_output_that_fits_only_in_part_is_an_error(report, tmp_path, form, unbuffered):
    words = [sys.executable, str(SCRIPT), "report", str(report), "--format", form, "--data", str(tmp_path / "data")]
    whole = subprocess.run(words, check=True, capture_output=True).stdout
    with (tmp_path / "part").open("wb") as part:
        done = subprocess.run(
            words,
            stdout=part,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            preexec_fn=limited,
            check=False,
        )
    assert len(whole) > ROOM_BYTES
    assert (done.returncode, b"standard output could not be written" in done.stderr) == (2, True), done.stderr
    assert whole.startswith((tmp_path / "part").read_bytes())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["--help"], ["bench", "--help"], ["labels", "add", "--help"], ["doctor"]])
def test_help_that_cannot_be_printed_is_an_error(tmp_path, words, unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "VAULT_EVAL_DATA": str(tmp_path)}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, str(SCRIPT), *words], stdout=full, stderr=subprocess.PIPE, env=environment, check=False
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr
    assert b"standard output could not be written" in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_is_the_same_with_and_without_a_buffer(report, tmp_path, unbuffered):
    words = [sys.executable, str(SCRIPT), "report", str(report), "--format", "html", "--data", str(tmp_path / "data")]
    done = subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"</html>\n")


@pytest.mark.parametrize("words", [["labels", "pool", "--needs", "-"], ["labels", "judge", "pool.json"]])
def test_a_closed_stdin_is_an_empty_one(tmp_path, words):
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes" / "A.md").write_text("tide\n", encoding="utf-8")
    line = [sys.executable, str(SCRIPT), *words, "--vault", "Notes", "--data", "data"]
    shown = [
        subprocess.run(line, stdin=stdin, capture_output=True, cwd=tmp_path, preexec_fn=closing, check=False)
        for stdin, closing in ((subprocess.DEVNULL, None), (None, lambda: os.close(0)))
    ]
    assert shown[0].returncode == 2
    assert (shown[0].returncode, shown[0].stderr) == (shown[1].returncode, shown[1].stderr)


def test_what_a_warning_quotes_cannot_reach_the_terminal(tmp_path):
    (tmp_path / "Notes" / ".obsidian").mkdir(parents=True)
    (tmp_path / "Notes" / "A.md").write_text("tide\n", encoding="utf-8")
    (tmp_path / "Notes" / ".obsidian" / "app.json").write_text(r'{"userIgnoreFilters": ["/[z-\u001b]/"]}', encoding="utf-8")
    (tmp_path / "q.json").write_text(
        '{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{"id": "t", "query": "tide", "expected_pages": ["A.md"]}]}',
        encoding="utf-8",
    )
    line = [sys.executable, str(SCRIPT)]
    places = ["--vault", "Notes", "--data", "data"]
    subprocess.run([*line, "index", *places], cwd=tmp_path, check=True, capture_output=True)
    bench = [*line, "bench", *places, "--queries", "q.json", "--cold-samples", "0", "--format", "json"]
    done = subprocess.run(bench, cwd=tmp_path, check=True, capture_output=True)
    assert b"bad character range" in done.stderr
    assert b"\x1b" not in done.stderr
