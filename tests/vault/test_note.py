from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_eval.errors import UnreadableFileError
from vault_eval.vault.note import Note, frontmatter_tree, parse_note, unsafe_values
from vault_eval.vault.note_text import body_digest, decode, readable_text
from vault_eval.vault.yaml_tree import NoteError, YamlList, YamlMap, YamlScalar

BOMB = "---\na: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# decode


def test_byte_order_mark_is_dropped_once_and_line_ends_are_folded():
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfa\r\nb\rc\n") == "\ufeffa\nb\nc\n"


def test_only_line_feeds_end_lines():
    assert decode("a\u2028b\x85c\x0bd".encode()) == "a\u2028b\x85c\x0bd"


@pytest.mark.parametrize(
    ("data", "offset"),
    [(b"caf\xe9", "byte 3"), (b"\xef\xbb\xbfcaf\xe9", "byte 6"), (b"a\xed\xa0\xbd", "byte 1"), (b"\xff\xfea\0", "UTF-16")],
)
def test_bytes_that_are_not_utf8_are_refused_with_their_offset(data, offset):
    with pytest.raises(UnreadableFileError, match=offset):
        decode(data)


def test_what_cannot_be_read_and_a_pdf_have_no_text(vault, reader):
    for name, data in {"Tides.md": b"\xef\xbb\xbfmoon\r\n", "Empty.md": b"", "Old.md": b"\xff", "Chart.pdf": b"%PDF"}.items():
        (vault / name).write_bytes(data)
    assert [readable_text(reader.read, name) for name in ("Tides.md", "Empty.md")] == ["moon\n", ""]
    assert [readable_text(reader.read, name) for name in ("Old.md", "Gone.md", "Chart.pdf")] == [None, None, None]


# parse_note


def test_note_without_frontmatter_is_all_body():
    assert parse_note("# Sundial\n") == Note("# Sundial\n")


def test_properties_are_raw_text_and_lists_are_flat():
    text = "---\ntitle: 2025-02-30\nTags: '#sea, tide  #moon'\naliases: [~, Ebb, [no], 010, Ebb]\nalias: High, low\nschema: x\n---\nBody\n"
    assert parse_note(text) == Note(
        text, 7, title="2025-02-30", aliases=("Ebb", "010", "High, low"), tags=("sea", "tide", "moon"), schema="x"
    )


def test_null_and_empty_properties_are_ignored():
    note = parse_note("---\ntitle:\naliases:\ntags: ['', ~, '#']\nschema: null\n---\n")
    assert (note.body_line, note.title, note.aliases, note.tags, note.schema, note.warnings) == (6, None, (), (), None, ())


@pytest.mark.parametrize(
    "text",
    [
        "---",
        "---\ntitle: x\n",
        "-----\ntitle: x\n-----\n",
        "\n---\ntitle: x\n---\n",
        " ---\ntitle: x\n---\n",
        "+++\ntitle = 'x'\n+++\n",
        "",
    ],
)
def test_what_obsidian_shows_as_text_is_no_frontmatter(text):
    assert parse_note(text) == Note(text)


@pytest.mark.parametrize(
    ("text", "body_line"),
    [("---\n---\nBody\n", 2), ("--- \t\ntitle: x\n--- \n", 3), ("---\n\n  \n---", 4), ("---\na: b\n---", 3)],
)
def test_body_starts_after_the_closing_fence(text, body_line):
    assert parse_note(text).body_line == body_line
    assert parse_note(text).warnings == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nGreetings from the workshop\n---\nText\n", "line 1"),
        ("---\n- a list\n---\nText\n", "line 1"),
        ("---\n# a comment\n---\nText\n", "line 1"),
        ("---\n**Harrow & Quill**\nMara\n---\nText\n", "line 2"),
        ("---\nkind: note\ntitle: Tide: table\n---\nText\n", "line 3: .*mapping values"),
        ("---\ntitle: Tapir\n...\nDiary\n\n---\nTail\n", "line 4"),
        ("---\na: 'b\u2028  c'\nd: 'e\x85  f'\ntitle: Tide: table\n---\nText\n", "line 4: .*mapping values"),
        ("---\na: b\nc: \x07\n---\n", "line 3: .*character"),
        ("---\na: *nowhere\n---\n", "line 2: .*alias"),
    ],
)
def test_block_that_holds_no_properties_is_body_text_with_a_warning_that_names_the_line(text, line):
    note = parse_note(text)
    assert (note.text, note.body_line, note.title) == (text, 0, None)
    assert len(note.warnings) == 1
    assert re.match(line, note.warnings[0])


@pytest.mark.parametrize("name", ["content", "handler", "self", "2025", "on", "~", "null", "? [a, b]\n"])
def test_property_names_that_other_readers_fail_on_do_not_matter(name):
    assert parse_note(f"---\n{name}: plan\ntitle: Reel\n---\nBody\n").title == "Reel"


def test_alias_bomb_and_list_in_itself_cost_nothing():
    started = time.perf_counter()
    note = parse_note(BOMB + "self: &s [*s]\naliases: *i\ntags: *a\n---\nThe tuning fork.\n")
    assert time.perf_counter() - started < 1
    assert (note.aliases, note.tags) == ((), ("x",))


def test_python_tag_in_a_note_is_never_built(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    note = parse_note('---\ntitle: !!python/object/apply:os.mkdir ["PWNED"]\naliases: [!!python/name:os.system x]\n---\n')
    assert list(tmp_path.iterdir()) == []
    assert (note.title, note.aliases) == ("PWNED", ("x",))


@pytest.mark.parametrize("value", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "9" * 5_000])
def test_extreme_values_end_in_a_note(value):
    started = time.perf_counter()
    parse_note(f"---\na: {value}\n---\n")
    assert time.perf_counter() - started < 2


@given(st.text(alphabet=st.sampled_from("-ab:#[]{}&*!|>'\"%@ \n\t\u2028"), max_size=60))
def test_no_text_makes_parsing_raise(block):
    text = f"---\n{block}\n---\nBody\n"
    note = parse_note(text)
    assert note.text == text
    assert 0 <= note.body_line <= text.count("\n")


@pytest.mark.parametrize(
    "block", ["title: a: b", "x: " + "[" * 5_000, "c: \x01", "a: *x", "x: &x [*x]", 'title: "\\ud83d"', "2025: plan"]
)
def test_slow_reader_of_yaml_agrees_with_the_quick_one(block, monkeypatch):
    text = f"---\n{block}\ntags: [sea]\n---\n"
    quick = parse_note(text)
    monkeypatch.delattr("yaml.CSafeLoader")
    slow = parse_note(text)
    assert (slow.title, [warning.split(":")[0] for warning in slow.warnings]) == (
        quick.title,
        [w.split(":")[0] for w in quick.warnings],
    ) or (
        "ud83d" in block and slow.title is None  # the quick reader refuses half a character, the slow one builds it
    )


# frontmatter_tree


def test_tree_keeps_raw_text_kind_quotes_and_lines_of_the_file():
    tree = frontmatter_tree("---\nid: 010\nquery: '14:30'\nlist:\n  - a\n  - \n---\n")
    text = "tag:yaml.org,2002:str"
    assert tree == YamlMap(
        (
            (YamlScalar("id", text, plain=True, line=2), YamlScalar("010", "tag:yaml.org,2002:int", plain=True, line=2)),
            (YamlScalar("query", text, plain=True, line=3), YamlScalar("14:30", text, plain=False, line=3)),
            (
                YamlScalar("list", text, plain=True, line=4),
                YamlList(
                    (
                        YamlScalar("a", text, plain=True, line=5),
                        YamlScalar("", "tag:yaml.org,2002:null", plain=True, line=tree.pairs[2][1].items[1].line),
                    ),
                    5,
                ),
            ),
        ),
        2,
    )


def test_tree_keeps_repeated_keys_for_the_caller():
    assert [key.text for key, _ in frontmatter_tree("---\na: 1\na: 2\n---\n").pairs] == ["a", "a"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("# Text\n", 1, "no frontmatter"),
        ("", 1, "no frontmatter"),
        ("---\na: b\n", 1, "not closed"),
        ("+++\na = 1\n+++\n", 1, "TOML"),
        ("---\n---\n", 1, "no properties"),
        ("---\n- a\n---\n", 1, "no properties"),
        ("---\nq:\n\t- a\n---\n", 3, "tab"),
        ("---\nq:\n  - a: b: c\n---\n", 3, "quote the text"),
        ("---\na: &x b\n---\n", 2, "anchors"),
        ("---\na: b\nc: [*x]\n---\n", 3, "aliases"),
        ("---\na: !!python/name:os.system x\n---\n", 2, "tag"),
        ("---\na: !local x\n---\n", 2, "tag"),
        ("---\na: " + "[" * 60 + "]" * 60 + "\n---\n", 2, "50 levels"),
    ],
)
def test_frontmatter_that_cannot_hold_labels_is_refused_at_its_line(text, line, words):
    with pytest.raises(NoteError, match=words) as refusal:
        frontmatter_tree(text)
    assert refusal.value.line == line
    assert refusal.value.exit_code == 2


def test_alias_bomb_is_refused_before_it_is_walked():
    started = time.perf_counter()
    with pytest.raises(NoteError, match="anchors") as refusal:
        frontmatter_tree(BOMB + "---\n")
    assert time.perf_counter() - started < 1
    assert len(str(refusal.value)) < 200


# unsafe_values


def test_impossible_date_is_named_with_its_property():
    (warning,) = unsafe_values("---\na: 2025-02-28\ndue: 2025-02-30\nlist: [x]\n---\n")
    assert warning.startswith("line 3: the property 'due'")
    assert "date" in warning


@pytest.mark.parametrize("text", ["Text\n", "---\na: 2025-02-28\n---\n", "---\n- a\n---\n", BOMB + "---\n"])
def test_values_that_load_are_not_warned_of(text):
    assert unsafe_values(text) == ()


# body_digest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"answers: in the body\n",
        b"---\ntitle: x\n---\nanswers:\n- a\n",
        b"---\nanswers_old: x\n---\n",
        b"---\nanswers: x\n",
        b"---\nx:\n  answers: y\n---\n",
    ],
)
def test_digest_is_that_of_all_bytes_without_the_property(data):
    assert body_digest(data) == sha256(data)


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"---\ntitle: x\nanswers:\n  - a\n\n  - b\ntags: y\n---\nBody\n", b"---\ntitle: x\ntags: y\n---\nBody\n"),
        (b"---\nanswers:\n- a\n- b\n---\nBody\n", b"Body\n"),
        (b"---\r\nanswers: [a,\r\n  b]\r\ntitle: x\r\n---\r\nanswers: no\r\n", b"---\r\ntitle: x\r\n---\r\nanswers: no\r\n"),
        (b'\xef\xbb\xbf---\n"answers" : a\n---\n', b"\xef\xbb\xbf"),
        (b"---\nanswers:\n  - a\n\n# c\ntitle: x\n--- \n\xff\n", b"---\n\n# c\ntitle: x\n--- \n\xff\n"),
        (b"---\ranswers: a\rtitle: x\r---\rBody", b"---\rtitle: x\r---\rBody"),
    ],
)
def test_digest_leaves_out_the_lines_of_the_property_and_no_others(data, kept):
    assert body_digest(data) == sha256(kept)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"Body\n", b"---\nanswers:\n- a\n---\nBody\n"),
        (b"", b"---\nanswers: [a]\n---\n"),
        (b"\xef\xbb\xbfBody\r\n", b"\xef\xbb\xbf---\r\nanswers:\r\n- a\r\n---\r\nBody\r\n"),
        (b"---\n--- \nBody\n", b"---\nanswers:\n- a\n--- \nBody\n"),
        (b"---\ntitle: x\n---\n", b"---\ntitle: x\nanswers:\n- a\n---\n"),
    ],
)
def test_first_label_of_a_note_keeps_its_digest(before, after):
    """Also where the fences come with it; an empty frontmatter is none."""
    assert body_digest(after) == body_digest(before)


def test_digest_takes_another_property_name():
    assert body_digest(b"---\nq.a: x\nqxa: y\n---\n", "q.a") == sha256(b"---\nqxa: y\n---\n")


@given(st.lists(st.text(alphabet="abc ?:\"'#", max_size=10), max_size=5))
def test_changing_only_the_questions_keeps_the_digest(questions):
    listed = "".join(f"  - {question!r}\n" for question in questions)
    before = b"---\ntitle: x\nanswers:\ntags: y\n---\nBody\n"
    after = f"---\ntitle: x\nanswers:\n{listed}tags: y\n---\nBody\n".encode()
    assert body_digest(after) == body_digest(before)


# start


def test_decoding_and_digest_need_no_yaml():
    code = (
        "import sys; sys.modules['yaml'] = None; sys.modules['frontmatter'] = None\n"
        "from vault_eval.vault.note import parse_note\n"
        "from vault_eval.vault.note_text import body_digest, decode\n"
        "decode(b'x'); body_digest(b'---\\nanswers: x\\n---\\n'); parse_note('no frontmatter')\n"
        "from vault_eval.errors import MissingPackageError\n"
        "try: parse_note('---\\na: b\\n---\\n')\n"
        "except MissingPackageError as error: print(error)\n"
    )
    scripts = Path(__file__).parents[2] / "scripts"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(scripts)}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "doctor --install" in done.stdout
