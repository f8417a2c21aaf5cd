"""Some seconds of `make fuzz`, and proof that it would find what it looks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "benchmarks"))

from fuzzing import harness  # noqa: E402 - after its folder is on the path
from fuzzing.mutation import mutated, random_text  # noqa: E402 - as above

SECONDS = 15


@pytest.mark.skipif(sys.platform == "win32", reason="an alarm ends a command that takes too long")
def test_random_input_meets_only_documented_exits_and_one_line_errors():
    command = [sys.executable, str(ROOT / "benchmarks" / "fuzz.py"), "--seconds", str(SECONDS), "--seed", "20250309"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=20 * SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "; 0 findings" in done.stdout


def planted(code: int | None = 0, stdout: str = "", stderr: str = "", escaped: str = "", command: str = "bench") -> list[str]:
    outcome = harness.Outcome((command, "--format", "json"), code, escaped, stdout, stderr, 0.0)
    return [complaint.partition(":")[0] for complaint in harness.complaints(outcome)]


@pytest.mark.parametrize(
    ("complaint", "outcome"),
    [
        ("escaped", {"code": None, "escaped": "TypeError at search.py:7"}),
        ("fault", {"code": 70, "stderr": "vault-eval: a fault of ours (KeyError: 1); please report it"}),
        ("code", {"code": 4}),
        ("code", {"code": 130}),
        ("traceback", {"stderr": "vault-eval: x\nTraceback (most recent call last):\n", "code": 2}),
        ("control", {"stderr": "vault-eval: \x1b[31m", "code": 2}),
        ("control", {"stderr": "vault-eval: \u202egnp.exe", "code": 2}),
        ("forged", {"stderr": "vault-eval: the file 'a\nFORGED'", "code": 2}),
        ("mute", {"code": 2}),
        ("mute", {"code": 1}),
        ("printed", {"code": 10, "stderr": "vault-eval: no index", "stdout": "{}"}),
        ("long", {"code": 2, "stderr": "vault-eval: " + "x" * 40_000}),
        ("json", {"stdout": "{"}),
    ],
)
def test_each_kind_of_finding_is_noticed(complaint, outcome):
    assert planted(**outcome) == [complaint]


def test_a_good_answer_is_no_finding():
    assert planted(stdout="{}\n", stderr="vault-eval: 1 note added\n") == []
    assert planted(code=2, stderr="vault-eval: labels.json: line 3: not JSON\n") == []


def test_the_number_of_a_case_decides_all_of_it():
    seeds = (b'{"queries": [{"id": "a"}]}', b"---\ntitle: x\n---\n")
    for number in range(200):
        first, second = Random(f"1:{number}"), Random(f"1:{number}")
        assert mutated(first, seeds[0], seeds) == mutated(second, seeds[0], seeds)
        assert random_text(first, 9) == random_text(second, 9)
