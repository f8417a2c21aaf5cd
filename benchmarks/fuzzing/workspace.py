"""The vault, data folder and seed documents of one fuzzing run, and the complaints about a list of commands."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzing.harness import complaints, folder_state, run

from vault_eval.vault.location import vault_id

_ROOT = Path(__file__).resolve().parents[2]
SCHEMA = "claude-obsidian.retrieval-queries.v1"
NOTES = {
    "Sea/Tides.md": b"---\ntitle: Tides\naliases: [Flood, Ebb]\ntags: [sea]\n---\n# Tides\n\nSpring tides follow the moon.\n\n"
    b"## Neap tides\n\nSmaller, a week later. ^neap\n",
    "Garden/Compost.md": b"# Compost heap\n\nTurn the heap every second week.\n\n- damp\n- warm\n\n```\ncode block\n```\n",
    "Garden/Pruning.md": b"---\nanswers:\n  - when do I prune\n  - where to cut\n---\nCut above an outward bud in late winter.\n",
}
LABELS = {
    "schema": SCHEMA,
    "queries": [
        {"id": "a", "query": "spring tides", "expected_pages": ["Sea/Tides.md"], "category": "x"},
        {"id": "b", "query": "neap", "expected_pages": ["Sea/Tides.md#Neap tides", "Garden/Compost.md"]},
        {"id": "c", "query": "zzyzx", "expected_pages": []},
        {"id": "d", "query": "gone", "expected_pages": ["Gone.md"]},
    ],
}


@dataclass(frozen=True, slots=True)
class Workspace:
    """Folders of one fuzzing run; the vault is laid out again for each case that changes it."""

    folder: Path
    seeds: tuple[bytes, ...]

    @property
    def vault(self) -> Path:
        """Its notes."""
        return self.folder / "vault"

    @property
    def data(self) -> Path:
        """What the commands keep, and indexes of the vault as it is in one case."""
        return self.folder / "data"

    @property
    def steady(self) -> Path:
        """The index of the valid vault."""
        return self.folder / "steady"

    def reset(self) -> None:
        """A small vault of valid notes, and an empty data folder."""
        for place in (self.vault, self.data):
            shutil.rmtree(os.fsencode(place), ignore_errors=True)
        self.data.mkdir(parents=True)
        self.vault.mkdir()
        for page, text in NOTES.items():
            self.write(page, text)

    @property
    def settings(self) -> Path:
        """What is remembered about the vault."""
        return self.data / "settings" / f"{vault_id(str(self.vault))}.json"

    @property
    def report(self) -> Path:
        """A valid saved report."""
        return self.folder / "steady.json"

    def write(self, page: str, data: bytes) -> None:
        """One note, with the folders it needs."""
        place = self.vault / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def corpus() -> tuple[bytes, ...]:
    """Seed documents: every case of the label tests, the shipped example, and the notes above."""
    files = [*(_ROOT / "tests" / "labels" / "cases").glob("*"), *(_ROOT / "fixtures").rglob("*.*")]
    texts = [path.read_bytes() for path in sorted(files) if path.is_file() and not path.name.endswith((".txt", ".expected.json"))]
    return (*texts, *NOTES.values(), json.dumps(LABELS).encode())


def prepare(workspace: Workspace) -> None:
    """An index and a report of the valid vault, kept for the targets that only ask them."""
    workspace.reset()
    shutil.rmtree(workspace.steady, ignore_errors=True)
    built = run(["index", "--vault", str(workspace.vault), "--index", str(workspace.steady)])
    places = ["--vault", str(workspace.vault), "--index", str(workspace.steady), "--queries", plain_labels(workspace)]
    measured = run(["bench", *places, "--cold-samples", "0", "--out", str(workspace.report)])
    if built.code != 0 or measured.code != 0:
        raise RuntimeError(built.stderr + measured.stderr)


def judged(workspace: Workspace, *argvs: Sequence[str]) -> Iterator[str]:
    """Complaints about these commands in order; none of them may change the vault."""
    before = folder_state(workspace.vault)
    for argv in argvs:
        outcome = run(argv)
        yield from complaints(outcome)
    if folder_state(workspace.vault) != before:
        yield f"written: the vault changed under {argvs[-1][0] if argvs[-1] else ''}"
    yield from _left_behind(workspace)


def plain_labels(workspace: Workspace) -> str:
    """A valid label file."""
    place = workspace.folder / "plain.json"
    place.write_text(json.dumps(LABELS), encoding="utf-8")
    return str(place)


def sealed(index: Path) -> bytes:
    """What makes an index valid, or nothing where there is none."""
    seal = index / "seal.json"
    return seal.read_bytes() if seal.exists() else b""


def _left_behind(workspace: Workspace) -> Iterator[str]:
    if list(workspace.data.rglob("*.tmp")) or list(workspace.folder.glob("*.tmp")):
        yield "left: a temporary file"
