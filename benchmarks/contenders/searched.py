"""What every contender is given: an index of ours, opened as an evaluation opens it, and the queries, cut into terms."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from vault_eval.index.seal import open_index
from vault_eval.index.store import IndexFile
from vault_eval.index.terms import Analyzer
from vault_eval.vault.location import vault_id, vault_root

# What an evaluation asks the index for at depth 10.
DEPTH_PAGES = 10
POOL_CHUNKS = 25


@dataclass(frozen=True, slots=True)
class Label:
    """One labelled query and its terms."""

    id: str
    query: str
    gold: tuple[str, ...]
    category: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """The places and what is in them; `mode` is the word that the command line begins with, where it takes any."""

    mode: tuple[str, ...]
    vault: Path
    folder: Path
    index: IndexFile
    labels: Sequence[Label]


def given(doc: str | None, *modes: Sequence[str], verify: bool = True) -> Given:
    """What the command line names; with `verify` all bytes of the index are held against its seal."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for place, choices in enumerate(modes):
        parser.add_argument(f"mode{place}", choices=choices)
    parser.add_argument("--vault", metavar="DIR", required=True)
    parser.add_argument("--index", metavar="DIR", required=True)
    parser.add_argument("--queries", metavar="FILE", type=Path, required=True)
    parser.add_argument("--folder", metavar="DIR", type=Path, required=True, help="where reports and other indexes lie")
    options = parser.parse_args()
    root = vault_root(options.vault)
    index, _ = open_index(options.index, vault_id(root), verify=verify)
    cut = Analyzer().terms
    rows = json.loads(options.queries.read_text(encoding="utf-8"))["queries"]
    labels = [
        Label(row["id"], row["query"], tuple(row["expected_pages"]), row["category"], tuple(cut(row["query"]))) for row in rows
    ]
    words = tuple(getattr(options, f"mode{place}") for place in range(len(modes)))
    return Given(words, Path(root), options.folder, index, labels)
