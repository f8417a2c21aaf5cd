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
