"""What is fuzzed: labels, notes, file names, settings and index files, queries, command lines. One function a target.

A target lays its input out in a workspace and yields complaints; the number of a case and the seed decide all of it.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeAlias

from fuzzing.harness import complaints, folder_state, run
from fuzzing.mutation import TOKENS, as_bytes, mutated, random_text

_ROOT = Path(__file__).resolve().parents[2]
_NAME_MAX_BYTES = 200
# `--install` would start a build in this process.
_FLAGS = ("--markdown", "--quality", "--remember", "--explain", "--check", "--help", "-h", "--version", "--no-llm")
_PLACES = ("--data", "--index", "--out", "-o")
_OPTIONS = (
    *("--vault", "--queries", *_PLACES, "--retriever", "-r", "--top", "-k", "--format", "--min-n", "--fail-under", "--split"),
    *("--collection", "--cold-samples", "--chunk-chars", "--chunk-max", "--overlap", "--prefix", "--stem", "--exclude"),
    *("--baseline", "--margin", "--junit", "--strategy", "--no-such"),
)
_VALUES = (
    *("0", "1", "10", "11", "-1", "1e3", "٣", "9" * 25, "0.5", "nan", "recall@5=0.5", "mrr@10=1.1", "json", "text", "", ".", "/"),
    *("keyword:", "keyword:k1=0.5,b=1", "keyword,title", "note:", "property:", "property:answers", "all", "none", "synthetic"),
)
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

    def write(self, page: str, data: bytes) -> None:
        """One note, with the folders it needs."""
        place = self.vault / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


Target: TypeAlias = "Callable[[Random, Workspace], Iterator[str]]"


def corpus() -> tuple[bytes, ...]:
    """Seed documents: every case of the label tests, the shipped example, and the notes above."""
    files = [*(_ROOT / "tests" / "labels" / "cases").glob("*"), *(_ROOT / "fixtures").rglob("*.*")]
    texts = [path.read_bytes() for path in sorted(files) if path.is_file() and not path.name.endswith((".txt", ".expected.json"))]
    return (*texts, *NOTES.values(), json.dumps(LABELS).encode())


def prepare(workspace: Workspace) -> None:
    """An index of the valid vault, kept for the targets that only ask it."""
    workspace.reset()
    shutil.rmtree(workspace.steady, ignore_errors=True)
    built = run(["index", "--vault", str(workspace.vault), "--index", str(workspace.steady)])
    if built.code != 0:
        raise RuntimeError(built.stderr)


def judged(workspace: Workspace, *argvs: Sequence[str]) -> Iterator[str]:
    """Complaints about these commands in order; none of them may change the vault."""
    before = folder_state(workspace.vault)
    for argv in argvs:
        outcome = run(argv)
        yield from complaints(outcome)
    if folder_state(workspace.vault) != before:
        yield f"written: the vault changed under {argvs[-1][0] if argvs[-1] else ''}"
    yield from _left_behind(workspace)


def labels(rng: Random, workspace: Workspace) -> Iterator[str]:
    """A damaged label file of any format, or a damaged label note, or damaged notes with the property."""
    data = mutated(rng, rng.choice(workspace.seeds), workspace.seeds)
    kind = rng.random()
    source = f"{workspace.folder}/labels{rng.choice(('.json', '.jsonl', '.md', '.txt', ''))}"
    if kind < 0.3:
        workspace.reset()
        workspace.write("Eval/Labels.md", data)
        source = rng.choice(("note:Eval/Labels.md", "note:eval/labels", str(workspace.vault / "Eval" / "Labels.md")))
    elif kind < 0.45:
        workspace.reset()
        workspace.write("Garden/Pruning.md", data)
        source = "property:answers"
    else:
        Path(source).write_bytes(data)
    yield from judged(workspace, _bench(rng, workspace, "--queries", source))


def notes(rng: Random, workspace: Workspace) -> Iterator[str]:
    """Damaged notes: indexed, indexed again, one changed, indexed in part and as a whole, searched, measured."""
    workspace.reset()
    pages = [*NOTES, "More.md", "Sea/More.md"]
    for page in rng.sample(pages, rng.randrange(1, 4)):
        workspace.write(page, mutated(rng, rng.choice(workspace.seeds), workspace.seeds))
    part, whole = workspace.data / "part", workspace.data / "whole"
    options = _index_options(rng)
    yield from judged(workspace, ["index", "--vault", str(workspace.vault), "--index", str(part), *options])
    first = _sealed(part)
    yield from judged(workspace, ["index", "--vault", str(workspace.vault), "--index", str(part), *options])
    if _sealed(part) != first:
        yield "unstable: the index of unchanged notes is another one"
    for page in rng.sample(pages, rng.randrange(2)):
        workspace.write(page, mutated(rng, rng.choice(workspace.seeds), workspace.seeds))
    yield from judged(
        workspace,
        ["index", "--vault", str(workspace.vault), "--index", str(part), *options],
        ["index", "--vault", str(workspace.vault), "--index", str(whole), "--format", "json", *options],
    )
    if _sealed(part) != _sealed(whole):
        yield "unstable: the index built in part differs from the one built as a whole"
    yield from _fresh(workspace, whole)
    yield from judged(workspace, _retrieve(rng, whole, workspace), _bench(rng, workspace, "--queries", _plain_labels(workspace)))


def names(rng: Random, workspace: Workspace) -> Iterator[str]:
    """Files and folders of every name that the disk takes, links and strange files among them."""
    workspace.reset()
    for _ in range(rng.randrange(1, 5)):
        name = as_bytes(random_text(rng, 3)).replace(b"\0", b"").replace(b"/", rng.choice((b"", b"/"))).strip(b"/")
        name = name[:_NAME_MAX_BYTES] + rng.choice((b".md", b".MD", b"", b"/note.md", b".md/x.md"))
        if not name.startswith(b"..") and b"/.." not in name:
            _make(rng, workspace.vault / os.fsdecode(name))
    index = workspace.data / "index"
    form = rng.choice(("text", "json"))
    yield from judged(
        workspace,
        ["index", "--vault", str(workspace.vault), "--index", str(index), "--format", form],
        _retrieve(rng, index, workspace),
        _bench(rng, workspace, "--queries", _plain_labels(workspace), index=index),
    )


def stored(rng: Random, workspace: Workspace) -> Iterator[str]:
    """Damaged settings, states, seal, index file, or Obsidian config; nothing may be trusted that is not whole."""
    workspace.reset()
    index = workspace.data / "index"
    shutil.copytree(workspace.steady, index)
    config = workspace.vault / ".obsidian" / "app.json"
    config.parent.mkdir()
    config.write_bytes(b'{"userIgnoreFilters": ["Garden/", "/^sea/", "x"]}')
    settings = workspace.data / "settings" / f"{_vault_id(workspace)}.json"
    settings.parent.mkdir()
    settings.write_bytes(b'{"labels": ["labels.json"], "index_options": {"chunk_chars": 900, "exclude": ["a/*"]}}')
    damaged = rng.choice([config, config, settings, settings, *index.iterdir()])
    damaged.write_bytes(mutated(rng, damaged.read_bytes(), workspace.seeds))
    vault = ["--vault", str(workspace.vault), "--index", str(index)]
    commands = (
        _bench(rng, workspace, "--queries", _plain_labels(workspace), index=index),
        _bench(rng, workspace, index=index),
        _retrieve(rng, index, workspace),
        ["doctor", *vault],
        ["index", "--check", *vault],
        ["index", *vault],
        ["index", "--check", *vault],
    )
    yield from judged(workspace, *rng.sample(commands, 3))


def queries(rng: Random, workspace: Workspace) -> Iterator[str]:
    """One query of any text; its answer must be in order, and its scores the sums that `--explain` shows."""
    outcome = run(_retrieve(rng, workspace.steady, workspace))
    yield from complaints(outcome)
    if outcome.code == 0 and outcome.stdout.startswith("{"):
        yield from _wrong_answer(json.loads(outcome.stdout))


def arguments(rng: Random, workspace: Workspace) -> Iterator[str]:
    """Command lines of real options and wrong values, in any order."""
    labels_file = _plain_labels(workspace)
    valid: tuple[tuple[str, ...], ...] = (
        ("--vault", str(workspace.vault)),
        ("--queries", labels_file),
        ("--index", str(workspace.steady)),
        ("--data", str(workspace.data)),
    )
    words = list(rng.sample(valid, rng.randrange(2, 5)))
    words += [_option(rng, workspace) for _ in range(rng.randrange(4))]
    rng.shuffle(words)
    command = rng.choice(("bench", "bench", "bench", "index", "retrieve", "retrieve", "doctor", rng.choice(TOKENS)))
    line = [command, *itertools.chain.from_iterable(words), *(["--", "tides"] if rng.random() < 0.4 else [])]
    if command == "bench":
        line += ["--cold-samples", "0"]
    # An argument of a process can hold no NUL.
    yield from judged(workspace, [word.replace("\0", "") for word in line])


TARGETS: dict[str, tuple[Target, int]] = {
    "labels": (labels, 8),
    "notes": (notes, 3),
    "names": (names, 3),
    "stored": (stored, 4),
    "queries": (queries, 8),
    "arguments": (arguments, 4),
}


def _option(rng: Random, workspace: Workspace) -> tuple[str, ...]:
    if rng.random() < 0.25:
        return (rng.choice(_FLAGS),)
    places = tuple(str(workspace.folder / name) for name in ("vault", "out.json", "out"))
    value = rng.choice((rng.choice(_VALUES), rng.choice(_VALUES), rng.choice(places), random_text(rng, 3)))
    option = rng.choice(_OPTIONS)
    if option in _PLACES and not value.startswith(str(workspace.folder)):
        value = str(workspace.folder / "elsewhere")  # nothing may be left in this working directory
    return (option, value) if rng.random() < 0.8 else (f"{option}={value}",)


def _bench(rng: Random, workspace: Workspace, *rest: str, index: Path | None = None) -> list[str]:
    places = ["--vault", str(workspace.vault), "--index", str(index or workspace.steady)]
    form = rng.choice(("text", "json", "markdown"))
    out = ["--out", str(workspace.folder / rng.choice(("r.json", "r.md", "r.html", "report")))] if rng.random() < 0.4 else []
    gate = ["--fail-under", rng.choice(("0.5", "mrr@10=1", "no_result_accuracy=0.1"))] if rng.random() < 0.2 else []
    return ["bench", *places, *rest, "--cold-samples", "0", "--format", form, "-k", rng.choice(("10", "20", "1000")), *out, *gate]


def _retrieve(rng: Random, index: Path, workspace: Workspace) -> list[str]:
    query = random_text(rng, rng.choice((1, 4, 20, 400))).replace("\0", "")
    spec = rng.choice(("keyword", "keyword:k1=0,b=0", "keyword:k1=100,b=1", "keyword:b=0.3"))
    explain = ["--explain"] if rng.random() < 0.5 else []
    places = ["--vault", str(workspace.vault), "--index", str(index)]
    return ["retrieve", *places, "-r", spec, "--top", rng.choice(("1", "10", "1000")), *explain, "--", query]


def _index_options(rng: Random) -> list[str]:
    glob = random_text(rng, 2).replace("\0", "")
    small = ["--chunk-chars", "50", "--chunk-max", "60", "--overlap", "25"]
    return rng.choice(([], small, ["--prefix", "none"], [f"--exclude={glob}"]))


def _fresh(workspace: Workspace, index: Path) -> Iterator[str]:
    checked = run(["index", "--check", "--vault", str(workspace.vault), "--index", str(index)])
    yield from complaints(checked)
    if checked.code != 0:
        yield f"stale: an index just built is said to be stale: {checked.stdout!r}"


def _wrong_answer(answer: dict[str, object]) -> Iterator[str]:
    ranking = answer["ranking"]
    if not isinstance(ranking, list):
        yield "answer: no ranking"
        return
    keys = [(-row["score"], row["page"]) for row in ranking]
    if keys != sorted(keys) or len({row["page"] for row in ranking}) != len(ranking):
        yield "answer: not by score, then path, or a page twice"
    if [row["rank"] for row in ranking] != list(range(1, len(ranking) + 1)):
        yield "answer: ranks do not count from 1"
    for row in ranking:
        total = 0.0
        for term in row.get("terms", ()):
            total += term["contribution"]
        if "terms" in row and total != row["score"]:
            yield "answer: the contributions do not add up to the score"


def _make(rng: Random, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        kind = rng.random()
        if place.exists():
            return
        if kind < 0.8:
            place.write_bytes(as_bytes(random_text(rng, 6)))
        elif kind < 0.9:
            place.symlink_to(rng.choice(("/etc/passwd", ".", "Sea/Tides.md", "nowhere")))
        else:
            os.mkfifo(place)
    except (OSError, ValueError):  # a name that this disk does not take
        return


def _plain_labels(workspace: Workspace) -> str:
    place = workspace.folder / "plain.json"
    place.write_text(json.dumps(LABELS), encoding="utf-8")
    return str(place)


def _vault_id(workspace: Workspace) -> str:
    from vault_eval.vault.location import vault_id

    return vault_id(str(workspace.vault))


def _sealed(index: Path) -> bytes:
    seal = index / "seal.json"
    return seal.read_bytes() if seal.exists() else b""


def _left_behind(workspace: Workspace) -> Iterator[str]:
    if list(workspace.data.rglob("*.tmp")) or list(workspace.folder.glob("*.tmp")):
        yield "left: a temporary file"
