"""The quick form of `make faults`: a twentieth of the faults, at least one of each kind, and nothing lost."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "benchmarks"))

from fault_injection import damage  # noqa: E402 - after its folder is on the path
from fault_injection.workspace import Answer, Row, table  # noqa: E402 - as above

KINDS = ("SIGKILL", "SIGTERM", "SIGINT", "flipped in the index file", "flipped in the seal", "flipped in the states", "cut short")
KINDS += (
    "swapped with another valid index",
    "disk full",
    "swapped for a link",
    "replaced by another text",
    "grows",
    "is deleted",
)
KINDS += ("labels rewritten", "exchanged for another valid one", "rebuilt with other options")


@pytest.mark.skipif(sys.platform != "linux", reason="signals, resource limits and mounts as Linux has them")
def test_nothing_is_lost_whatever_is_stopped_damaged_or_changed():
    command = [sys.executable, str(ROOT / "benchmarks" / "faults.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [kind for kind in KINDS if kind not in done.stdout] == []
    injected = re.search(r"^([\d,]+) faults injected, nothing lost", done.stdout, re.MULTILINE)
    assert injected is not None
    assert int(injected[1].replace(",", "")) > 300


def test_the_table_shows_what_was_lost():
    row = Row("a bit flipped")
    row.took("exit 10")
    row.lose("byte 7: exit 0 with other figures")
    assert table([row]).splitlines() == [
        "fault          injected  lost  what came of it",
        "a bit flipped         2     1  1 exit 10",
        "LOST a bit flipped: byte 7: exit 0 with other figures",
    ]


@pytest.mark.parametrize("wrong", [Answer(0, "{other figures}", ""), Answer(70, "", "IndexError: 7"), Answer(2, "", "it is so")])
def test_a_damaged_index_that_was_believed_would_be_noticed(tmp_path, monkeypatch, wrong):
    """The benchmark must be able to fail: here only the whole index gives the right answer, and all damage another one."""
    monkeypatch.setattr(damage, "evaluate", lambda *_: wrong)
    rows = damage.damage(tmp_path / "damage", 0.01, 1)
    damaged = [row for row in rows if not re.search("swapped|retrieve|title", row.name)]
    assert all(row.lost and len(row.lost) == row.outcomes.total() for row in damaged)
