"""`cases/FORMAT/FILE` is read as `FILE.expected.json` says, or refused as `FILE.error.txt` says; a BEIR set is a folder.

The expected labels are those after all label rules, with a vault of the pages that they name. Adding a case needs no
Python: write the input, run once with UPDATE_INTEROP_CASES=1, and read what was written.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from vault_eval.errors import LabelError
from vault_eval.interop import READS_LABELS, formats
from vault_eval.interop.conversion import labels_of, with_texts
from vault_eval.labels.problems import Place, Problems
from vault_eval.labels.wikilinks import LinkResolver, PageNames
from vault_eval.labels.write import native_value

CASES = Path(__file__).parent / "cases"
PAGES = ["Garden/Hose.md", "Garden/Water butt.md", "Inbox.md", "Sea/Tides.md", 'A "quoted" name.md', "Archive/100% wet.md"]
OUTCOMES = (".expected.json", ".error.txt")
INPUTS = sorted(path for path in CASES.glob("*/*") if path.name != "written" and not path.name.endswith(OUTCOMES))


def read(path, problems):
    form, place = formats(READS_LABELS)[path.parent.name], Place(problems, path.name)
    if path.is_dir():
        files = {str(one.relative_to(path)): one for one in path.rglob("*") if one.is_file()}
        topics = form.read_folder({name: one.read_text(encoding="utf-8") for name, one in files.items()}, place)
    else:
        topics = form.read_labels(path.read_bytes().decode(), place)
    texts = {topic.id: topic.query or f"text of {topic.id}" for topic in topics}
    problems.raise_if_any()
    return labels_of(with_texts(topics, texts, place), place, LinkResolver(PageNames(lambda: PAGES), "").target)


def outcome(path):
    problems = Problems()
    try:
        labels = read(path, problems)
        problems.raise_if_any()
    except LabelError as error:
        return ".error.txt", f"{error}\n"
    queries = {**native_value(labels), "warnings": problems.warnings}
    return ".expected.json", json.dumps(queries, ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_file_of_another_tool_is_read_or_refused_as_its_case_says(path):
    suffix, text = outcome(path)
    if os.environ.get("UPDATE_INTEROP_CASES"):
        path.with_name(path.name + suffix).write_text(text, encoding="utf-8")
    assert text == path.with_name(path.name + suffix).read_text(encoding="utf-8")


def test_every_format_has_a_case_that_is_read_and_one_that_is_refused():
    by_suffix = [{path.parent.name for path in CASES.glob(f"*/*{suffix}")} for suffix in OUTCOMES]
    assert by_suffix == [set(formats(READS_LABELS))] * 2
    assert len(INPUTS) == sum(len(list(CASES.glob(f"*/*{suffix}"))) for suffix in OUTCOMES)
