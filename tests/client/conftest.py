"""One person with a throw-away home, the real client, and the shipped example as their vault."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the harness beside this file; importlib mode adds no folder

from real_client import ROOT, VERSION, Client, find_client

NEEDED = f"needs the Claude Code client {VERSION}: .ci/run shows how to install it; name its folder with CLAUDE_CLIENT_DIR"


@dataclass(frozen=True)
class Desk:
    """A vault with labels beside it, and the client whose home is the folder above."""

    client: Client
    vault: Path

    @property
    def labels(self) -> Path:
        return self.vault.with_name(f"{self.vault.name}.queries.json")

    @property
    def reports(self) -> list[Path]:
        """The folders of saved reports, the oldest first, in the default place."""
        return sorted((self.client.home / ".local/share/vault-eval/reports").glob("*/*"))

    @property
    def indexes(self) -> list[Path]:
        return list((self.client.home / ".local/share/vault-eval/indexes").glob("*/*"))

    def index(self) -> None:
        done = self.client.script("vault-eval.py", "index", "--vault", str(self.vault))
        assert done.returncode == 0, done.stderr

    def measure(self) -> Path:
        """Index and evaluate without the client; the folder of the report."""
        self.index()
        done = self.client.script("evaluate-retrieval.py", "--vault", str(self.vault), "--cold-samples", "0")
        assert done.returncode == 0, done.stderr
        return self.reports[-1]

    def label(self, *queries: dict[str, object]) -> None:
        content = {"schema": "claude-obsidian.retrieval-queries.v1", "queries": list(queries)}
        self.labels.write_text(json.dumps(content), encoding="utf-8")

    def label_few(self) -> None:
        """Two queries instead of fourteen, where the figures are beside the point: each one timed costs a process."""
        found = {"id": "depth", "query": "depth of berth 3 at low water", "expected_pages": ["Berth depths.md"]}
        self.label(found, {"id": "freight", "query": "lifting heavy freight", "expected_pages": ["Machines/Derrick.md"]})

    def remember(self, line: str) -> None:
        """Put a line into the person's own memory file."""
        place = self.client.home / ".claude" / "CLAUDE.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{line}\n", encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        """Every file of the vault and beside it."""
        return {str(path): path.read_bytes() for path in sorted(self.vault.parent.rglob("*")) if path.is_file()}


@pytest.fixture(scope="session")
def program() -> str:
    found = find_client(os.environ)
    if found is None and os.environ.get("REQUIRE_CLAUDE_CLIENT") == "1":
        pytest.fail(NEEDED)
    if found is None:
        pytest.skip(NEEDED)
    return found


@pytest.fixture
def new_desk(program, tmp_path) -> Callable[..., Desk]:
    """Make a desk whose vault has this name."""
    return lambda name="Harbour", home="home": _desk(program, tmp_path / home, name)


@pytest.fixture
def desk(new_desk) -> Desk:
    return new_desk()


@pytest.fixture(scope="session")
def measured(program, tmp_path_factory) -> tuple[Desk, Path]:
    """A desk and the folder of its report, shared by tests that change neither vault nor home."""
    desk = _desk(program, tmp_path_factory.mktemp("measured") / "home", "Harbour")
    return desk, desk.measure()


def _desk(program: str, home: Path, name: str) -> Desk:
    vault = home / "Notes" / name
    shutil.copytree(ROOT / "fixtures/original/pages", vault)
    (vault / ".obsidian").mkdir()
    desk = Desk(Client(program, home), vault)
    shutil.copy(ROOT / "fixtures/original/queries.json", desk.labels)
    return desk
