from __future__ import annotations

import json
import os

import pytest

from vault_eval.errors import LabelError, UsageError
from vault_eval.labels.load import load_labels
from vault_eval.labels.sources import discover, open_sources, reread
from vault_eval.limits import LABEL_FILE_MAX_BYTES
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError

SCHEMA = "claude-obsidian.retrieval-queries.v1"
LABELS = json.dumps({"schema": SCHEMA, "queries": [{"id": "t", "query": "tides", "expected_pages": ["Sea/Tides.md"]}]})
NOTE = f"---\nschema: {SCHEMA}\nqueries:\n  - {{id: t, query: tides, expected_pages: [Sea/Tides.md]}}\n---\n"


@pytest.fixture
def base(tmp_path, monkeypatch):
    """The physical folder that holds the vault; it is the current one."""
    physical = tmp_path.resolve()
    (physical / "vault" / "Eval").mkdir(parents=True)
    (physical / "vault" / "Sea").mkdir()
    (physical / "vault" / "Sea" / "Tides.md").write_text("moon")
    monkeypatch.chdir(physical)
    return physical


@pytest.fixture
def reader(base):
    with FolderReader(str(base / "vault")) as opened:
        yield opened


@pytest.fixture
def opened(reader):
    return lambda source, named="vault": open_sources([source], reader, named, list)[0]


def refusal(opened, source, named="vault"):
    with pytest.raises(LabelError) as error:
        opened(source, named)
    message = str(error.value)
    assert message.startswith(f"the label source {source!r} cannot be used: ")
    return message


def test_file_outside_the_vault_is_read_by_absolute_and_relative_path(base, opened):
    (base / "labels.json").write_text(LABELS)
    for source in ("labels.json", "./labels.json", "vault/../labels.json", str(base / "labels.json")):
        document = opened(source)
        assert (document.name, document.data, document.path_in_vault) == (source, LABELS.encode(), None)


@pytest.mark.parametrize(
    "source", ["note:Eval/Labels.md", "vault/Eval/Labels.md", "./vault/Eval/../Eval/Labels.md", "{base}/vault/Eval/Labels.md"]
)
def test_note_is_opened_from_the_vault_however_it_is_named(base, opened, source):
    (base / "vault" / "Eval" / "Labels.md").write_text(NOTE)
    document = opened(source.format(base=base))
    assert (document.name, document.path_in_vault, document.data) == ("Eval/Labels.md", "Eval/Labels.md", NOTE.encode())
    assert load_labels([document]).labels[0].id == "t"


def test_note_is_opened_from_a_vault_that_is_named_by_a_link(base, opened):
    (base / "vault" / "Eval" / "Labels.md").write_text(NOTE)
    (base / "alias").symlink_to("vault")
    assert opened("alias/Eval/Labels.md", "alias").path_in_vault == "Eval/Labels.md"
    assert opened(str(base / "alias" / "Eval" / "Labels.md"), "alias").path_in_vault == "Eval/Labels.md"
    assert opened(str(base / "vault" / "Eval" / "Labels.md"), "alias").path_in_vault == "Eval/Labels.md"


def test_folder_beside_the_vault_whose_name_begins_alike_is_outside(base, opened):
    (base / "vault-labels").mkdir()
    (base / "vault-labels" / "labels.json").write_text(LABELS)
    assert opened("vault-labels/labels.json").path_in_vault is None


def test_note_is_found_in_either_unicode_form(base, opened):
    (base / "vault" / "Eval" / "E\u0301tude.md").write_text(NOTE)
    assert opened("note:Eval/Étude.md").data == NOTE.encode()


def test_link_in_a_label_path_is_refused_with_the_physical_path(base, opened):
    (base / "real").mkdir()
    (base / "real" / "labels.json").write_text(LABELS)
    (base / "alias").symlink_to("real")
    (base / "real" / "link.json").symlink_to("labels.json")
    for source in ("alias/labels.json", "real/link.json", "alias/../real/labels.json"):
        message = refusal(opened, source)
        assert "link" in message
        assert f"name the physical path instead: {str(base / 'real' / 'labels.json')!r}" in message


def test_link_inside_the_vault_is_refused_with_the_physical_path(base, opened):
    (base / "outside.md").write_text(NOTE)
    (base / "vault" / "Eval" / "Labels.md").symlink_to("../../outside.md")
    (base / "vault" / "Shore").symlink_to("Sea")
    (base / "vault" / "Sea" / "Labels.md").write_text(NOTE)
    for source in ("note:Eval/Labels.md", "vault/Eval/Labels.md"):
        assert f"instead: {str(base / 'outside.md')!r}" in refusal(opened, source)
    assert f"instead: {str(base / 'vault' / 'Sea' / 'Labels.md')!r}" in refusal(opened, "note:Shore/Labels.md")


def test_other_linked_way_to_the_vault_is_refused_with_the_physical_path(base, opened):
    (base / "vault" / "Eval" / "Labels.md").write_text(NOTE)
    (base / "alias").symlink_to("vault")
    assert str(base / "vault" / "Eval" / "Labels.md") in refusal(opened, "alias/Eval/Labels.md", "vault")


@pytest.mark.parametrize(
    "source", ["note:../labels.json", "note:Eval/../../labels.json", "note:{base}/labels.json", "note:./Eval/Labels.md"]
)
def test_note_source_cannot_leave_the_vault(base, opened, source):
    (base / "labels.json").write_text(LABELS)
    assert "note:FOLDER/NOTE.md" in refusal(opened, source.format(base=base))


@pytest.mark.parametrize("source", ["vault", "vault/Sea", "note:", "note:Sea", ".", "", "pipe"])
def test_source_that_is_no_file_is_refused_and_never_waited_for(base, opened, source):
    os.mkfifo(base / "pipe")
    assert "it is not a regular file; name a regular file" in refusal(opened, source)


@pytest.mark.parametrize("source", ["nowhere.json", "note:Eval/Nowhere.md", "vault/Nowhere.md", "note:sea/Tides.md"])
def test_source_that_is_absent_is_said_to_be_so(base, opened, source):
    message = refusal(opened, source)
    assert "it does not exist" in message
    assert "name a file that exists" in message


def test_file_of_the_largest_size_is_read_and_one_byte_more_is_not(base, opened):
    for source in ("labels.json", "note:Eval/Labels.md"):
        place = base / "vault" / "Eval" / "Labels.md" if source.startswith("note:") else base / source
        place.write_bytes(b" " * LABEL_FILE_MAX_BYTES)
        assert len(opened(source).data) == LABEL_FILE_MAX_BYTES
        place.write_bytes(b" " * (LABEL_FILE_MAX_BYTES + 1))
        message = refusal(opened, source)
        assert "it has 1,048,577 bytes; at most 1,048,576 are read" in message
        assert "1,048,577 are read" not in message


def test_name_with_a_line_break_cannot_forge_a_line_of_the_message(base, opened):
    assert "\n" not in refusal(opened, "no\nwhere.json")


def test_reread_gives_the_bytes_as_they_are_now(base, reader, opened):
    (base / "labels.json").write_text(LABELS)
    (base / "vault" / "Eval" / "Labels.md").write_text(NOTE)
    documents = [opened("labels.json"), opened("note:Eval/Labels.md")]
    assert [reread(one, reader) for one in documents] == [LABELS.encode(), NOTE.encode()]
    (base / "labels.json").write_text(LABELS + " ")
    assert reread(documents[0], reader) == f"{LABELS} ".encode()
    (base / "labels.json").unlink()
    with pytest.raises(FileRefusedError):
        reread(documents[0], reader)


# Without --queries


def carrier(base, name, text=NOTE):
    (base / "vault" / name).write_text(text)
    return name


def test_remembered_sources_come_first(base, reader):
    notes = [carrier(base, "Labels.md")]
    assert discover(["mine.json", "note:Labels.md"], reader, notes) == ("mine.json", "note:Labels.md")


def test_one_note_with_the_schema_comes_next_then_the_file_beside_the_vault(base, reader):
    (base / "vault.queries.json").write_text(LABELS)
    notes = ["Sea/Tides.md"]
    assert discover([], reader, notes) == (str(base / "vault.queries.json"),)
    notes.append(carrier(base, "Eval/Labels.md"))
    assert discover([], reader, notes) == ("note:Eval/Labels.md",)
    notes.append(carrier(base, "Eval/More.md"))
    assert discover([], reader, notes) == (str(base / "vault.queries.json"),)


@pytest.mark.parametrize(
    "head",
    [
        f"schema: {SCHEMA}",
        f'schema: "{SCHEMA}"',
        f"'schema':   '{SCHEMA}'  # mine",
        "schema: vault-eval.labels.v1",
        f"tags: [a]\nschema: {SCHEMA}",
        f"schema: {SCHEMA}\r\nqueries: []",
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_note_carries_labels_by_its_schema_property(base, reader, head, mark):
    assert discover([], reader, [carrier(base, "a.md", f"{mark}---\n{head}\n---\n")]) == ("note:a.md",)


@pytest.mark.parametrize(
    "text",
    [
        f"---\ntitle: How to write labels\n---\n```yaml\nschema: {SCHEMA}\n```\n",
        f"schema: {SCHEMA}\n",
        f"---\nschema: {SCHEMA}\n",
        f"---\nnested:\n  schema: {SCHEMA}\n---\n",
        f"---\nschema: {SCHEMA}.draft\n---\n",
        f"---\nabout: {SCHEMA}\n---\n",
        f"---\n# schema: {SCHEMA}\n---\n",
    ],
)
def test_note_that_only_speaks_of_the_schema_carries_none(base, reader, text):
    with pytest.raises(UsageError, match="no note carries labels"):
        discover([], reader, [carrier(base, "a.md", text)])


def test_nothing_found_lists_what_was_looked_for(base, reader):
    with pytest.raises(UsageError) as error:
        discover([], reader, ["Sea/Tides.md", "Nowhere.md"])
    for words in (
        "--queries",
        "remembered",
        "no note carries labels",
        repr(str(base / "vault.queries.json")),
        "note:FOLDER/NOTE.md",
    ):
        assert words in str(error.value)


def test_several_notes_are_named_bounded(base, reader):
    notes = [carrier(base, f"Labels {number}.md") for number in range(7)]
    with pytest.raises(UsageError) as error:
        discover([], reader, notes)
    assert "7 notes carry labels ('Labels 0.md', " in str(error.value)
    assert "'Labels 4.md' and 2 more" in str(error.value)
    assert "Labels 5.md" not in str(error.value)


def test_note_that_cannot_be_read_carries_nothing(base, reader):
    (base / "vault" / "Alias.md").symlink_to("Sea/Tides.md")
    (base / "vault" / "latin.md").write_bytes(b"---\nschema: \xe9\n---\n")
    with pytest.raises(UsageError, match="no note carries labels"):
        discover([], reader, ["Alias.md", "latin.md"])


@pytest.mark.parametrize("source", ["property:", "property: "])
def test_a_property_without_a_name_is_refused_with_what_to_write(opened, source):
    assert refusal(opened, source).endswith("it names no property; write property:answers")


def test_questions_in_a_property_are_gathered_from_the_notes_and_read_again_alike(tmp_path):
    vault = tmp_path / "v"
    vault.mkdir()
    (vault / "Boat.md").write_text("---\nanswers:\n  - how do I store the boat\n---\n# Boat\n", encoding="utf-8")
    (vault / "Sea.md").write_text("---\nanswers: [how do I store the boat, when is high water]\n---\n# Sea\n", encoding="utf-8")
    with FolderReader(str(vault)) as reader:
        (document,) = open_sources(["property:answers"], reader, str(vault), lambda: ["Boat.md", "Sea.md"])
        labels = load_labels([document]).labels
        assert {label.query: label.pages for label in labels} == {
            "how do I store the boat": ("Boat.md", "Sea.md"),
            "when is high water": ("Sea.md",),
        }
        assert reread(document, reader) == document.data
