"""From a git repository on this disk: `git` in the throw-away home takes it for the address that the person typed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from real_client import ROOT, Client, Step, model, run_line

ADDRESS = "https://vault-eval.invalid/vault-eval.git"
SHIPPED = (
    ".claude-plugin",
    "agents",
    "fixtures",
    "requirements",
    "scripts",
    "skills",
    "LICENSE",
    "README.md",
    "plugin.json",
    "pyproject.toml",
)


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"]
    surroundings = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *arguments], cwd=folder, env=surroundings, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "state")


def release(folder: Path, version: str) -> None:
    manifest = folder / ".claude-plugin" / "plugin.json"
    content = json.loads(manifest.read_text(encoding="utf-8")) | {"version": version}
    manifest.write_text(json.dumps(content), encoding="utf-8")
    entry = folder / "scripts" / "vault_eval" / "__init__.py"
    entry.write_text(
        entry.read_text(encoding="utf-8").rpartition("__version__")[0] + f'__version__ = "{version}"\n', encoding="utf-8"
    )
    commit(folder)


def test_it_is_added_installed_run_and_updated_from_a_git_repository(repository, new_desk):
    desk = new_desk()
    desk.label_few()
    client = Client(desk.client.program, desk.client.home, plugin=None)
    assert [path.name for path in client.home.iterdir()] == ["Notes"]
    instead = f'[url "{repository.as_uri()}"]\n\tinsteadOf = {ADDRESS}\n[protocol "file"]\n\tallow = always\n'
    (client.home / ".gitconfig").write_text(instead, encoding="utf-8")

    vault = {"VAULT": str(desk.vault)}

    def version_run(*steps: Step) -> str:
        """The version that the installed copy says it is, in the report of what it measured."""
        turn = client.ask(
            "/vault-eval:evaluate build", model(*steps, run_line("evaluate-retrieval.py", **vault)), folder=desk.vault
        )
        assert turn.denied == []
        assert all(str(client.home / ".claude/plugins/cache/vault-eval/vault-eval") in used for used in turn.used)
        assert "  recall@5" in turn.results[-1].text
        return json.loads((desk.reports[-1] / "report.json").read_text(encoding="utf-8"))["tool"]["version"]

    client.manage("marketplace", "add", ADDRESS)
    client.manage("install", "vault-eval@vault-eval")
    shipped = json.loads((ROOT / "plugin.json").read_text(encoding="utf-8"))["version"]
    assert version_run(run_line("vault-eval.py", "index", **vault)) == shipped
    release(repository, "99.0.0")
    client.manage("marketplace", "update", "vault-eval")
    client.manage("update", "vault-eval@vault-eval")
    assert version_run() == "99.0.0"
    installed = next(one for one in json.loads(client.manage("list", "--json").stdout) if one["id"] == "vault-eval@vault-eval")
    assert (installed["version"], installed["enabled"]) == ("99.0.0", True)
    assert list(Path(installed["installPath"]).rglob("__pycache__")) == []


def test_the_strict_validation_of_the_client_passes_and_finds_every_part(program, tmp_path):
    report = json.loads(Client(program, tmp_path).manage("validate", "--strict", "--json", str(ROOT)).stdout)
    assert report["success"]
    assert sorted(report["provides"]["skills"]) == [f"vault-eval:{path.name}" for path in sorted((ROOT / "skills").iterdir())]
    assert sorted(report["provides"]["agents"]) == [f"vault-eval:{path.stem}" for path in sorted((ROOT / "agents").iterdir())]
    assert report["manifest"]["errors"] == report["manifest"]["warnings"] == []
