"""A Python without packages gives what one with them gives: every command goes on in the private environment where it must."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from vault_eval import launcher

ROOT = Path(__file__).resolve().parents[2]
# What the lock file brings: our packages, and theirs.
LOCKED = (*launcher.RUNTIME_PACKAGES, "yaml", "mdurl", "pygments", "markupsafe")
ADDED = ("snowballstemmer",)
LABELS = {
    "schema": "claude-obsidian.retrieval-queries.v1",
    "queries": [
        {"id": "reef", "query": "reefing", "expected_pages": ["Sailing.md"]},
        {"id": "paint", "query": "red lead", "expected_pages": ["Sailing.md"]},
        {"id": "storm", "query": "what to do in a storm", "expected_pages": ["Sailing.md#Reefing"]},
    ],
}
NOTES = {
    "Sailing.md": "---\nanswers: [when to reef]\n---\n# Reefing\n\nReef early when the wind rises.\n",
    "Boat.md": "# The boat\n\nPlanks, [[Sailing]] and red lead.\n",
    "Labels.md": f"---\nschema: {LABELS['schema']}\nqueries: {json.dumps(LABELS['queries'])}\n---\n",
}


@dataclass(frozen=True)
class Home:
    """A vault with labels, and a data folder with a private environment, whose packages are those of this interpreter."""

    folder: Path
    bare: Path

    @property
    def vault(self) -> Path:
        return self.folder / "Notes"

    @property
    def labels(self) -> Path:
        return self.folder / "labels.json"

    def run(self, *arguments: object, python: Path | str, data: Path) -> subprocess.CompletedProcess[str]:
        line = [python, ROOT / "scripts/vault-eval.py", *arguments, "--data", data]
        surroundings = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        return subprocess.run(
            [*map(str, line)], env=surroundings, cwd=self.folder, capture_output=True, text=True, encoding="utf-8", check=False
        )


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Home:
    folder = tmp_path_factory.mktemp("home")
    (folder / "Notes").mkdir()
    for name, text in NOTES.items():
        (folder / "Notes" / name).write_text(text, encoding="utf-8")
    (folder / "labels.json").write_text(json.dumps(LABELS), encoding="utf-8")
    environment = Path(launcher.environment_folder(str(folder / "without")))
    environment.parent.mkdir(mode=0o700, parents=True)
    for place in (folder / "bare", environment):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = environment.glob("lib/*/site-packages")
    for package in (*LOCKED, *ADDED):
        place = Path(str(find_spec(package).origin)).parent
        (packages / place.name).symlink_to(place)
    made = Home(folder, folder / "bare" / "bin" / "python")
    for data in ("with", "without"):
        assert made.run("index", "--vault", made.vault, python=sys.executable, data=folder / data).returncode == 0
    return made


@pytest.mark.parametrize(
    "command",
    [
        "bench --vault V --queries L --cold-samples 0",
        "bench --vault V --queries note:Labels.md --cold-samples 0 --out folder",
        "bench --vault V --queries property:answers --cold-samples 0",
        "bench --vault V --queries L --vary chunk-chars=500,900 --cold-samples 0",
        "bench --vault V --queries L -r title,grep,random,vector,hybrid+rerank --cold-samples 0",
        "bench --vault V --queries L --cold-samples 0 --out out.html",
        "compare --vault V --queries L --vary chunk-chars=800",
        "compare --vault V --queries L --vary prefix=none --format html",
        "retrieve --vault V reefing --explain",
        "index --vault V --check",
        "index --vault V --chunk-chars 600",
        "labels check --vault V --queries note:Labels.md",
        "labels suggest --vault V",
        "labels add --vault V --query planks --page Boat --id new --queries L",
        "history --vault V --format html",
    ],
)
def test_a_command_gives_the_same_without_packages_as_with_them(home, command):
    """Whatever it must build or read for the first time."""
    places = {"V": str(home.vault), "L": str(home.labels)}
    words = [places.get(word, word) for word in command.split()]
    full = home.run(*words, python=sys.executable, data=home.folder / "with")
    bare = home.run(*words, python=home.bare, data=home.folder / "without")
    assert (bare.returncode, _shown(bare.stderr), _shown(bare.stdout)) == (
        full.returncode,
        _shown(full.stderr),
        _shown(full.stdout),
    )
    assert bare.returncode == 0


def test_what_only_the_private_environment_has_is_used_by_every_command(home):
    """Words are stemmed there: "reefs" is found in a note that says "reef"."""
    without = home.folder / "without"
    for command in ("index --stem english", f"bench --queries {home.labels} --cold-samples 0", "retrieve reefs"):
        done = home.run(*command.split(), "--vault", home.vault, python=home.bare, data=without)
        assert done.returncode == 0, (command, done.stderr)
    assert '"Sailing.md"' in done.stdout


def _shown(text: str) -> str:
    """Without what differs from run to run: times, dates, and the name of the data folder."""
    return re.sub(r"sha256-\S+|[-<\d.,:TZ\s]*\d[-\d.,:TZ\s]*", "#", text).replace("/without", "/with")
