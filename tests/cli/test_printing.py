"""What commands print stays within what an agent is shown, and a cut is said."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

from vault_eval import strict_json
from vault_eval.cli import main
from vault_eval.cli.printing import print_list
from vault_eval.errors import UsageError
from vault_eval.evaluation import clock
from vault_eval.fixture_mode import run_fixture
from vault_eval.limits import TERMINAL_TEXT_MAX_CHARACTERS
from vault_eval.reports.json_report import report_text
from vault_eval.request import Request


def test_a_long_list_is_cut_and_the_rest_is_counted(capsys):
    print_list((f"  note {number}: {'x' * 100}" for number in range(1_000)), "--format json lists all")
    lines = capsys.readouterr().out.splitlines()
    assert sum(map(len, lines)) < TERMINAL_TEXT_MAX_CHARACTERS
    assert lines[-1] == f"  … and {1_000 - (len(lines) - 1)} more; --format json lists all"


def test_a_short_list_is_printed_whole(capsys):
    print_list(["a", "b"], "nowhere")
    assert capsys.readouterr().out == "a\nb\n"


def test_index_of_many_unreadable_notes_prints_less_than_an_agent_is_shown(tmp_path, capsys):
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(300):
        (vault / f"{'long name ' * 15}{number}.md").write_bytes(b"\xff\xfe broken")
    code = main(["index", "--vault", str(vault), "--index", str(tmp_path / "i"), "--data", str(tmp_path / "d")], script="x")
    printed = capsys.readouterr().out
    assert code == 0
    assert "300 skipped" in printed
    assert len(printed) < TERMINAL_TEXT_MAX_CHARACTERS


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    report, *_ = run_fixture(Request(vault="", cold_samples=0, depth=20), clock())
    path = tmp_path_factory.mktemp("saved") / "report.json"
    path.write_bytes(strict_json.encode(report_text(report)))
    return path


def test_one_miss_is_printed_with_its_diagnosis_and_what_its_cause_means(saved, capsys):
    assert main(["report", str(saved), "--miss", "lifting-freight", "--format", "json"], script="x") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["row"]["diagnosis"][0]["cause"] == "vocabulary_mismatch"
    assert printed["causes"]["vocabulary_mismatch"]["meaning"] == "no query word stands on the gold page"
    whole = json.loads(saved.read_text(encoding="utf-8"))["runs"][0]["queries"]
    assert printed["row"]["ranks"] == next(row["ranks"] for row in whole if row["id"] == "lifting-freight")


def test_an_unknown_miss_names_those_there_are(saved, capsys):
    assert main(["report", str(saved), "--miss", "nothing"], script="x") == UsageError.exit_code
    assert "lifting-freight" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_saved_report_is_rendered_again(saved, form, capsys):
    assert main(["report", str(saved), "--format", form], script="x") == 0
    assert "lifting heavy freight" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["html", "trec", "ranx"])
def test_a_file_for_programs_is_utf_8_whatever_the_console_can_show(saved, tmp_path, form, capsys, monkeypatch):
    """A path with its letters escaped would be that of another page."""
    party = tmp_path / "report.json"
    party.write_bytes(saved.read_bytes().replace(b"Machines/", "Fête 🎉/".encode()))
    assert main(["report", str(party), "--format", form], script="x") == 0
    page = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    assert main(["report", str(party), "--format", form], script="x") == 0
    printed = sys.stdout.buffer.getvalue()
    monkeypatch.undo()
    assert (printed.decode("utf-8"), "🎉" in page or "%F0%9F%8E%89" in page) == (page, True)


def test_a_message_never_hands_a_control_character_to_the_terminal(saved, tmp_path, capsys):
    whole = json.loads(saved.read_text(encoding="utf-8"))
    whole["runs"][0]["groups"]["category"]["\x1b[31mred\x9b"] = {"recall@1": {"value": "x"}}
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps(whole), encoding="utf-8")
    assert main(["report", str(damaged)], script="x") == UsageError.exit_code
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", capsys.readouterr().err)
