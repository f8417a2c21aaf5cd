"""What is fuzzed: labels, notes, file names, settings and index files, saved reports, queries, command lines.

One function a target: it lays its input out in a workspace and yields complaints; the number of a case and the seed decide all
of it.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TypeAlias

from fuzzing.command_lines import bench, index_options, option, retrieve
from fuzzing.harness import complaints, run
from fuzzing.mutation import TOKENS, as_bytes, mutated, random_text
from fuzzing.workspace import NOTES, Workspace, judged, plain_labels, sealed

_NAME_MAX_BYTES = 200
Target: TypeAlias = "Callable[[Random, Workspace], Iterator[str]]"


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
    yield from judged(workspace, bench(rng, workspace, "--queries", source))


def notes(rng: Random, workspace: Workspace) -> Iterator[str]:
    """Damaged notes: indexed, indexed again, one changed, indexed in part and as a whole, searched, measured."""
    workspace.reset()
    pages = [*NOTES, "More.md", "Sea/More.md"]
    for page in rng.sample(pages, rng.randrange(1, 4)):
        workspace.write(page, mutated(rng, rng.choice(workspace.seeds), workspace.seeds))
    part, whole = workspace.data / "part", workspace.data / "whole"
    options = index_options(rng)
    yield from judged(workspace, ["index", "--vault", str(workspace.vault), "--index", str(part), *options])
    first = sealed(part)
    yield from judged(workspace, ["index", "--vault", str(workspace.vault), "--index", str(part), *options])
    if sealed(part) != first:
        yield "unstable: the index of unchanged notes is another one"
    for page in rng.sample(pages, rng.randrange(2)):
        workspace.write(page, mutated(rng, rng.choice(workspace.seeds), workspace.seeds))
    yield from judged(
        workspace,
        ["index", "--vault", str(workspace.vault), "--index", str(part), *options],
        ["index", "--vault", str(workspace.vault), "--index", str(whole), "--format", "json", *options],
    )
    if sealed(part) != sealed(whole):
        yield "unstable: the index built in part differs from the one built as a whole"
    yield from _fresh(workspace, whole)
    yield from judged(workspace, retrieve(rng, whole, workspace), bench(rng, workspace, "--queries", plain_labels(workspace)))


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
        retrieve(rng, index, workspace),
        bench(rng, workspace, "--queries", plain_labels(workspace), index=index),
    )


def stored(rng: Random, workspace: Workspace) -> Iterator[str]:
    """Damaged settings, states, seal, index file, or Obsidian config; nothing may be trusted that is not whole."""
    workspace.reset()
    index = workspace.data / "index"
    shutil.copytree(workspace.steady, index)
    config = workspace.vault / ".obsidian" / "app.json"
    config.parent.mkdir()
    config.write_bytes(b'{"userIgnoreFilters": ["Garden/", "/^sea/", "x"]}')
    settings = workspace.settings
    settings.parent.mkdir()
    settings.write_bytes(b'{"labels": ["labels.json"], "index_options": {"chunk_chars": 900, "exclude": ["a/*"]}}')
    damaged = rng.choice([config, config, settings, settings, *index.iterdir()])
    damaged.write_bytes(mutated(rng, damaged.read_bytes(), workspace.seeds))
    vault = ["--vault", str(workspace.vault), "--index", str(index)]
    commands = (
        bench(rng, workspace, "--queries", plain_labels(workspace), index=index),
        bench(rng, workspace, index=index),
        retrieve(rng, index, workspace),
        ["doctor", *vault],
        ["index", "--check", *vault],
        ["index", *vault],
        ["index", "--check", *vault],
    )
    yield from judged(workspace, *rng.sample(commands, 3))


def queries(rng: Random, workspace: Workspace) -> Iterator[str]:
    """One query of any text; its answer must be in order, and its scores the sums that `--explain` shows."""
    outcome = run(retrieve(rng, workspace.steady, workspace))
    yield from complaints(outcome)
    if outcome.code == 0 and outcome.stdout.startswith("{"):
        yield from _wrong_answer(json.loads(outcome.stdout))


def arguments(rng: Random, workspace: Workspace) -> Iterator[str]:
    """Command lines of real options and wrong values, in any order."""
    labels_file = plain_labels(workspace)
    valid: tuple[tuple[str, ...], ...] = (
        ("--vault", str(workspace.vault)),
        ("--queries", labels_file),
        ("--index", str(workspace.steady)),
        ("--data", str(workspace.data)),
    )
    words = list(rng.sample(valid, rng.randrange(2, 5)))
    words += [option(rng, workspace) for _ in range(rng.randrange(4))]
    rng.shuffle(words)
    command = rng.choice(("bench", "bench", "bench", "index", "retrieve", "retrieve", "doctor", "report", rng.choice(TOKENS)))
    line = [command, *itertools.chain.from_iterable(words), *(["--", "tides"] if rng.random() < 0.4 else [])]
    if command == "bench":
        line += ["--cold-samples", "0"]
    # An argument of a process can hold no NUL.
    yield from judged(workspace, [word.replace("\0", "") for word in line])


def reports(rng: Random, workspace: Workspace) -> Iterator[str]:
    """A damaged saved report, rendered again."""
    place = workspace.folder / "damaged.json"
    place.write_bytes(mutated(rng, workspace.report.read_bytes(), workspace.seeds))
    form = rng.choice((["--format", rng.choice(("text", "markdown", "html"))], ["--miss", "b", "--format", "json"]))
    yield from judged(workspace, ["report", str(place), *form])


TARGETS: dict[str, tuple[Target, int]] = {
    "labels": (labels, 8),
    "notes": (notes, 3),
    "names": (names, 3),
    "stored": (stored, 4),
    "queries": (queries, 8),
    "arguments": (arguments, 4),
    "reports": (reports, 4),
}


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
