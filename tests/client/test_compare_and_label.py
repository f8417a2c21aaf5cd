from __future__ import annotations

from real_client import ROOT, call_agent, model, run_line
from stub_api import text, tool


def test_two_reports_are_compared_without_a_prompt(desk):
    desk.label_few()
    before = desk.measure()
    desk.vault.joinpath("Machines/Derrick.md").write_text("# Derrick\n\nFor lifting heavy freight.\n", encoding="utf-8")
    after = desk.measure()
    step = run_line("compare", BEFORE=str(before), AFTER=str(after))
    turn = desk.client.ask(f"/vault-eval:compare {before} {after}", model(step), folder=desk.vault)
    assert before != after
    assert turn.denied == []
    (result,) = turn.results
    assert not result.is_error
    for said in (
        "confounded: 1 page changed: Machines/Derrick.md",
        "Verdict: too few queries to tell",
        "Better (1)\n  freight: ",
    ):
        assert said in result.text, said


def test_reports_of_other_labels_end_with_code_2_and_no_figure(desk):
    desk.label_few()
    before = desk.measure()
    desk.label({"id": "depth", "query": "how deep is berth 3", "expected_pages": ["Berth depths.md"]})
    step = run_line("compare", BEFORE=str(before), AFTER=str(desk.measure()))
    turn = desk.client.ask("/vault-eval:compare a b", model(step), folder=desk.vault)
    assert turn.denied == []
    assert turn.results[0].text.startswith("Exit code 2\nvault-eval: not comparable")
    assert "MRR" not in turn.results[0].text


def test_a_report_that_is_none_ends_with_code_2(desk, tmp_path):
    other = tmp_path / "report.json"
    other.write_text("{}", encoding="utf-8")
    step = run_line("compare", BEFORE=str(other), AFTER=str(other))
    turn = desk.client.ask("/vault-eval:compare a b", model(step), folder=desk.vault)
    assert turn.denied == []
    assert turn.results[0].text.startswith("Exit code 2\nvault-eval: ")


def test_labels_are_checked_before_the_index_is_missed(desk):
    """What the label skill says of code 10: the labels are valid in form."""
    check = run_line("evaluate-retrieval.py", VAULT=str(desk.vault), LABELS=str(desk.labels))
    desk.label({"id": "a", "query": "x", "expected_pages": [".."]})
    turn = desk.client.ask("/vault-eval:label", model(check), folder=desk.vault)
    assert turn.results[0].text.startswith("Exit code 2\n")
    desk.label({"id": "a", "query": "x", "expected_pages": ["Berth depths.md"]})
    turn = desk.client.ask("/vault-eval:label", model(check), folder=desk.vault)
    assert turn.results[0].text.startswith("Exit code 10\n")
    assert turn.denied == []


def test_the_example_of_the_label_form_is_valid_and_its_check_names_the_missing_notes(desk):
    form = (ROOT / "skills/label/references/label-form.md").read_text(encoding="utf-8")
    desk.labels.write_text(form.partition("```json\n")[2].partition("```")[0], encoding="utf-8")
    desk.index()
    check = run_line("evaluate-retrieval.py", VAULT=str(desk.vault), LABELS=str(desk.labels))
    turn = desk.client.ask("/vault-eval:label", model(check), folder=desk.vault)
    assert turn.denied == []
    assert not turn.results[0].is_error
    assert "boat-winter: Boat/Lay-up.md" in turn.results[0].text


def test_the_label_file_is_written_only_when_the_client_has_asked(desk):
    before = desk.files()
    write = tool("Write", file_path=str(desk.vault.parent / "New.queries.json"), content="{}")
    turn = desk.client.ask("/vault-eval:label", model(write), folder=desk.vault)
    assert turn.denied == [f"Write {desk.vault.parent}/New.queries.json"]
    assert desk.files() == before


def test_the_judge_gets_three_tools_and_its_own_prompt(desk):
    notes = "Berth depths.md\nHarbour rules.md"
    prompt = f"VAULT: {desk.vault}\nQUERY: how deep is berth 3\nNEED: my keel is 3.5 m\nNOTES:\n{notes}"
    dispatch = call_agent("relevance-judge", prompt)
    steps = [tool("Read", file_path=str(desk.vault / "Berth depths.md")), text('{"notes": []}')]
    turn = desk.client.ask("/vault-eval:label", model(dispatch, agent=steps), folder=desk.vault)
    assert turn.denied == []
    assert {tuple(call.tools) for call in turn.agent} == {("Read", "Grep", "Glob")}
    assert "You judge notes for one query" in turn.agent[0].system
