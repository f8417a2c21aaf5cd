from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace

import pytest
from real_client import VERSION, call_agent, command_line, field, model, quoted, run_line
from stub_api import tool

# Blanks, both quotes, a variable, a command substitution twice over, and an emoji.
HOSTILE = """My "best" $HOME 'notes' $(touch made) `touch made` it's 🌊 & co; touch made"""


def measuring(desk):
    return run_line("evaluate-retrieval.py", VAULT=str(desk.vault))


def building(desk):
    return run_line("vault-eval.py", "index", VAULT=str(desk.vault))


def test_the_client_is_the_one_that_was_tried(desk):
    turn = desk.client.ask("hello", model(), folder=desk.vault)
    init = next(event for event in turn.events if event.get("subtype") == "init")
    assert init["claude_code_version"] == VERSION
    assert {"vault-eval:evaluate", "vault-eval:explain", "vault-eval:compare", "vault-eval:label"} <= set(init["slash_commands"])
    assert {"vault-eval:miss-analyst", "vault-eval:relevance-judge", "vault-eval:report-auditor"} <= set(init["agents"])


def test_it_measures_the_vault_around_it_with_the_labels_beside_it(desk):
    desk.index()
    before = desk.files()

    def nearest(request):
        vault = field(request, "Vaults at or above this folder, nearest first: ")
        return tool("Bash", command=command_line(request, "evaluate-retrieval.py", VAULT=vault), description="measure")

    turn = desk.client.ask("/vault-eval:evaluate", model(nearest), folder=desk.vault / "Machines")
    assert turn.denied == []
    assert len(turn.calls) == 2
    shown = turn.results[0].text
    # Nothing is stale here: recall@5 is (9 + 1/2 + 1) / 12 = 21/24, MRR@10 is (8 + 1/2 + 1/2 + 1) / 12 = 10/12.
    assert shown.startswith("vault-eval · Harbour · ")
    assert "  recall@5                  0.875   0.598 – 0.971   12\n" in shown
    assert "  MRR@10                    0.833   0.552 – 0.953   12\n" in shown
    assert shown.rstrip().endswith(f"Saved: {desk.reports[0]}")
    assert desk.files() == before


def test_a_vault_with_a_hostile_name_outside_the_working_folder_is_measured_without_a_prompt(new_desk, tmp_path):
    desk = new_desk(HOSTILE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    prompt = f"/vault-eval:evaluate {quoted(str(desk.vault))} {quoted(str(desk.labels))} build"
    labelled = run_line("evaluate-retrieval.py", VAULT=str(desk.vault), LABELS=str(desk.labels))
    turn = desk.client.ask(prompt, model(building(desk), labelled), folder=elsewhere)
    assert turn.denied == []
    assert [result.is_error for result in turn.results] == [False, False]
    assert "Indexed: 10 notes" in turn.results[0].text
    assert "  recall@5                  0.875" in turn.results[1].text
    assert HOSTILE in field(turn.calls[0], "Arguments as typed: ").replace("'\\''", "'")
    assert list(elsewhere.iterdir()) == []
    assert list(tmp_path.rglob("made")) == []


def test_invalid_labels_end_with_code_2_and_every_problem(desk):
    desk.label({"id": "a", "quer": "x", "expected_pages": None})
    turn = desk.client.ask("/vault-eval:evaluate", model(measuring(desk)), folder=desk.vault)
    result = turn.results[0]
    assert turn.denied == []
    assert result.is_error
    assert result.text.startswith("Exit code 2\n")
    assert "query 'a': unknown key 'quer' (did you mean 'query'?)" in result.text
    assert "query 'a': expected_pages is null" in result.text
    assert desk.indexes == []


def test_without_an_index_it_ends_with_code_10_and_builds_only_after_a_yes(desk):
    desk.label_few()
    asked = desk.client.ask("/vault-eval:evaluate", model(measuring(desk)), folder=desk.vault)
    assert asked.denied == []
    assert asked.results[0].text.startswith("Exit code 10\nvault-eval: there is no index")
    assert desk.indexes == []
    said = desk.client.ask("/vault-eval:evaluate build", model(building(desk), measuring(desk)), folder=desk.vault)
    assert said.denied == []
    assert "Indexed: 10 notes" in said.results[0].text
    assert "Saved: " in said.results[1].text


def test_after_a_bare_yes_the_client_itself_asks_before_the_index_is_built(desk):
    """What the skill allows ends with the turn, so a later command is a question of the client (here nobody answers it)."""
    asked = desk.client.ask("/vault-eval:evaluate", model(measuring(desk)), folder=desk.vault)
    session = asked.result["session_id"]
    said = desk.client.ask("yes", model(building(desk)), "--resume", session, folder=desk.vault)
    assert [command for command in said.denied if " index " in command] == said.denied != []
    assert desk.indexes == []


def test_the_report_can_be_written_where_the_person_wants_it(desk, tmp_path):
    desk.label_few()
    desk.index()
    out = tmp_path / "my report"

    def written(request):
        line = command_line(request, "evaluate-retrieval.py", VAULT=str(desk.vault))
        return tool("Bash", command=f"{line} --out {quoted(str(out))}", description="measure")

    turn = desk.client.ask("/vault-eval:evaluate", model(written), folder=desk.vault)
    assert turn.denied == []
    assert {path.name for path in out.iterdir()} == {"pages.json", "report.html", "report.json", "report.md"}
    assert desk.reports == []


def test_the_longest_output_is_shown_whole(desk):
    """Over 30,000 characters the client would show the model a preview of two kilobytes."""
    for number in range(40):
        (desk.vault / f"{'A long name of a note ' * 8}{number}.md").write_text("# Tide\n\ntide\n", encoding="utf-8")
    desk.label(
        *(
            {
                "id": f"{'long-' * 20}{number}",
                "query": f"{'words nobody wrote ' * 300}{number}",
                "category": f"{'kind ' * 10}{number}",
            }
            | {"expected_pages": [f"{'A long name of a note ' * 8}{(number + step) % 44}.md" for step in range(3)]}
            for number in range(60)
        )
    )
    desk.index()
    turn = desk.client.ask("/vault-eval:evaluate", model(measuring(desk)), folder=desk.vault)
    shown = turn.results[0].text
    assert shown.startswith("vault-eval · Harbour")
    assert "Saved: " in shown.splitlines()[-1]
    assert 10_000 < len(shown) < 30_000
    desk.label(*({"id": "same", "query": "x" * 300, "wrong": number} for number in range(900)))
    refused = desk.client.ask("/vault-eval:evaluate", model(measuring(desk)), folder=desk.vault)
    assert refused.results[0].text.startswith("Exit code 2\nvault-eval: ")
    assert len(refused.results[0].text) < 30_000


def test_what_the_skill_does_not_name_is_denied(desk, tmp_path):
    desk.index()
    before = desk.files()

    def command(end, start=""):
        return lambda request: tool(
            "Bash", command=start + command_line(request, "evaluate-retrieval.py", VAULT=str(desk.vault)) + end, description="x"
        )

    def retrieving(request):
        line = command_line(request, "vault-eval.py", "index", VAULT=str(desk.vault))
        return tool("Bash", command=line.replace(" index ", " retrieve ") + " tide", description="x")

    outside = tmp_path / "outside.md"
    outside.write_text("of nobody's business", encoding="utf-8")
    steps = [
        tool("Bash", command="touch made", description="x"),
        tool("Bash", command='python3 -c \'open("made", "w")\'', description="x"),
        command(" > made"),
        command(" ; touch made"),
        command("", start="A=1 "),
        retrieving,
        tool("Write", file_path=str(desk.vault / "made.md"), content="x"),
        tool("Edit", file_path=str(desk.vault / "Berth depths.md"), old_string="4.1 m", new_string="9 m"),
        tool("Read", file_path=str(outside)),
        tool("Bash", command=f"cat {quoted(str(outside))}", description="x"),
    ]
    turn = desk.client.ask("/vault-eval:evaluate", model(*steps), folder=desk.vault)
    assert len(turn.results) == len(steps)
    assert all(result.is_error for result in turn.results)
    assert not any("nobody's business" in result.text for result in turn.results)
    assert desk.files() == before
    assert desk.reports == []


def test_claude_starts_the_skill_by_itself_only_when_the_person_agrees(measured):
    desk, _ = measured
    turn = desk.client.ask(
        "how good is search on my vault?", model(tool("Skill", skill="vault-eval:evaluate")), folder=desk.vault
    )
    assert [one["tool_name"] for one in turn.result["permission_denials"]] == ["Skill"]
    assert "Measure search on one vault" not in turn.calls[-1].user_text


def test_the_auditor_reads_the_saved_report_without_a_prompt_and_nothing_beside_it(measured):
    desk, folder = measured
    dispatch = call_agent("report-auditor", f"REPORT: {folder}/report.json\nSUMMARY: recall@5 is 0.875 (n = 12).")
    steps = [
        tool("Grep", pattern='"recall@5"', path=str(folder / "report.json"), output_mode="content"),
        tool("Read", file_path=str(folder / "report.json"), limit=20),
        tool("Read", file_path=str(folder / "pages.json")),
    ]
    turn = desk.client.ask("/vault-eval:evaluate", model(dispatch, agent=steps), folder=desk.vault)
    assert {tuple(call.tools) for call in turn.agent} == {("Read", "Grep", "Glob")}
    assert "Your default is to strike" in turn.agent[0].system
    found = turn.agent[-1].results
    assert [result.is_error for result in found] == [False, False, True]
    assert '"value": 0.875, "n": 12' in found[0].text
    assert turn.denied == [f"Read {folder}/pages.json"]
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["schema"] == "vault-eval.report.v1"


def test_without_python_the_skill_still_starts_and_says_what_is_missing(desk, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "realpath"):
        (programs / name).symlink_to(shutil.which(name))
    client = replace(desk.client, path=(str(programs),))
    turn = client.ask("/vault-eval:evaluate", model(), folder=desk.vault)
    assert len(turn.calls) == 1
    assert "python3: command not found" in field(turn.calls[0], "What is installed: ")


def old_python() -> str | None:
    """A Python older than 3.10; a version manager's command is asked for the program behind it."""
    for version in ("3.8", "3.9"):
        found = shutil.which(f"python{version}")
        asked = [found or "false", "-c", "import sys; print(sys.executable)"]
        done = subprocess.run(asked, env=os.environ | {"PYENV_VERSION": version}, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    return None


def test_with_an_old_python_the_skill_still_starts_and_says_which_is_needed(desk, tmp_path):
    old = old_python()
    if old is None:
        pytest.skip("there is no Python older than 3.10 here")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "python3").symlink_to(old)
    client = replace(desk.client, path=(str(tmp_path / "old"), *desk.client.path))
    turn = client.ask("/vault-eval:evaluate", model(measuring(desk)), folder=desk.vault)
    assert field(turn.calls[0], "What is installed: ").startswith("vault-eval needs Python 3.10 or newer; this is 3.")
    assert turn.results[0].text.startswith("Exit code 2\nvault-eval needs Python 3.10 or newer; this is 3.")
