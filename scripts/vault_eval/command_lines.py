"""The command lines of our own commands, as a person types them and as a process is started."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from vault_eval.index.options import IndexOptions

_SCRIPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "vault-eval.py")


def command_line(*words: str, index: str | None = None, data: str | None = None) -> str:
    """The line that runs a command of ours, its words quoted for a shell; `index` and `data` where they are not the default."""
    return shlex.join(["python3", _SCRIPT, *words, *_places(index, data)])


def build_command(vault: str, options: IndexOptions, *, index: str | None, data: str | None, vectors: str | None = None) -> str:
    """The line that builds this vault's index with these options; `index` and `data` where they are not the default.

    `vectors` is the model whose vectors it makes as well.
    """
    words = ["python3", _SCRIPT, "index", "--vault", vault, *_places(index, data), *options.as_arguments()]
    return " ".join(map(shlex.quote, [*words, "--vectors", vectors] if vectors else words))


def vary_command(vault: str, queries: Sequence[str], changes: Sequence[str], *, data: str | None) -> str:
    """The line that builds the indexes of such changes beside the standing one, and measures them."""
    named = [word for source in queries for word in ("--queries", source)]
    asked = [word for change in changes for word in ("--vary", change)]
    words = ["python3", _SCRIPT, "bench", "--vault", vault, *_places(None, data), *named, *asked]
    return " ".join(map(shlex.quote, words))


def fresh_command(vault: str, *, index: str | None, data: str | None) -> str:
    """The line that says whether a vault's index is fresh; `index` and `data` where they are not the default."""
    return command_line("index", "--check", "--vault", vault, index=index, data=data)


def advice_to_build(problem: str, command: str) -> str:
    """What is wrong with an index, and the one line that mends it, last."""
    return f"{problem}\nBuild it with this command; it reads the vault and writes outside it:\n  {command}"


def retrieve_command(
    vault: str, spec: str, depth: int, *, index: str | None, data: str | None, no_rerank: bool = False
) -> Sequence[str]:
    """The argument list that answers one query, which is to be added after `--`."""
    words = [sys.executable, "-I", _SCRIPT, "retrieve", "--vault", vault, *_places(index, data), "-r", spec, "--top", str(depth)]
    return [*words, "--no-rerank"] if no_rerank else words


def _places(index: str | None, data: str | None) -> list[str]:
    return [*(["--index", index] if index else []), *(["--data", data] if data else [])]
