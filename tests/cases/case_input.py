"""The inputs of the cases, read from the JSON files beside this module and laid out on a disk."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = "claude-obsidian.retrieval-queries.v1"
LABELS = "labels/queries.json"

# Three notes that every vault holds unless the case says "common": false.
COMMON = {
    "Garden/Compost.md": "# Compost heap\n\nTurn the heap every second week and keep it damp.\n",
    "Garden/Pruning.md": "# Pruning roses\n\nCut above an outward bud in late winter.\n",
    "Sea/Tides.md": "# Tides\n\nSpring tides follow the new moon and the full moon.\n",
}


def load_cases() -> dict[str, dict[str, object]]:
    """Every case by its id, in file order."""
    cases: dict[str, dict[str, object]] = {}
    for path in sorted(HERE.glob("*.json")):
        for case in json.loads(path.read_bytes()):
            if case["id"] in cases:
                raise ValueError(f"{path.name}: the id {case['id']} is there twice")
            cases[case["id"]] = case
    return cases


def lay_out(case: dict[str, object], folder: Path) -> None:
    """Make the files of a case below `folder`, in the order given."""
    vault = folder / str(case.get("vault", "vault"))
    if case.get("common", True):
        for page, text in COMMON.items():
            lay_file(vault / page, text)
    vault.mkdir(parents=True, exist_ok=True)
    for path, content in case["files"].items():
        lay_file(folder / path, content)


def lay_file(path: Path, content: object) -> None:
    """Make one file; see README.md for the forms that its content may have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    form = {"text": content} if isinstance(content, str) else content
    if "link" in form:
        path.symlink_to(form["link"])
    elif "folder" in form:
        path.mkdir(exist_ok=True)
    elif "fifo" in form:
        os.mkfifo(path)
    else:
        path.write_bytes(_bytes(form))
    if "mode" in form:
        path.chmod(int(form["mode"], 8))


def _bytes(form: dict[str, object]) -> bytes:
    if "base64" in form:
        return base64.b64decode(form["base64"])
    if "unit" in form:
        return (form["head"] + form["unit"] * form["times"] + form["tail"]).encode()
    if "numbered" in form:
        numbers = range(form["numbered"])
        return label_file([[form["id"].format(n), form["query"].format(n), form["expected_pages"]] for n in numbers]).encode()
    if "queries" in form:
        return label_file(form["queries"]).encode()
    return form["text"].encode("utf-8", "surrogateescape")


def label_file(queries: list[object]) -> str:
    """A JSON label file; a query is an object as it is, or a list of its id, its text and its expected pages."""
    keys = ("id", "query", "expected_pages")
    whole = [query if isinstance(query, dict) else dict(zip(keys, query, strict=True)) for query in queries]
    return json.dumps({"schema": SCHEMA, "queries": whole}, ensure_ascii=False, indent=1) + "\n"
