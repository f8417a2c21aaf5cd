from __future__ import annotations

from real_client import ROOT, model, run_line


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
        "Verdict: too few queries",
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


def checking(desk):
    return run_line("labels check", VAULT=str(desk.vault), LABELS=str(desk.labels))


def test_a_check_of_invalid_labels_ends_with_code_2_and_needs_no_index(desk):
    desk.label({"id": "a", "query": "x", "expected_pages": [".."]})
    turn = desk.client.ask("/vault-eval:label", model(checking(desk)), folder=desk.vault)
    assert turn.results[0].text.startswith("Exit code 2\n")
    desk.label({"id": "a", "query": "x", "expected_pages": ["Berth depths.md"]})
    turn = desk.client.ask("/vault-eval:label", model(checking(desk)), folder=desk.vault)
    assert turn.results[0].text.startswith("Labels: 1 (1 scored)\n")
    assert turn.denied == []


def test_the_example_of_the_label_form_is_valid_and_its_check_names_the_missing_notes(desk):
    form = (ROOT / "skills/label/references/label-form.md").read_text(encoding="utf-8")
    desk.labels.write_text(form.partition("```json\n")[2].partition("```")[0], encoding="utf-8")
    turn = desk.client.ask("/vault-eval:label", model(checking(desk)), folder=desk.vault)
    assert turn.denied == []
    assert not turn.results[0].is_error
    assert "boat-winter: 'Boat/Lay-up.md': no note of that name is in the vault" in turn.results[0].text
