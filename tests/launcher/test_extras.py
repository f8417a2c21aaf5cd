"""Optional packages get into the private environment whole or not at all, and nowhere else."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vault_eval import launcher
from vault_eval.errors import MissingPackageError
from vault_eval.launcher import build

ROOT = Path(__file__).resolve().parents[2]


def environment_of(done: subprocess.CompletedProcess[str]) -> Path:
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[0])


def packages(environment: Path) -> set[str]:
    (folder,) = environment.glob("lib/*/site-packages")
    return {entry.name for entry in folder.iterdir() if (entry / "__init__.py").is_file()}


def beside(environment: Path) -> list[str]:
    return sorted(entry.name for entry in environment.parent.iterdir() if entry != environment)


def fake_uv(folder: Path, script: str) -> str:
    """A PATH whose `uv` is this script of a shell."""
    folder.mkdir()
    (folder / "uv").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "uv").chmod(0o700)
    return os.pathsep.join([str(folder), "/usr/bin", "/bin"])


def test_the_extras_are_those_of_the_project_with_their_bounds():
    tables = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found = tables.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    del found["dev"]
    ours = {requirement for one in launcher.EXTRAS.values() for requirement in one.requirements}
    assert ours == {requirement for named in found.values() for requirement in named}
    assert {name for name in launcher.EXTRAS if name in found} == found.keys() - {"vector"}
    split = {name: launcher.EXTRAS[name].requirements for name in ("wordllama", "model2vec")}
    assert {requirement for named in split.values() for requirement in named} == set(found["vector"])


def test_each_package_is_known_by_the_name_to_import():
    assert launcher.EXTRAS["wordllama"].packages == {"numpy": "numpy>=1.26", "wordllama": "wordllama>=0.3.9"}


def test_a_missing_package_is_refused_with_every_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingPackageError, match=r"the model needs numpy, .*wordllama>=.*model2vec>="):
        launcher.refuse_without(["numpy", "pytest"], command="the model")
    launcher.refuse_without(["pytest"], command="the model")


def test_an_extra_is_installed_beside_what_the_environment_has(extras_checkout, installing, tmp_path):
    machine = installing(extras_checkout)
    before = packages(environment_of(machine.start("index", "--data", tmp_path / "data")))
    environment_of(machine.start("extras", "--data", tmp_path / "data", "pdf"))
    done = machine.start("extras", "--data", tmp_path / "data", "pdf", "stem")
    environment = environment_of(done)
    assert packages(environment) - {"pip", "setuptools"} == (before | {"pypdf", "snowballstemmer"}) - {"pip", "setuptools"}
    assert done.stderr == f"vault-eval: installing snowballstemmer>=2.2 into {environment} (only once)\n"
    assert beside(environment) == []
    assert machine.start("bench", "--data", tmp_path / "data").stderr == ""


def test_the_environment_is_built_first_where_there_is_none_and_nothing_is_done_twice(extras_checkout, tmp_path):
    done = extras_checkout.start("extras", "--data", tmp_path / "data", "stem", "pdf")
    environment = environment_of(done)
    inode = environment.stat().st_ino
    assert packages(environment) == {"frontmatter", "markdown_it", "rich", "jinja2", "snowballstemmer", "pypdf"}
    assert [line.partition(" into ")[0] for line in done.stderr.splitlines()] == [
        "vault-eval: installing python-frontmatter, markdown-it-py, rich, jinja2",
        "vault-eval: installing snowballstemmer>=2.2, pypdf>=5",
    ]
    again = extras_checkout.start("extras", "--data", tmp_path / "data", "stem", VAULT_EVAL_NO_INSTALL="1")
    assert (environment_of(again), again.stderr, environment.stat().st_ino) == (environment, "", inode)


def test_no_install_refuses_with_the_line_that_would_install(extras_checkout, tmp_path):
    done = extras_checkout.start("extras", "--data", tmp_path / "data", "stem", VAULT_EVAL_NO_INSTALL="1")
    assert done.returncode == 2
    assert done.stderr.startswith("VAULT_EVAL_NO_INSTALL is set, so nothing was installed. Unset it and run: ")
    assert done.stderr.endswith(f"vault-eval.py doctor --install stem --data {tmp_path / 'data'}\n")
    assert not (tmp_path / "data").exists()


def test_what_cannot_be_imported_then_leaves_the_environment_as_it_was(extras_checkout, tmp_path):
    environment = environment_of(extras_checkout.start("index", "--data", tmp_path / "data"))
    inode, before = environment.stat().st_ino, packages(environment)
    done = extras_checkout.start("extras", "--data", tmp_path / "data", "wordllama")
    assert done.returncode == 2
    assert "numpy>=1.26, wordllama>=0.3.9 could not be installed; the last line was " in done.stderr
    assert f"all of it is in {environment}.log. Check the network and the proxy" in done.stderr
    assert "No module named 'wordllama'" in Path(f"{environment}.log").read_text(encoding="utf-8")
    assert (environment.stat().st_ino, packages(environment)) == (inode, before)
    assert beside(environment) == [f"{environment.name}.log"]
    assert extras_checkout.start("bench", "--data", tmp_path / "data").returncode == 0


def test_an_environment_that_lost_its_packages_is_built_again_first(extras_checkout, tmp_path):
    environment = environment_of(extras_checkout.start("index", "--data", tmp_path / "data"))
    (lost,) = environment.glob("lib/*/site-packages/rich/__init__.py")
    lost.unlink()
    done = extras_checkout.start("extras", "--data", tmp_path / "data", "stem")
    assert packages(environment_of(done)) >= {"rich", "snowballstemmer"}
    assert done.stderr.count("installing ") == 2


def test_stopped_while_it_installs_it_leaves_the_environment_as_it_was(extras_checkout, tmp_path):
    environment = environment_of(extras_checkout.start("index", "--data", tmp_path / "data"))
    inode, before = environment.stat().st_ino, packages(environment)
    begun = tmp_path / "begun"
    process = extras_checkout.open(
        "extras", "--data", tmp_path / "data", "stem", PATH=fake_uv(tmp_path / "bin", f"touch {begun}; exec sleep 60")
    )
    until = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert any(name.startswith(".building-") for name in beside(environment))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert (environment.stat().st_ino, packages(environment), beside(environment)) == (inode, before, [])


def test_stopped_with_what_it_started_nothing_goes_on_writing(extras_checkout, tmp_path):
    """As pip does, the step starts a process of its own; SIGTERM comes to the command alone."""
    environment = environment_of(extras_checkout.start("index", "--data", tmp_path / "data"))
    begun, written = tmp_path / "begun", tmp_path / "written"
    script = f"(while :; do date >> {written}; sleep 0.05; done) & touch {begun}; wait"
    process = extras_checkout.open("extras", "--data", tmp_path / "data", "stem", PATH=fake_uv(tmp_path / "bin", script))
    until = time.monotonic() + 60
    while not (begun.exists() and written.exists()) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    size = written.stat().st_size
    time.sleep(0.3)
    assert (written.stat().st_size, beside(environment)) == (size, [])


def test_stopped_between_the_two_renames_the_environment_is_put_back(tmp_path, monkeypatch):
    environment, temporary = tmp_path / "environment", tmp_path / "temporary"
    (temporary / "environment").mkdir(parents=True)
    environment.mkdir()
    found = build._identity(str(environment))

    def stopped(built: str, place: str) -> None:
        assert not os.path.lexists(place)
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "_rename_unless_outrun", stopped)
    with pytest.raises(KeyboardInterrupt):
        build._put_in_place(build._Build(str(environment), str(temporary), (), {}, ()), found)
    assert build._identity(str(environment)) == found


def test_what_another_command_put_there_meanwhile_stays_and_is_said(extras_checkout, tmp_path):
    environment = environment_of(extras_checkout.start("index", "--data", tmp_path / "data"))
    other = f"cp -a {environment} {tmp_path}/other && rm -r {environment} && mv {tmp_path}/other {environment}; exit 3"
    path = fake_uv(tmp_path / "bin", other)
    done = extras_checkout.start("extras", "--data", tmp_path / "data", "stem", PATH=path)
    assert done.returncode == 2
    assert done.stderr.endswith(f"{environment} was changed by another command meanwhile; run the command again.\n")
    assert "snowballstemmer" not in packages(environment)
    assert beside(environment) == []
    assert environment_of(extras_checkout.start("extras", "--data", tmp_path / "data", "stem")) == environment


def test_into_a_python_that_has_all_packages_nothing_is_installed(tmp_path, monkeypatch):
    """It is its owner's: the line for that Python is all they get."""
    launcher.install_extras(["stem"], data=str(tmp_path / "data"))
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(MissingPackageError, match="Commands go on in this Python") as refused:
        launcher.install_extras(["stem"], data=str(tmp_path / "data"))
    line = str(refused.value).partition(" Run: ")[2]
    assert line == launcher.install_command(["stem"])
    assert shlex.split(line)[-2:] == ["install", "snowballstemmer>=2.2"]
    assert not (tmp_path / "data").exists()


def test_python3_is_named_only_where_it_is_this_very_interpreter(tmp_path, monkeypatch):
    """Those of virtual environments are links to one and the same file."""
    real = Path(os.path.realpath(sys.executable))
    for name in ("active", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "python3").symlink_to(real)
    monkeypatch.setenv("PATH", str(tmp_path / "active"))
    named = launcher.environment._as_typed
    assert named(str(tmp_path / "active/python3")) == "python3"
    assert named(str(tmp_path / "other/python3")) == str(tmp_path / "other/python3")
