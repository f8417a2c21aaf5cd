"""`written/FORMAT/` holds what each format makes of one label set that uses every part, and `left_out.txt` what it loses.

UPDATE_INTEROP_CASES=1 writes them anew; read what was written.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault_eval.interop import WRITES_LABELS, WRITES_RUNS, formats
from vault_eval.interop.records import ForeignRun, Judgment, Topic
from vault_eval.model import RankedPage

FOLDER = Path(__file__).parent / "written"
TOPICS = (
    Topic(
        "leak",
        "where does the water come from",
        (Judgment("Garden/Water butt.md", 2), Judgment("Garden/Hose.md#Taps and joints"), Judgment("Inbox.md", 0)),
        category="plain",
        tags=("garden", "winter"),
        split="dev",
        note="the butt feeds the hose",
        collection="home",
    ),
    Topic(
        "high water",
        'when is 100% high water, "roughly"?',
        (Judgment("Sea/Tides #2.md"), Judgment("Sea/Tides #2.md#^springs", 2)),
        split="holdout",
    ),
    Topic("nothing", "helicopter landing", (Judgment("Inbox.md", 0),), category="absent", origin="chat"),
    Topic("#later", "unsure", (Judgment("Inbox.md"),), skip_reason="nobody knows"),
    Topic(
        "paper",
        "tidal constants",
        (Judgment("Sea/Harmonics.pdf#page=4"), Judgment("Sea/Harmonics.pdf#page=9"), Judgment("Sea/Tides #2.md")),
    ),
)
RUN = ForeignRun(
    "keyword:k1=1.2",
    {
        "leak": (RankedPage(1, "Garden/Water butt.md", 7.25), RankedPage(2, "Inbox.md", 3.5)),
        "high water": (RankedPage(1, "Sea/Tides #2.md", 2.0), RankedPage(2, "Inbox.md", 2.0), RankedPage(3, "Sea/100%.md", 1.0)),
        "nothing": (),
        "#later": (RankedPage(1, "Inbox.md", None),),
    },
)


def check(folder, written):
    files = {**written.files, "left_out.txt": "".join(f"{sentence}\n" for sentence in written.left_out)}
    for name, text in files.items():
        if os.environ.get("UPDATE_INTEROP_CASES"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        assert text == (folder / name).read_text(encoding="utf-8"), name
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(files)


@pytest.mark.parametrize("name", formats(WRITES_LABELS))
def test_labels_are_written_as_the_golden_files_say(name):
    check(FOLDER / name, formats(WRITES_LABELS)[name].write_labels(TOPICS))


@pytest.mark.parametrize("name", formats(WRITES_RUNS))
def test_run_is_written_as_the_golden_files_say(name):
    check(FOLDER / f"{name}-run", formats(WRITES_RUNS)[name].write_run(RUN))
