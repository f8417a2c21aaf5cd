"""A first start that cannot go on ends in one sentence that helps: tried through the scripts, as the skills run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTE = """\
---
schema: claude-obsidian.retrieval-queries.v1
queries:
  - id: tide
    query: tide
    expected_pages: [Tide.md]
---
"""


@dataclass(frozen=True)
class Newcomer:
    """An empty home folder, a vault with a label note, a Python without packages, and no uv."""

    home: Path
    python: Path

    def run(self, script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        surroundings = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"} | variables
        command = [str(self.python), str(ROOT / "scripts" / script), *arguments]
        return subprocess.run(command, env=surroundings, capture_output=True, text=True, encoding="utf-8", check=False)

    @property
    def vault(self) -> str:
        return str(self.home / "Notes")

    def index(self, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("vault-eval.py", "index", "--vault", self.vault, **variables)

    def environments(self) -> list[Path]:
        return [path for path in (self.home / ".local/share/vault-eval/environments").glob("*") if path.is_dir()]


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture
def newcomer(tmp_path, bare_python) -> Newcomer:
    (tmp_path / "Notes" / ".obsidian").mkdir(parents=True)
    (tmp_path / "Notes" / "Tide.md").write_text("# Tide\n\nThe tide comes in.\n", encoding="utf-8")
    (tmp_path / "Notes" / "Labels.md").write_text(NOTE, encoding="utf-8")
    return Newcomer(tmp_path, bare_python)


def only_sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a command that ended with code 2 and printed nothing else."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_without_packages_and_with_installing_forbidden(newcomer):
    said = only_sentence(newcomer.index(VAULT_EVAL_NO_INSTALL="1"))
    assert "index needs python-frontmatter, markdown-it-py, rich, jinja2, which this Python" in said
    assert "VAULT_EVAL_NO_INSTALL is set, so nothing was installed. Unset it and run: " in said
    assert "vault-eval.py doctor --install" in said
    assert not (newcomer.home / ".local").exists()


def test_without_packages_the_evaluator_installs_nothing_and_names_the_command_that_does(newcomer):
    said = only_sentence(newcomer.run("evaluate-retrieval.py", "--vault", newcomer.vault, "--queries", "note:Labels.md"))
    assert "vault-eval.py doctor --install" in said
    assert newcomer.environments() == []


def test_without_network(newcomer):
    """Nothing listens on that port, so every way to the package index ends there."""
    dead = "http://127.0.0.1:9"
    done = newcomer.index(
        PIP_INDEX_URL=f"{dead}/simple", HTTPS_PROXY=dead, HTTP_PROXY=dead, PIP_RETRIES="0", PIP_CONFIG_FILE=os.devnull
    )
    begun, said = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert begun.startswith("vault-eval: installing python-frontmatter, markdown-it-py, rich, jinja2 into ")
    assert said.startswith("vault-eval: python-frontmatter, markdown-it-py, rich, jinja2 could not be installed; ")
    assert said.endswith("Check the network and the proxy, which are needed this once, and run the command again.")
    assert newcomer.environments() == []


def test_without_uv_and_without_any_other_way_to_install(newcomer, tmp_path):
    """As on a Debian without python3-venv and python3-pip."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['ensurepip'] = None\n", encoding="utf-8")
    done = newcomer.index(PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "has neither ensurepip nor pip, and there is no uv on the PATH. Install uv, or your system's package python3-venv"
        in done.stderr
    )
    assert done.stderr.count("\n") == 2  # that it begins, and how it ended
    assert newcomer.environments() == []


@pytest.mark.parametrize("script", ["vault-eval.py", "evaluate-retrieval.py"])
@pytest.mark.parametrize("version", ["3.8", "3.9"])
def test_with_an_old_python(newcomer, script, version):
    python = shutil.which(f"python{version}")
    # A version manager may put the command on the path and still need to be told which version is meant.
    surroundings = os.environ | {"PYENV_VERSION": version}
    if python is None or subprocess.run([python, "--version"], env=surroundings, capture_output=True, check=False).returncode:
        pytest.skip(f"there is no Python {version} here")
    said = only_sentence(Newcomer(newcomer.home, Path(python)).run(script, "--vault", newcomer.vault, **surroundings))
    assert said.startswith(f"vault-eval needs Python 3.10 or newer; this is {version} (")


def test_with_json_labels_nothing_is_needed_once_there_is_an_index(newcomer, tmp_path):
    built = subprocess.run(
        [sys.executable, str(ROOT / "scripts/vault-eval.py"), "index", "--vault", newcomer.vault],
        env={"HOME": str(newcomer.home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    labels = tmp_path / "Notes.queries.json"
    query = '{"id": "tide", "query": "tide", "expected_pages": ["Tide.md"]}'
    labels.write_text(f'{{"schema": "claude-obsidian.retrieval-queries.v1", "queries": [{query}]}}', encoding="utf-8")
    place = ("--vault", newcomer.vault, "--queries", str(labels))
    done = newcomer.run("evaluate-retrieval.py", *place, "--cold-samples", "0", VAULT_EVAL_NO_INSTALL="1")
    assert done.returncode == 0, done.stderr
    assert "  recall@5" in done.stdout
    assert newcomer.environments() == []
