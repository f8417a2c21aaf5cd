"""The same notes, labels and options give the same bytes: index, report and Markdown, whatever else differs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIXTURE = ROOT / "fixtures" / "original"
# Settled long ago, so that the states of an incremental build are trusted.
_LONG_AGO_NS = 10**18

EXTRA = {
    "Équipe/Ålesund.md": "---\ntags: [b, a]\naliases: [Z, A]\n---\n# Ålesund\n\nberth berth harbour\n\n# Ålesund\n\nberth harbour\n",
    "a/Same.md": "berth harbour pump\n",
    "B/Same.md": "berth harbour pump\n",
    "Binary.md": "\x00\x01 berth\n",
    "Odd/Bad front.md": "---\na: [\n---\nberth\n",
    "Labels.md": "---\nschema: claude-obsidian.retrieval-queries.v1\nqueries: []\n---\n",
}


@dataclass(frozen=True, slots=True)
class Place:
    """One vault, its labels, and what is built and said of it."""

    folder: Path

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def run(self, script: str, *arguments: str, **environment: str) -> str:
        command = [sys.executable, str(ROOT / "scripts" / script), *arguments, "--data", str(self.folder / "data")]
        surroundings = {**os.environ, **environment}
        done = subprocess.run(command, capture_output=True, env=surroundings, cwd=self.folder, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode("utf-8", "replace")

    def index(self, name: str = "index", **environment: str) -> bytes:
        """The bytes of the index file that is valid after `index` has run."""
        self.run("vault-eval.py", "index", "--vault", str(self.vault), "--index", str(self.folder / name), **environment)
        seal = json.loads((self.folder / name / "seal.json").read_bytes())
        return (self.folder / name / seal["file"]).read_bytes()

    def report(self, name: str = "index", **environment: str) -> dict[str, bytes]:
        """The canonical bytes of each rendering, what may differ taken out."""
        places = ["--vault", str(self.vault), "--queries", str(self.folder / "queries.json"), "--index", str(self.folder / name)]
        out = self.folder / "out"
        spec = ["-r", "keyword,keyword:k1=0.9,b=0.4", "--top", "20", "--cold-samples", "0"]
        self.run("evaluate-retrieval.py", *places, *spec, "--out", str(out), **environment)
        return canonical(out)


def canonical(out: Path) -> dict[str, bytes]:
    """report.json in a stable form without `timing`; report.md without the section Timing; pages.json as it is."""
    report = json.loads((out / "report.json").read_bytes())
    del report["timing"]
    markdown = (out / "report.md").read_text(encoding="utf-8")
    untimed, found = re.subn(r"^## Timing\n.*?(?=^## |\Z)", "", markdown, flags=re.MULTILINE | re.DOTALL)
    assert found == 1
    # Key order is kept: it is part of what must be the same.
    return {"json": json.dumps(report).encode(), "md": untimed.encode(), "pages": (out / "pages.json").read_bytes()}


def notes() -> dict[str, bytes]:
    pages = {path.relative_to(FIXTURE / "pages").as_posix(): path.read_bytes() for path in (FIXTURE / "pages").rglob("*.md")}
    return {**pages, **{page: text.encode() for page, text in EXTRA.items()}}


def lay_out(folder: Path, pages: list[str]) -> Place:
    """A vault whose notes were made in the order of `pages`."""
    place = Place(folder)
    for page in pages:
        write(place, page, notes()[page])
    (folder / "queries.json").write_bytes((FIXTURE / "queries.json").read_bytes())
    return place


def write(place: Place, page: str, text: bytes) -> None:
    path = place.vault / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    os.utime(path, ns=(_LONG_AGO_NS, _LONG_AGO_NS))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return lay_out(tmp_path / "one", sorted(notes()))


@pytest.fixture
def other(tmp_path: Path) -> Place:
    return lay_out(tmp_path / "another", sorted(notes(), reverse=True))


def test_two_runs_say_the_same_but_for_timing(place):
    place.index()
    first = place.report()
    assert place.report() == first
    report = json.loads(first["json"])
    assert len(report["runs"]) == 2
    assert report["runs"][0]["metrics"]["mrr@10"]["n"] == 12


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4294967295"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LANG": "tr_TR.UTF-8", "LC_ALL": "", "LANGUAGE": "tr"},
        {"TZ": "Pacific/Kiritimati"},
        {"TZ": "XYZ+11:30"},
        {"PYTHONIOENCODING": "latin-1"},
        {"COLUMNS": "20", "NO_COLOR": "1", "TERM": "dumb"},
    ],
    ids=lambda environment: ",".join(f"{name}={value}" for name, value in environment.items()),
)
def test_surroundings_change_nothing(place, environment):
    first = place.index(PYTHONHASHSEED="0"), place.report(PYTHONHASHSEED="0")
    assert (place.index("again", **environment), place.report("again", **environment)) == first


def test_neither_the_order_in_which_notes_were_made_nor_the_place_of_the_vault_changes_anything(place, other):
    assert (place.index(), place.report()) == (other.index(), other.report())


def test_an_index_refreshed_in_steps_is_the_one_built_at_once(place):
    """Notes added, changed, renamed, removed and put back, each in a build of its own."""
    for page in sorted(notes())[::2]:
        (place.vault / page).unlink()
    place.index("steps")
    for page in sorted(notes())[::2]:
        write(place, page, notes()[page])
    write(place, "a/Same.md", b"quite another text\n")
    write(place, "Gone tomorrow.md", b"berth\n")
    place.index("steps")
    write(place, "a/Same.md", notes()["a/Same.md"])
    (place.vault / "Gone tomorrow.md").rename(place.vault / "Moved.md")
    place.index("steps")
    (place.vault / "Moved.md").unlink()
    assert place.index("steps") == place.index("at once")
    assert place.report("steps") == place.report("at once")


def test_states_that_are_trusted_and_notes_that_are_read_again_give_the_same_report(place):
    place.index()
    trusted = place.report()
    (place.folder / "index" / "states.json").unlink()
    assert place.report() == trusted


def test_nothing_of_this_machine_is_in_the_index(place):
    content = place.index()
    assert str(place.folder).encode() not in content
    assert b"vault-eval.index.v1" in content


def test_the_shipped_example_says_the_same_twice(place):
    places = [place.folder / "first", place.folder / "second"]
    for number, out in enumerate(places):
        arguments = ["--fixture", "--cold-samples", "0", "--out", str(out)]
        place.run("evaluate-retrieval.py", *arguments, PYTHONHASHSEED=str(number))
    assert canonical(places[0]) == canonical(places[1])
