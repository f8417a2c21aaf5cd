from __future__ import annotations

import os
import subprocess

import pytest

SHOW = """\
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from vault_eval import launcher

launcher.prepare(sys.argv[1:])
if "compile" in sys.argv:
    launcher.precompile(sys.argv[-1])
from vault_eval import shown

print(shown.VALUE)
"""


@pytest.fixture
def show(checkout, tmp_path):
    """Run a script of ours that prints a value of one module, which was compiled when the value was still `old`."""
    (checkout.root / "scripts/show.py").write_text(SHOW, encoding="utf-8")
    module = checkout.root / "scripts/vault_eval/shown.py"
    module.write_text("VALUE = 'old'\n", encoding="utf-8")

    def run(*arguments: object, **variables: str) -> str:
        command = [checkout.python, checkout.root / "scripts/show.py", *map(str, arguments)]
        done = subprocess.run(command, env=checkout.environment | variables, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert list(checkout.root.rglob("__pycache__")) == []
        return done.stdout.strip()

    run("compile", "--data", tmp_path / "data")
    # Equal in size and time, so that only a run from the source can tell.
    state = module.stat()
    module.write_text("VALUE = 'new'\n", encoding="utf-8")
    os.utime(module, ns=(state.st_atime_ns, state.st_mtime_ns))
    return run


def test_modules_are_read_from_the_bytecode_in_the_data_folder(show, tmp_path):
    assert show("--data", tmp_path / "data") == "old"
    assert show(f"--data={tmp_path / 'data'}") == "old"
    assert show(VAULT_EVAL_DATA=str(tmp_path / "data")) == "old"
    assert show("--data", tmp_path / "data", PYTHONDONTWRITEBYTECODE="1") == "old"


def test_without_that_folder_the_source_is_run_and_nothing_is_written(show, tmp_path):
    assert show("--data", tmp_path / "other") == "new"
    assert show("--", "--data", tmp_path / "data") == "new"
    assert show("--data") == "new"
    assert show(HOME="") == "new"
    assert not (tmp_path / "other").exists()


def test_bytecode_that_others_could_have_put_there_is_not_run(show, tmp_path):
    (tmp_path / "data" / "bytecode").chmod(0o770)
    assert show("--data", tmp_path / "data") == "new"


def test_the_folders_are_for_this_person_alone(show, tmp_path):
    assert {(tmp_path / "data" / name).stat().st_mode & 0o777 for name in ("", "bytecode")} == {0o700}


def test_a_data_folder_that_cannot_be_written_costs_no_more_than_speed(show, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert show("compile", "--data", tmp_path / "file" / "data") == "new"


def test_the_launcher_loads_nothing_heavy(checkout):
    code = "import sys; sys.path.insert(0, 'scripts'); before = set(sys.modules); from vault_eval import launcher; "
    code += "launcher.prepare([]); print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([checkout.python, "-I", "-c", code], cwd=checkout.root, capture_output=True, text=True, check=True)
    assert {"argparse", "dataclasses", "json", "pathlib", "subprocess", "typing", "vault_eval.launcher.build"}.isdisjoint(
        done.stdout.split()
    )
    assert "vault_eval.launcher.bytecode" in done.stdout.split()
