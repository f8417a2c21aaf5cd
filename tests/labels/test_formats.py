"""Every file in `cases` is one case: NAME.json, .jsonl or .md, beside NAME.expected.json or NAME.error.txt.

A note lies at `Eval/NAME.md` of a vault whose pages `cases/pages.txt` lists. Adding a case needs no Python: write the
input, run once with UPDATE_LABEL_CASES=1, and read what was written. Cases named `pdf_…` have a reader of PDFs, others none.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path

import pytest

from vault_eval import launcher
from vault_eval.errors import LabelError
from vault_eval.labels.formats import label_formats
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.model import Label
from vault_eval.vault.targets import target_text

CASES = Path(__file__).parent / "cases"
INPUTS = sorted(
    path for path in CASES.iterdir() if path.suffix in {".json", ".jsonl", ".md"} and not path.name.endswith(".expected.json")
)


def shown(label: Label) -> dict[str, object]:
    fields = {field.name: getattr(label, field.name) for field in dataclasses.fields(label) if field.name != "source"}
    fields["gold"] = [target_text(target) for target in label.gold]
    return {name: value for name, value in fields.items() if value or name == "gold"}


def outcome(path: Path) -> tuple[str, str]:
    pages = (CASES / "pages.txt").read_text(encoding="utf-8").splitlines()
    inside = f"Eval/{path.name}" if path.suffix == ".md" else None
    try:
        labels = load_labels([LabelDocument(path.name, path.read_bytes(), inside, lambda: pages)])
    except LabelError as error:
        return ".error.txt", f"{error}\n".replace(launcher.install_command(["pdf"]), "THE-LINE-THAT-INSTALLS-IT")
    expected = {
        "format": labels.sources[0].format,
        "labels": [shown(each) for each in labels.labels],
        "warnings": labels.warnings,
    }
    return ".expected.json", json.dumps(expected, ensure_ascii=False, indent=1) + "\n"


@pytest.fixture
def readers_of_pdfs(tmp_path, monkeypatch):
    """`readers_of_pdfs(there)`: whether the package is found, installed or not; it is not imported."""

    def set_up(there: bool) -> None:
        if there:
            (tmp_path / "pypdf.py").touch()
            monkeypatch.syspath_prepend(tmp_path)
        else:
            monkeypatch.setitem(sys.modules, "pypdf", None)

    return set_up


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_label_file_is_read_or_refused_as_its_case_says(path, readers_of_pdfs):
    readers_of_pdfs(path.stem.startswith("pdf_"))
    suffix, text = outcome(path)
    if os.environ.get("UPDATE_LABEL_CASES"):
        (CASES / (path.stem + suffix)).write_text(text, encoding="utf-8")
    assert text == (CASES / (path.stem + suffix)).read_text(encoding="utf-8")


def test_every_case_has_exactly_one_outcome():
    outcomes = {path.name.split(".")[0] for path in CASES.iterdir() if path.name.endswith((".expected.json", ".error.txt"))}
    assert {path.stem for path in INPUTS} == outcomes
    assert len(INPUTS) == len(list(CASES.glob("*.expected.json"))) + len(list(CASES.glob("*.error.txt")))


def test_every_format_has_a_case_that_is_read():
    read = {json.loads(path.read_text(encoding="utf-8"))["format"] for path in CASES.glob("*.expected.json")}
    assert read == {"claude-obsidian.retrieval-queries.v1", "vault-eval.labels.v1", "schema_version 1", "jsonl", "note"}
    assert [each.NAME for each in label_formats()] == ["schema_version 1", "jsonl", "native", "note"]
