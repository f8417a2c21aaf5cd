from __future__ import annotations

import ast
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
ENTRIES = sorted(path.name for path in SCRIPTS.glob("*.py"))


def test_there_are_two_of_them():
    assert ENTRIES == ["evaluate-retrieval.py", "vault-eval.py"]


@pytest.mark.parametrize("name", ENTRIES)
def test_it_parses_as_python_3_8(name):
    ast.parse((SCRIPTS / name).read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("version", ["3.8", "3.9"])
def test_an_older_interpreter_gets_one_sentence(name, version):
    python = shutil.which(f"python{version}")
    # A version manager may put the command on the path and still need to be told which version is meant.
    surroundings = os.environ | {"PYENV_VERSION": version}
    if python is None or subprocess.run([python, "--version"], env=surroundings, capture_output=True, check=False).returncode:
        pytest.skip(f"there is no Python {version} here")
    done = subprocess.run([python, SCRIPTS / name, "--help"], env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"vault-eval needs Python 3.10 or newer; this is {version} (")
    assert done.stderr.count("\n") == 1
