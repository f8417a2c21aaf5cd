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
from vault_eval.data_folder import DataFolder
from vault_eval.index.options import IndexOptions
from vault_eval.vault.location import vault_id, vault_root

ROOT = Path(__file__).resolve().parents[2]
SITE_PACKAGES = Path(str(find_spec("frontmatter").origin)).parents[1]


@pytest.fixture
def doctor(tmp_path):
    """Exit code and output of `doctor` in an interpreter that finds no package but those in `tmp_path/some`.

    What is refused is on stderr, and is the output then.
    """

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
        assert not (done.stderr and done.stdout)
        return done.returncode, done.stdout or done.stderr

    return run


def give(folder: Path, *packages: str) -> None:
    folder.mkdir(exist_ok=True)
    for package in packages:
        place = Path(str(find_spec(package).origin))
        place = place.parent if place.name == "__init__.py" else place
        (folder / place.name).symlink_to(place)


def test_without_any_package_each_option_has_the_line_that_installs_what_it_needs(doctor, tmp_path):
    code, out = doctor()
    assert (code, "python-frontmatter, markdown-it-py, rich, jinja2 missing" in out) == (2, True)
    lines = re.findall(r"^  (.+) \((.+)\): needs (.+): (.+)$", out, re.MULTILINE)
    assert [(option, use) for option, use, _, _ in lines] == [(one.option, one.use) for one in launcher.EXTRAS.values()]
    script = str(ROOT / "scripts/vault-eval.py")
    assert [shlex.split(line)[1:] for _, _, _, line in lines] == [
        [script, "doctor", "--install", name, "--data", str(tmp_path / "data")] for name in launcher.EXTRAS
    ]


def test_what_is_optional_and_missing_is_no_error(doctor, tmp_path):
    give(tmp_path / "some", *launcher.RUNTIME_PACKAGES)
    code, out = doctor()
    assert (code, "packages: all there\n" in out, out.count("): needs ")) == (0, True, len(launcher.EXTRAS))
    lines = re.findall(r"^  .+\): needs .+: (.+)$", out, re.MULTILINE)
    for one, line in zip(launcher.EXTRAS.values(), lines, strict=True):
        assert shlex.split(line)[-len(one.requirements) - 1 :] == ["install", *one.requirements]


def test_into_a_python_that_has_all_packages_nothing_is_installed_but_the_line_for_it_said(doctor, tmp_path):
    give(tmp_path / "some", *launcher.RUNTIME_PACKAGES)
    code, said = doctor("--install", "stem")
    assert (code, said.count("\n"), "Commands go on in this Python" in said) == (2, 1, True)
    assert shlex.split(said)[-2:] == ["install", "snowballstemmer>=2.2"]
    assert not (tmp_path / "data" / "environments").exists()


def test_an_unknown_name_is_refused_with_the_nearest(doctor):
    code, said = doctor("--install", "stem", "modle2vec")
    assert (code, "there is no extra 'modle2vec' (did you mean model2vec?)" in said) == (2, True)
    assert "stem, pdf, wordllama, model2vec, mcp" in said


def test_a_package_that_is_there_is_said_to_be_there(doctor, tmp_path):
    """Any package does: that it can be found is all that is asked."""
    (tmp_path / "some" / "mcp").mkdir(parents=True)
    (tmp_path / "some" / "mcp" / "__init__.py").touch()
    (tmp_path / "some" / "numpy").mkdir()  # a folder without a module in it is no package
    out = doctor()[1]
    assert "  -r mcp:PROGRAM (the search tool of an MCP server is measured): there\n" in out
    assert out.count("needs numpy>=1.26 and ") == 2


@pytest.fixture
def bare(tmp_path) -> Path:
    """A Python without packages, beside a private environment in `tmp_path/data` that links to ours."""
    environment = Path(launcher.environment_folder(str(tmp_path / "data")))
    environment.parent.mkdir(mode=0o700, parents=True)
    for folder in (environment, tmp_path / "bare"):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (give_to,) = environment.glob("lib/*/site-packages")
    give(give_to, *launcher.RUNTIME_PACKAGES, "yaml", "mdurl", "pygments", "markupsafe")
    return tmp_path / "bare" / "bin" / "python"


def test_where_commands_go_on_in_the_private_environment_that_is_what_is_looked_at(doctor, bare, tmp_path):
    environment = launcher.environment_folder(str(tmp_path / "data"))
    code, out = doctor(python=bare)
    assert (code, "packages: all there\n" in out) == (0, True)
    assert out.startswith("vault-eval ")
    assert f"({environment}/bin/python)\n" in out.partition("\n")[0] + "\n"
    # Its lines are for the Python that was started, so that they can be typed wherever this was.
    assert out.count(f"{bare} {ROOT / 'scripts/vault-eval.py'} doctor --install ") == len(launcher.EXTRAS)


def test_the_line_that_is_said_where_a_package_is_missing_makes_the_command_work(bare, tmp_path):
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes" / "Sailing.md").write_text("# Reefing\n\nReefs were taken early.\n", encoding="utf-8")
    place = ("--vault", str(tmp_path / "Notes"), "--data", str(tmp_path / "data"))
    dropped = ("PYTHON", "VAULT_EVAL_", "VIRTUAL_ENV", "XDG_")  # what is left says how packages are reached
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}

    def run(*line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(line, env=surroundings, capture_output=True, text=True, encoding="utf-8", check=False)

    index = (str(bare), str(ROOT / "scripts/vault-eval.py"), "index", *place)
    refused = run(*index, "--stem", "english")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    advice, _, line = refused.stderr.partition(", or run: ")
    assert advice.endswith("index --stem none")
    assert run(*index, "--stem", "none").returncode == 0
    installed = run(*shlex.split(line))
    if installed.returncode and not os.environ.get("REQUIRE_NETWORK"):
        pytest.skip(f"the package index cannot be reached: {installed.stderr.splitlines()[-1]}")
    assert installed.returncode == 0, installed.stderr
    assert "  index --stem LANG (words are found in all their forms): there\n" in installed.stdout
    done = run(*index, "--stem", "english")
    assert done.returncode == 0, done.stderr


def test_an_index_that_is_not_there_is_built_with_the_remembered_options(doctor, tmp_path):
    (tmp_path / "Notes").mkdir()
    root = vault_root(str(tmp_path / "Notes"))
    DataFolder(str(tmp_path / "data")).remember(vault_id(root), index_options=IndexOptions(exclude=("Old/*",)).as_json())
    code, out = doctor("--vault", root)
    assert (code, "--exclude 'Old/*'" in out) == (10, True)
    assert not os.path.lexists(tmp_path / "data" / "indexes")
