"""Command lines: valid ones with random choices, and options with wrong values."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzzing.mutation import random_text
from fuzzing.workspace import Workspace

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


def option(rng: Random, workspace: Workspace) -> tuple[str, ...]:
    """One option, with a value or without, often a wrong one."""
    if rng.random() < 0.25:
        return (rng.choice(_FLAGS),)
    places = tuple(str(workspace.folder / name) for name in ("vault", "out.json", "out"))
    value = rng.choice((rng.choice(_VALUES), rng.choice(_VALUES), rng.choice(places), random_text(rng, 3)))
    option = rng.choice(_OPTIONS)
    if option in _PLACES and not value.startswith(str(workspace.folder)):
        value = str(workspace.folder / "elsewhere")  # nothing may be left in this working directory
    return (option, value) if rng.random() < 0.8 else (f"{option}={value}",)


def bench(rng: Random, workspace: Workspace, *rest: str, index: Path | None = None) -> list[str]:
    """A valid `bench`, which starts no further process."""
    places = ["--vault", str(workspace.vault), "--index", str(index or workspace.steady)]
    form = rng.choice(("text", "json", "markdown"))
    out = ["--out", str(workspace.folder / rng.choice(("r.json", "r.md", "r.html", "report")))] if rng.random() < 0.4 else []
    gate = ["--fail-under", rng.choice(("0.5", "mrr@10=1", "no_result_accuracy=0.1"))] if rng.random() < 0.2 else []
    return ["bench", *places, *rest, "--cold-samples", "0", "--format", form, "-k", rng.choice(("10", "20", "1000")), *out, *gate]


def retrieve(rng: Random, index: Path, workspace: Workspace) -> list[str]:
    """A valid `retrieve` of a random query."""
    query = random_text(rng, rng.choice((1, 4, 20, 400))).replace("\0", "")
    spec = rng.choice(("keyword", "keyword:k1=0,b=0", "keyword:k1=100,b=1", "keyword:b=0.3"))
    explain = ["--explain"] if rng.random() < 0.5 else []
    places = ["--vault", str(workspace.vault), "--index", str(index)]
    return ["retrieve", *places, "-r", spec, "--top", rng.choice(("1", "10", "1000")), *explain, "--", query]


def index_options(rng: Random) -> list[str]:
    """Options of `index` that are allowed."""
    glob = random_text(rng, 2).replace("\0", "")
    small = ["--chunk-chars", "50", "--chunk-max", "60", "--overlap", "25"]
    return rng.choice(([], small, ["--prefix", "none"], [f"--exclude={glob}"]))
