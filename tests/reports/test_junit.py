"""Gates for CI: JUnit XML, a step summary, and the example workflow."""

from __future__ import annotations

import re
import shlex
import stat
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from vault_eval.comparison.compare import compare
from vault_eval.comparison.gates import GateResult, exit_code
from vault_eval.errors import UnsafePathError, UsageError, VaultEvalError
from vault_eval.limits import STEP_SUMMARY_MAX_BYTES
from vault_eval.reports.compared import sides
from vault_eval.reports.junit import junit
from vault_eval.reports.step_summary import append_summary, step_summary

STARTED = "2026-03-01T09:30:00Z"
RESULTS = (
    GateResult("passed", "gate recall@5 >= 0.8 (keyword)", "0.9 with n = 30"),
    GateResult("failed", "gate mrr@10 >= 0.6 (keyword)", "0.5 with n = 30"),
    GateResult("undecided", "gate hit@1 >= 0.5 (title)", "no data (n = 0, no data)"),
)
EVIL = "a\"b'c</testcase><failure/>&amp;]]>\x1b[2J\n\ud83d\ufffe\u202e"
WORKFLOW = Path(__file__).resolve().parents[2] / "examples/vault-ci.yml"


def parsed(text):
    return ET.fromstring(text.encode("utf-8"))  # noqa: S314 - our own text


def test_a_test_case_is_a_gate_and_failures_and_undecided_are_told_apart():
    suites = parsed(junit(RESULTS, STARTED))
    suite = suites.find("testsuite")
    for one in (suites, suite):
        assert [one.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "1", "0"]
    assert suite.get("timestamp") == "2026-03-01T09:30:00"
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [result.gate for result in RESULTS]
    assert [[(child.tag, child.get("type")) for child in case] for case in cases] == [
        [],
        [("failure", "failed")],
        [("error", "undecided")],
    ]
    assert cases[1][0].get("message") == "0.5 with n = 30"
    assert cases[1][0].text == "gate mrr@10 >= 0.6 (keyword): failed, 0.5 with n = 30"


@pytest.mark.parametrize("outcome", ["failed", "undecided"])
def test_what_does_not_end_with_0_is_no_passed_test(outcome):
    results = [GateResult(outcome, "gate", "why")]
    assert exit_code(results) != 0
    suite = parsed(junit(results, STARTED))
    assert int(suite.get("failures")) + int(suite.get("errors")) == 1


def test_without_gates_the_suite_is_empty():
    assert len(parsed(junit([], STARTED)).findall(".//testcase")) == 0


def test_any_name_is_shown_and_none_is_markup():
    suite = parsed(junit([GateResult("failed", EVIL, EVIL)], STARTED))
    (case,) = suite.findall(".//testcase")
    shown = "a\"b'c</testcase><failure/>&amp;]]>\\x1b[2J\\n\\ud83d\\ufffe\\u202e"
    assert (case.get("name"), case[0].get("message")) == (shown, shown)
    assert len(case) == 1


def test_the_summary_has_gates_headline_and_verdict_and_quotes_no_note(make_side):
    before, after = make_side(0), make_side(1)
    compared = compare(sides(before)[0], sides(after))
    text = step_summary(after, RESULTS, compared)
    plain = text.replace("&#64;<wbr>", "@")
    for said in (
        "| ✅ passed | gate recall@5 &#62;= 0.8 (keyword) | 0.9 with n = 30 |",
        "❌ failed",
        "⚠️ undecided",
        "| keyword | 1.000 (",
        f"**keyword against the baseline: {compared[0].verdict.word}**",
        "MRR@10 +0.274",
        "better (5): lock (5 → 1)",
        "worse (2): logbook (1 → 2), charter (2 → 4)",
    ):
        assert said in plain, said
    assert ".md" not in text
    assert "what of the" not in text


def test_the_summary_escapes_what_others_wrote(make_side):
    evil = "<img src=x> | [x](y)\n# z"
    text = step_summary(make_side(0, name=evil, vault_name=evil), [GateResult("failed", evil, evil)])
    assert not re.search(r"<img|\]\(y|^# z", text, re.MULTILINE)
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 2  # two tables


def test_a_summary_is_added_behind_what_is_there_and_keeps_who_may_read_it(tmp_path):
    path = tmp_path / "summary.md"
    append_summary(str(path), "one\n", "--step-summary")
    path.chmod(0o644)
    append_summary(str(path), "two\n", "--step-summary")
    assert path.read_text(encoding="utf-8") == "one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.write_text("no line end", encoding="utf-8")
    append_summary(str(path), "three\n", "--step-summary")
    assert path.read_text(encoding="utf-8") == "no line end\nthree\n"
    assert [one.name for one in tmp_path.iterdir()] == ["summary.md"]


def test_a_summary_that_cannot_be_added_leaves_what_is_there(tmp_path):
    full = tmp_path / "full.md"
    full.write_bytes(b"x" * (STEP_SUMMARY_MAX_BYTES - 3))
    (tmp_path / "link.md").symlink_to(full)
    with pytest.raises(UsageError, match="larger than"):
        append_summary(str(full), "four\n", "--step-summary")
    assert full.stat().st_size == STEP_SUMMARY_MAX_BYTES - 3
    for place in (tmp_path / "link.md", tmp_path):
        with pytest.raises(UnsafePathError, match="--step-summary"):
            append_summary(str(place), "x", "--step-summary")
    with pytest.raises(VaultEvalError):
        append_summary(str(tmp_path / "missing/summary.md"), "x", "--step-summary")


def workflow_steps():
    (job,) = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values()
    return job["steps"]


def test_the_example_workflow_may_only_read_and_needs_no_secret():
    text = WORKFLOW.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    assert "pull_request_target" not in text
    assert all(step["with"]["persist-credentials"] is False for step in workflow_steps() if "checkout" in step.get("uses", ""))


def test_every_action_of_the_example_is_pinned_to_a_commit():
    used = [step["uses"] for step in workflow_steps() if "uses" in step]
    assert len(used) == 4
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", one) for one in used), used


def test_nothing_of_an_event_is_pasted_into_a_command_of_the_example():
    """An expression in `run` is text of whoever opened the pull request."""
    assert not [step["run"] for step in workflow_steps() if "${{" in step.get("run", "")]


def test_every_command_of_the_example_is_one_that_the_program_takes(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["vault-eval.py"])
    seen = []
    for step in workflow_steps():
        if "run" not in step:
            continue
        python, script, *words = shlex.split(step["run"])
        assert python == "python3"
        name, arguments = ("bench", words) if script.endswith("/evaluate-retrieval.py") else (words[0], words[1:])
        import_module(f"vault_eval.cli.{name}").parser().parse_args(arguments)
        seen.append(name)
    assert seen == ["index", "bench"]
