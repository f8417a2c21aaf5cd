"""`doctor` as a person calls it, in interpreters that have all packages, some, or none."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from vault_eval import launcher
from vault_eval.cli.doctor import EXTRAS
from vault_eval.data_folder import DataFolder
from vault_eval.index.options import IndexOptions
from vault_eval.vault.location import vault_id, vault_root

ROOT = Path(__file__).resolve().parents[2]
SITE_PACKAGES = Path(str(find_spec("frontmatter").origin)).parents[1]


@pytest.fixture
def doctor(tmp_path):
    """Exit code and output of `doctor` in an interpreter that finds no package but those in `tmp_path/some`."""

    def run(*arguments: object, python: Path | None = None) -> tuple[int, str]:
        line = [python or sys.executable, *([] if python else ["-S"]), ROOT / "scripts/vault-eval.py", "doctor", *arguments]
        surroundings = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "some")}
        done = subprocess.run(
            [*map(str, line), "--data", str(tmp_path / "data")],
            env=surroundings,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


def give(folder: Path, *packages: str) -> None:
    folder.mkdir(exist_ok=True)
    for package in packages:
        place = Path(str(find_spec(package).origin))
        place = place.parent if place.name == "__init__.py" else place
        (folder / place.name).symlink_to(place)


def test_every_extra_is_named_with_what_it_needs_and_no_package_that_is_none():
    tables = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    extras = tables.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    del extras["dev"]
    assert {package for one in EXTRAS for package in one.packages} == {package for found in extras.values() for package in found}


def test_without_any_package_each_option_has_the_line_that_installs_what_it_needs(doctor):
    code, out = doctor()
    assert (code, "python-frontmatter, markdown-it-py, rich, jinja2 missing" in out) == (2, True)
    lines = re.findall(r"^  (.+) \((.+)\): needs (.+): (.+)$", out, re.MULTILINE)
    assert [(option, use) for option, use, _, _ in lines] == [(one.option, one.use) for one in EXTRAS]
    for one, (_, _, _, line) in zip(EXTRAS, lines, strict=True):
        assert shlex.split(line)[-len(one.packages) - 1 :] == ["install", *one.packages]


def test_what_is_optional_and_missing_is_no_error(doctor, tmp_path):
    give(tmp_path / "some", *launcher.RUNTIME_PACKAGES)
    code, out = doctor()
    assert (code, "packages: all there\n" in out, out.count("): needs ")) == (0, True, len(EXTRAS))


def test_a_package_that_is_there_is_said_to_be_there(doctor, tmp_path):
    """Any package does: that it can be found is all that is asked."""
    (tmp_path / "some" / "mcp").mkdir(parents=True)
    (tmp_path / "some" / "mcp" / "__init__.py").touch()
    (tmp_path / "some" / "numpy").mkdir()  # a folder without a module in it is no package
    out = doctor()[1]
    assert "  -r mcp:PROGRAM (the search tool of an MCP server is measured): there\n" in out
    assert out.count("needs numpy>=1.26 and ") == 2


def test_where_commands_go_on_in_the_private_environment_that_is_what_is_looked_at(doctor, tmp_path):
    environment = Path(launcher.environment_folder(str(tmp_path / "data")))
    environment.parent.mkdir(mode=0o700, parents=True)
    bare = tmp_path / "bare"
    for folder in (environment, bare):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (give_to,) = environment.glob("lib/*/site-packages")
    give(give_to, *launcher.RUNTIME_PACKAGES)
    code, out = doctor(python=bare / "bin" / "python")
    assert (code, "packages: all there\n" in out) == (0, True)
    assert out.startswith("vault-eval ")
    assert f"({environment / 'bin' / 'python'})\n" in out.partition("\n")[0] + "\n"


def test_an_index_that_is_not_there_is_built_with_the_remembered_options(doctor, tmp_path):
    (tmp_path / "Notes").mkdir()
    root = vault_root(str(tmp_path / "Notes"))
    DataFolder(str(tmp_path / "data")).remember(vault_id(root), index_options=IndexOptions(exclude=("Old/*",)).as_json())
    code, out = doctor("--vault", root)
    assert (code, "--exclude 'Old/*'" in out) == (10, True)
    assert not os.path.lexists(tmp_path / "data" / "indexes")
