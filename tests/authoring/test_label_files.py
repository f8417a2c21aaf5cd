from __future__ import annotations

import json
from dataclasses import replace

import pytest

from vault_eval.authoring.label_files import as_negative, with_labels
from vault_eval.errors import LabelError
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.rules import EXTENDED_SCHEMA, query_id
from vault_eval.model import Label, Target

PLAIN = "claude-obsidian.retrieval-queries.v1"
NEW = Label("new", "when is high water", (Target("Sea/Tides.md", heading="High water"),), "", "")


def document(text: str, name: str = "Labels.json") -> LabelDocument:
    return LabelDocument(name, text.encode(), None, list)


def with_new(text: str, name: str = "Labels.json", label: Label = NEW) -> str:
    return with_labels(document(text, name), [label]).decode()


ENTRY = '{"id": "a", "query": "b", "expected_pages": []}'


def test_entry_is_written_on_a_line_of_its_own_below_the_last():
    text = f'{{"schema": "{PLAIN}", "queries": [\n    {ENTRY}\n]}}'
    new = '{"id": "new", "query": "when is high water", "expected_pages": ["Sea/Tides.md#High water"]}'
    assert with_new(text) == f'{{"schema": "{PLAIN}", "queries": [\n    {ENTRY},\n    {new}\n]}}'


def test_entry_is_laid_out_as_the_one_before_it():
    before = json.dumps({"schema": PLAIN, "queries": [{"id": "a", "query": "b", "expected_pages": []}]}, indent=2) + "\n"
    tail = '\n    },\n    {\n      "id": "new",\n      "query": "when is high water",\n      "expected_pages": ["Sea/Tides.md#High water"]\n    }\n'
    assert with_new(before) == before.replace("\n    }\n", tail)


def test_other_bytes_stay_also_odd_ones():
    before = (
        f'\ufeff {{ "queries":[{ENTRY} , {ENTRY.replace(chr(34) + "a", chr(34) + "c")}\r\n]\t,"schema":"{PLAIN}"}}\r\n'.replace(
            '"query": "b", "expected_pages": []}\r', '"query": "d", "expected_pages": []}\r'
        )
    )
    after = with_new(before)
    at = after.index(' , {"id": "new"')
    end = after.index("\r\n]")
    assert after[:at] + after[end:] == before


def test_first_entry_of_an_empty_jsonl_and_of_a_file_without_a_last_line_end():
    assert with_new('{"query": "b", "relevant": []}', "Labels.jsonl") == (
        '{"query": "b", "relevant": []}\n{"id": "new", "query": "when is high water", "relevant": [{"source": "Sea/Tides.md#High water"}]}\n'
    )


def test_file_whose_queries_make_the_ids_takes_the_query_alone():
    label = Label(query_id(NEW.query), NEW.query, (Target("A.md"),), "", "")
    before = '{"schema_version": 1, "queries": [{"query": "b", "expect": []}]}'
    after = '{"schema_version": 1, "queries": [{"query": "b", "expect": []},{"query": "when is high water", "expect": ["A.md"]}]}'
    assert with_new(before, label=label) == after
    with pytest.raises(LabelError, match="has no place for id"):
        with_new(before)


def test_extras_raise_the_schema_of_a_json_file_and_nothing_else():
    label = Label("new", "q", (), "", "", tags=("silver",), origin="link text in A.md:1")
    after = with_new(f'{{"schema": "{PLAIN}", "queries": [{ENTRY}]}}', label=label)
    new = '{"id": "new", "query": "q", "expected_pages": [], "tags": ["silver"], "origin": "link text in A.md:1"}'
    assert after == f'{{"schema": "vault-eval.labels.v1", "queries": [{ENTRY},{new}]}}'


def test_label_note_gets_an_item_and_keeps_its_body():
    note = f"---\nschema: {PLAIN}\nqueries:\n  - id: a\n    query: b\n    expected_pages: []\n---\n# Why\n"
    loaded = load_labels([document(with_new(note, "Labels.md"), "Labels.md")]).labels
    assert [(label.id, label.query, label.gold) for label in loaded] == [("a", "b", ()), ("new", NEW.query, NEW.gold)]
    assert with_new(note, "Labels.md").endswith("---\n# Why\n")


def test_label_note_of_the_wider_schema_takes_extras():
    note = "---\nschema: vault-eval.labels.v1\nqueries:\n  - id: a\n    query: b\n    expected_pages: []\n---\n"
    new = Label("new", "q", (), "", "", tags=("x",), origin="a chat")
    loaded = load_labels([document(with_new(note, "Labels.md", new), "Labels.md")]).labels[-1]
    assert (loaded.tags, loaded.origin) == (("x",), "a chat")


def test_extras_in_a_label_note_need_another_schema_first():
    note = f"---\nschema: {PLAIN}\nqueries:\n  - id: a\n    query: b\n    expected_pages: []\n---\n"
    with pytest.raises(LabelError, match=r"vault-eval\.labels\.v1.*change it in the note first"):
        with_new(note, "Labels.md", Label("new", "q", (), "", "", tags=("x",)))


@pytest.mark.parametrize(
    ("label", "why"),
    [
        (Label("new", "b", (), "", ""), "the query 'b' is there already, as 'a', and expects no page"),
        (Label("a", "other", (), "", ""), "the id 'a' is taken; name another with --id"),
    ],
)
def test_query_or_id_that_is_there_already_is_refused(label, why):
    with pytest.raises(LabelError, match=why):
        with_new(f'{{"schema": "{PLAIN}", "queries": [{ENTRY}]}}', label=label)


def test_invalid_file_is_refused_before_anything_else():
    with pytest.raises(LabelError, match="not JSON"):
        with_new('{"schema": ')
    with pytest.raises(LabelError, match="unknown key 'qeries'"):
        with_new(f'{{"schema": "{PLAIN}", "qeries": [], "queries": []}}')


def test_first_entry_of_a_json_file_without_queries():
    new = '{"id": "new", "query": "when is high water", "expected_pages": ["Sea/Tides.md#High water"]}'
    assert with_new(f'{{"schema": "{PLAIN}", "queries": []}}\n') == f'{{"schema": "{PLAIN}", "queries": [\n  {new}\n]}}\n'
    label = Label(query_id(NEW.query), NEW.query, (), "", "")
    after = with_new('{"schema_version": 1, "queries": [ ]}', label=label)
    assert json.loads(after)["queries"] == [{"query": NEW.query, "expect": []}]


def test_several_labels_are_added_at_once_and_the_schema_is_widened_once():
    graded = Label("graded", "q", (Target("A.md"),), "", "", grades={"A.md": 2})
    text = f'{{"schema": "{PLAIN}", "queries": [{ENTRY}]}}'
    after = json.loads(with_labels(document(text), [NEW, graded, replace(graded, id="again", query="r")]))
    assert ([one["id"] for one in after["queries"]], after["schema"]) == (["a", "new", "graded", "again"], EXTENDED_SCHEMA)
    with pytest.raises(LabelError, match="is there already, as 'graded'"):
        with_labels(document(text), [graded, replace(graded, id="again")])


SKIPPED = '"skip_reason": "no page of the pool answers it"'


@pytest.mark.parametrize(
    ("entry", "category", "after"),
    [
        (
            f'{{"id": "a", "query": "q", {SKIPPED}, "expected_pages": []}}',
            None,
            '{"id": "a", "query": "q", "expected_pages": []}',
        ),
        (
            f'{{{SKIPPED}, "id": "a", "query": "q", "expected_pages": []}}',
            None,
            '{"id": "a", "query": "q", "expected_pages": []}',
        ),
        (
            f'{{\r\n "id": "a", "query": "q", "expected_pages": [],\r\n {SKIPPED}\r\n}}',
            "absent",
            '{\r\n "id": "a", "query": "q", "expected_pages": [],\r\n "category": "absent"\r\n}',
        ),
        (
            f'{{"id": "a", "query": "q", "expected_pages": [], "category": "absent", {SKIPPED}}}',
            "absent",
            '{"id": "a", "query": "q", "expected_pages": [], "category": "absent"}',
        ),
    ],
)
def test_skipped_label_becomes_a_negative_and_nothing_else_changes(entry, category, after):
    text = f'{{"schema": "{PLAIN}", "queries": [ {{"id": "b", "query": "r", "expected_pages": []}},{entry}] }}'
    label = load_labels([document(text)]).labels[1]
    negative, data = as_negative(document(text), label, category)
    assert data.decode() == text.replace(entry, after)
    assert (negative.skip_reason, negative.category) == (None, category)


def test_label_of_another_category_or_in_a_file_of_another_form_is_left_as_it_is():
    text = f'{{"schema": "{PLAIN}", "queries": [{{"id": "a", "query": "q", "expected_pages": [], "category": "c", {SKIPPED}}}]}}'
    (label,) = load_labels([document(text)]).labels
    with pytest.raises(LabelError, match="has the category 'c'; leave --category out"):
        as_negative(document(text), label, "absent")
    with pytest.raises(LabelError, match="take the skip_reason of 'a' out by hand"):
        as_negative(document('{"query": "q", "relevant": []}', "L.jsonl"), label, None)
