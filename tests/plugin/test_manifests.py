"""Two manifests and a marketplace say the same, and the same as the package."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import vault_eval

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
CLAUDE = json.loads((ROOT / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
PORTABLE = json.loads((ROOT / "plugin.json").read_text(encoding="utf-8"))
MARKETPLACE = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Agent Plugins 1.0.0 is a closed schema.
PORTABLE_KEYS = {
    "$schema",
    "name",
    "version",
    "description",
    "author",
    "homepage",
    "repository",
    "license",
    "keywords",
    "extensions",
}


def test_the_two_manifests_say_the_same():
    shared = set(CLAUDE) & set(PORTABLE) - {"$schema"}
    assert shared == set(PORTABLE) - {"$schema"}
    assert {key: CLAUDE[key] for key in shared} == {key: PORTABLE[key] for key in shared}


def test_the_portable_manifest_keeps_to_its_closed_schema():
    assert set(PORTABLE) <= PORTABLE_KEYS
    assert PORTABLE["$schema"] == "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def test_the_manifests_say_what_the_package_says():
    assert CLAUDE["version"] == vault_eval.__version__ == PROJECT["version"]
    assert CLAUDE["name"] == PROJECT["name"]
    assert CLAUDE["description"] == PROJECT["description"]
    assert CLAUDE["license"] == PROJECT["license"]
    assert CLAUDE["keywords"] == PROJECT["keywords"]
    assert CLAUDE["author"]["name"] == PROJECT["authors"][0]["name"]


def test_the_repository_is_its_own_marketplace():
    assert MARKETPLACE["owner"] == CLAUDE["author"]
    assert MARKETPLACE["plugins"] == [{"name": CLAUDE["name"], "source": "./", "description": CLAUDE["description"]}]


def test_no_network_host_is_declared():
    assert CLAUDE["network"] == {"hosts": []}


def test_nothing_lies_at_the_top_that_the_client_would_take_for_something_else():
    """With package.json an install runs npm; a top-level SKILL.md is a skill; a link survives no zip."""
    assert [
        name
        for name in ("package.json", "package-lock.json", "SKILL.md", "CLAUDE.md", "hooks", "commands")
        if (ROOT / name).exists()
    ] == []
    shipped = [
        ROOT / "plugin.json",
        *(path for name in (".claude-plugin", "skills", "agents") for path in (ROOT / name).rglob("*")),
    ]
    assert [path for path in shipped if path.is_symlink()] == []


def test_ci_installs_the_client_that_the_tests_are_written_for():
    harness = (ROOT / "tests/client/real_client.py").read_text(encoding="utf-8")
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8")
    version = re.search(r'^VERSION = "(.*)"$', harness, re.MULTILINE)[1]
    assert set(re.findall(r"claude-(?:client-|code-[\w-]+@|Code )([\d.]+)", ci)) == {version}
    assert "REQUIRE_CLAUDE_CLIENT=1" in ci
