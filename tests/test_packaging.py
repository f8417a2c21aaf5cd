"""What is said in two places is the same in both: versions, dependencies, lock files, and the files a checkout must hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import vault_eval
from vault_eval import launcher

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = sorted((ROOT / "scripts").glob("*.py"))
PROJECT_TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PROJECT_TEXT)
RUNTIME = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
DEV = [Requirement(line) for line in PROJECT["project"]["optional-dependencies"]["dev"]]


def locked(name: str) -> dict[str, set[str]]:
    """The versions of each package in a lock file; several where Python versions need different ones."""
    versions: dict[str, set[str]] = {}
    for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines():
        if "==" in line and not line.startswith((" ", "#")):
            package, _, version = line.partition(" ")[0].partition("==")
            versions.setdefault(canonicalize_name(package), set()).add(version)
    return versions


def test_the_version_is_the_same_everywhere():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d[^]]*)\]", changelog, re.MULTILINE)
    assert PROJECT["project"]["version"] == vault_eval.__version__ == released[0]
    manifests = [ROOT / "plugin.json", ROOT / ".claude-plugin" / "plugin.json"]
    versions = [json.loads(path.read_text(encoding="utf-8"))["version"] for path in manifests if path.exists()]
    assert set(versions) <= {vault_eval.__version__}


@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.name)
def test_the_block_that_uv_reads_names_the_same_dependencies(path):
    block = re.search(r"^# /// script$\n((?:^#.*$\n)+?)^# ///$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert block is not None
    script = tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in block[1].splitlines()))
    assert script["dependencies"] == PROJECT["project"]["dependencies"]
    assert script["requires-python"] == PROJECT["project"]["requires-python"]


def test_the_launcher_installs_the_dependencies():
    assert sorted(launcher.RUNTIME_PACKAGES.values()) == sorted(requirement.name for requirement in RUNTIME)


@pytest.mark.parametrize(("name", "requirements"), [("runtime.txt", RUNTIME), ("dev.txt", RUNTIME + DEV)])
def test_the_lock_file_satisfies_the_project(name, requirements):
    versions = locked(name)
    for requirement in requirements:
        found = versions[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in found), requirement.name


def test_the_development_lock_holds_the_runtime_lock():
    development = locked("dev.txt")
    assert {name: development.get(name) for name in locked("runtime.txt")} == locked("runtime.txt")


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt"])
def test_every_locked_package_has_a_hash_and_no_place_it_must_come_from(name):
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    package = re.compile(r"[a-z0-9-]+==[0-9a-z.]+( ; [^/@]+)? \\")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [line for line in lines if not (line.startswith("#") or package.fullmatch(line) or digest.fullmatch(line))] == []
    ends = [line.endswith("\\") for line in lines if not line.startswith("#")]
    starts = [line.startswith(" ") for line in lines if not line.startswith("#")]
    assert [*starts[1:], False] == ends  # a line that goes on is followed by a hash, and no other is


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_scripts_that_are_run_are_executable_in_git():
    listed = subprocess.run(
        ["git", "ls-files", "--stage", ".ci/run"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert all(line.startswith("100755") for line in listed.splitlines())


def test_every_rule_of_ruff_that_is_left_out_says_why():
    tables = PROJECT_TEXT.partition("[tool.ruff.lint]")[2].partition("[tool.ruff.lint.pydocstyle]")[0]
    rules = [line for line in tables.splitlines() if re.match(r'\s+"[A-Z]+\d*",', line)]
    assert len(rules) > 20
    assert [line for line in rules if not re.search(r"# \S.{5,}", line)] == []


def test_every_target_of_the_makefile_says_what_it_does():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert {"check", "test", "format", "lock"} <= set(re.findall(r"^([a-z]+):.* ## .+", makefile, re.MULTILINE))
    assert targets == set(re.search(r"^\.PHONY: (.*)", makefile, re.MULTILINE)[1].split())


def test_the_licence_is_the_one_that_is_declared():
    assert PROJECT["project"]["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n\nCopyright (c) 2026 The vault-eval authors\n")
