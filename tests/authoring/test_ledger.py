from __future__ import annotations

import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from vault_eval.authoring.ledger import Look, looks, record_look, worn_sentence
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.limits import HOLDOUT_LOOKS_MAX

NOON = datetime(2026, 11, 30, 13, 0, tzinfo=timezone(timedelta(hours=1)))


@pytest.fixture
def data(tmp_path):
    return DataFolder(str(tmp_path / "data"))


def test_looks_are_kept_in_order_and_in_utc(data):
    record_look(data, "v", "aa", ["keyword"], "final figure", NOON)
    record_look(data, "v", "bb", ["keyword", "hybrid"], "line\nbreak", NOON)
    first = Look("2026-11-30T12:00:00Z", "aa", ("keyword",), "final figure")
    second = Look("2026-11-30T12:00:00Z", "bb", ("keyword", "hybrid"), "line\nbreak")
    assert looks(data, "v") == (first, second)
    assert looks(data, "v", "bb") == (second,)
    assert looks(data, "other") == ()


def test_ledger_is_private_and_only_grows(data):
    record_look(data, "v", "aa", ["keyword"], "", NOON)
    before = Path(data.holdout_ledger("v")).read_bytes()
    record_look(data, "v", "aa", ["keyword"], "", NOON)
    ledger = Path(data.holdout_ledger("v"))
    assert ledger.read_bytes().startswith(before)
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600


def test_a_line_that_was_cut_off_is_named_and_swallows_no_other(data):
    record_look(data, "v", "aa", ["keyword"], "", NOON)
    with Path(data.holdout_ledger("v")).open("ab") as file:
        file.write(b'{"when": "2026')
    record_look(data, "v", "bb", ["keyword"], "", NOON)
    with pytest.raises(UsageError, match=r"line 2: not JSON.*mend or remove the line"):
        looks(data, "v")
    assert len(Path(data.holdout_ledger("v")).read_bytes().splitlines()) == 3


@pytest.mark.parametrize("line", ["[]", '{"when": 1}', '{"when": "x", "labels_sha256": "y", "why": "z", "configurations": [1]}'])
def test_a_line_that_is_no_look_is_named(data, line):
    record_look(data, "v", "aa", ["keyword"], "", NOON)
    with Path(data.holdout_ledger("v")).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(UsageError, match="line 2 is no look at a holdout"):
        looks(data, "v")


def test_a_holdout_is_worn_after_so_many_looks():
    look = Look("2026-11-30T12:00:00Z", "aa", ("keyword", "hybrid"), "")
    assert worn_sentence([]) == "Nobody has looked at the holdout yet."
    assert worn_sentence([look]) == "The holdout was looked at once, last on 2026-11-30 with keyword, hybrid."
    assert "worn" not in worn_sentence([look] * HOLDOUT_LOOKS_MAX)
    assert worn_sentence([look] * (HOLDOUT_LOOKS_MAX + 1)).startswith("The holdout is worn: it was looked at 6 times")
