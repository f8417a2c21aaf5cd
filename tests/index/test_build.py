"""Building an index: what is in it, what is left out, and that a refresh ends where a full build does."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from vault_eval.errors import VaultEvalError
from vault_eval.index.options import ChunkSizes, IndexOptions
from vault_eval.index.seal import open_index
from vault_eval.index.states import read_states, states_text
from vault_eval.limits import NOTE_MAX_BYTES
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LABEL_NOTE = (
    '---\nschema: vault-eval.labels.v1\nqueries:\n  - {id: a, query: "spring tides", expected_pages: [Sea/Tides.md]}\n---\n'
)
BROKEN = "---\nname: a: b\n---\nThe sextant.\n"


def index_bytes(vault, result):
    return Path(result.path).read_bytes()


def full_build(vault, options=None):
    """The bytes of an index of the same notes built from nothing."""
    place = vault.folder.with_name("from-nothing")
    result = vault.build(options, folder=place)
    data = Path(result.path).read_bytes()
    for path in place.iterdir():
        path.unlink()
    return data


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_all_notes_are_found_by_name_title_alias_tag_heading_and_body(vault):
    vault.write(
        "Sea/Tide tables.md", "---\ntitle: Almanac\naliases: [Ebb book]\ntags: [harbour/berth]\n---\n# Spring\n\nneap range\n"
    )
    vault.write("Other.md", "nothing of it\n")
    for query in ("tide tables", "almanac", "ebb", "berth", "spring", "neap"):
        vault.build()
        assert vault.found(query) == ["Sea/Tide tables.md"], query
    assert vault.found("title aliases") == []


def test_a_title_that_is_the_file_name_counts_once(vault):
    """`é` decomposed in one and composed in the other is the same name."""
    vault.write("Marée.md", f"---\ntitle: {unicodedata.normalize('NFD', 'marée')}\n---\nbody\n")
    vault.build()
    with vault.index() as index:
        assert list(index["chunk_lengths"]) == [2]  # marée, body


def test_hidden_markdown_text_is_found(vault):
    kinds = (
        '[ref-k]: http://k.example "capstanword"\n\nText[^1].\n\n[^1]: footword here.\n\n| col |\n|---|\n| cellword |\n\n'
        "> [!tip]- Folded\n> calloutword\n\n![[Other#Part|embedword]]\n\n$$ mathword = 1 $$\n\n<details>htmlword</details>\n\n"
        "- [ ] taskword ^blockword\n\n```dataview\nTABLE queryword\n```\n\n<% tp.templword %>\n\n==markword==\n\n## [[Sea/Hiddenword|shown]]\n"
    )
    vault.write("Kinds.md", kinds)
    vault.write("Other.md", "text\n")
    vault.build()
    words = ["capstan", "foot", "cell", "callout", "embed", "math", "html", "task", "block", "query", "templ", "mark", "hidden"]
    assert [word for word in words if vault.found(f"{word}word") != ["Kinds.md"]] == []


def test_deep_outlines_are_found_to_the_last_level(vault):
    vault.write("Outline.md", "".join("  " * depth + f"- level{depth}\n" for depth in range(60)))
    vault.build()
    assert all(vault.found(f"level{depth}") for depth in range(60))


def test_words_of_an_endless_heading_are_found(vault):
    vault.write("Rule.md", "".join(f"word{number} " for number in range(5000)) + "\n---\nbelow\n")
    vault.build()
    assert all(vault.found(f"word{number}") for number in range(0, 5000, 97))


@pytest.mark.parametrize(
    ("note", "query", "chunks"),
    [
        ("---\n---\nThe theremin hums.\n", "theremin", 1),
        ("---\ntitle: only\n---\n", "only", 1),
        ("---", "note", 1),
        ("", "note", 1),
        ("---\n# a comment\n---\n\n   \n", "note", 2),
        ("# Only a heading", "heading", 1),
        ("\ufeff# Sundial\n", "sundial", 1),
        ("line\r\nends\r\n", "ends", 1),
    ],
)
def test_every_kind_of_empty_note_has_a_chunk(vault, note, query, chunks):
    vault.write("Note.md", note)
    assert vault.build().chunks == chunks
    assert vault.found(query) == ["Note.md"]


def test_a_data_uri_of_a_megabyte_gives_no_terms_and_no_chunks_of_its_own(vault):
    vault.write("Chart.md", "# Chart\n\nbefore\n\n![pic](data:image/png;base64," + "QUJDxyz0" * 130_000 + ")\n\nafter\n")
    assert vault.build().chunks == 2  # what stands before, what stands after
    with vault.index() as index:
        assert [index.term(ordinal) for ordinal in range(index.term_count)] == ["after", "before", "chart", "pic"]
        assert [index.lines(chunk) for chunk in range(2)] == [(1, 5), (5, 7)]


def test_more_repeats_than_two_bytes_count_are_kept_as_the_most_there_can_be(vault):
    vault.write("Rain.md", "雨" * 70_000)
    vault.build(IndexOptions(ChunkSizes(100_000, 100_000, 0)))
    with vault.index() as index:
        rain = index.term_ordinal("雨")
        assert (index["term_most"][rain], index["posting_counts"][index["posting_offsets"][rain]]) == (65_535, 65_535)
        # 雨, 雨雨 and 雨雨雨, and the name of the note
        assert list(index["chunk_lengths"]) == [70_000 + 69_999 + 69_998 + 1]


def test_a_label_note_may_not_answer_its_own_queries(vault):
    vault.write("Eval/Labels.md", LABEL_NOTE)
    vault.write("Sea/Tides.md", "spring tides\n")
    result = vault.build()
    assert [(one.path, one.reason) for one in result.skipped] == [
        ("Eval/Labels.md", "a label note: it may not answer its own queries")
    ]
    assert vault.found("spring tides") == ["Sea/Tides.md"]


def test_the_property_that_holds_questions_is_not_indexed_and_its_note_is(vault):
    vault.write("Tides.md", "---\nanswers:\n  - when does it ebb\n---\nspring range\n")
    vault.build()
    assert (vault.found("ebb"), vault.found("range")) == ([], ["Tides.md"])


def test_broken_frontmatter_is_body_text_and_named_each_time(vault):
    vault.write("Mess/Broken.md", BROKEN)
    vault.write("Other.md", "text\n")
    first = vault.build()
    second = vault.build()
    assert second.unchanged
    assert [page for page, _ in first.warnings] == ["Mess/Broken.md"]
    assert first.warnings == second.warnings
    assert vault.found("sextant name") == ["Mess/Broken.md"]
    vault.write("Other.md", "more text\n")
    assert vault.build().warnings == first.warnings


def test_a_note_that_is_no_text_is_skipped_with_its_reason_each_time(vault):
    vault.write("Bad.md", b"caf\xe9\n")
    vault.write("Good.md", "text\n")
    first = vault.build()
    assert [(one.path, "not UTF-8" in one.reason) for one in first.skipped] == [("Bad.md", True)]
    second = vault.build()
    assert second.unchanged
    assert second.skipped == first.skipped


def test_a_note_that_cannot_be_read_is_skipped_and_taken_once_it_can(vault, monkeypatch):
    vault.write("Secret.md", "hidden\n")
    vault.write("A.md", "text\n")
    read = FolderReader.read

    def refuse(reader, path, max_bytes=NOTE_MAX_BYTES):
        if path == "Secret.md":
            raise FileRefusedError(path, "permission denied")
        return read(reader, path, max_bytes)

    with monkeypatch.context() as patched:
        patched.setattr(FolderReader, "read", refuse)
        first = vault.build()
        assert [(one.path, one.reason) for one in first.skipped] == [("Secret.md", "permission denied")]
        assert vault.build().unchanged
    assert vault.build().pages == 2
    assert vault.found("hidden") == ["Secret.md"]


@pytest.mark.parametrize("left_out", [b"caf\xe9\n", LABEL_NOTE.encode()])
def test_a_note_left_out_is_forgotten_once_it_is_gone(vault, left_out):
    vault.write("A.md", "text\n")
    vault.write("Odd.md", left_out)
    assert [one.path for one in vault.build().skipped] == ["Odd.md"]
    (vault.root / "Odd.md").unlink()
    assert vault.build().skipped == ()


def test_a_second_run_writes_nothing(vault):
    vault.write("A.md", "one\n")
    vault.write("B.md", "two\n")
    vault.build()
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in vault.folder.iterdir()}
    assert vault.build().unchanged
    after = {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in vault.folder.iterdir()}
    assert after == before


def test_an_unchanged_note_is_not_read_again(vault, monkeypatch):
    vault.write("A.md", "one\n")
    vault.build()
    monkeypatch.setattr("vault_eval.index.build.sha256_hex", _not_called)
    assert vault.build().unchanged


def _not_called(data):
    raise AssertionError("a note was read although its state is the one remembered")


def test_same_size_and_same_times_of_modification_do_not_hide_a_change(vault):
    path = vault.write("Sea/Buoy.md", "The buoy is RED42.\n")
    vault.build()
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_bytes(b"The buoy is TAN42.\n")
    os.utime(path, ns=times)
    assert not vault.build().unchanged
    assert (vault.found("RED42"), vault.found("TAN42")) == ([], ["Sea/Buoy.md"])


def test_a_state_as_young_as_the_build_is_not_trusted(vault):
    """Two writes within one tick of the clock may leave the same state; such a note is read again."""
    vault.write("A.md", "one\n")
    result = vault.build(later_ns=0)
    assert read_states(str(vault.folder), result.sha256) == {}
    result = vault.build(later_ns=3_000_000_000)
    assert list(read_states(str(vault.folder), result.sha256)) == ["A.md"]


def test_a_change_that_the_remembered_state_hides_is_found_when_the_state_is_young(vault):
    """As above, with the state forged to be the one of the changed file."""
    path = vault.write("A.md", "one\n")
    result = vault.build(later_ns=0)
    path.write_bytes(b"two\n")
    found = path.stat()
    state = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    (vault.folder / "states.json").write_bytes(states_text(result.sha256, {"A.md": state}, found.st_ctime_ns + 1_999_999_999))
    assert not vault.build().unchanged
    assert vault.found("two") == ["A.md"]


@pytest.mark.parametrize(
    "damage",
    [b"", b"{}", b"[]", b"\xff", b'{"index": 1}', b'{"pages": ["A.md"], "sizes": [1]}', b'{"index": "%s", "pages": []}'],
)
def test_damaged_states_only_make_notes_be_read_again(vault, damage):
    vault.write("A.md", "one\n")
    result = vault.build()
    (vault.folder / "states.json").write_bytes(damage.replace(b"%s", result.sha256.encode()))
    assert vault.build().unchanged
    assert list(read_states(str(vault.folder), result.sha256)) == ["A.md"]


COLUMNS = {"pages": ["A.md", "B.md"], "sizes": [1, 2], "mtimes": [1, 2], "ctimes": [1, 2], "inodes": [1, 2]}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("damage", [None, [], [1], ["A.md", None], [1, "2"], [1, 2.5], [True, 1], {}, "ab"])
def test_states_with_a_damaged_column_are_not_used(vault, column, damage):
    vault.folder.mkdir()
    (vault.folder / "states.json").write_text(json.dumps({"index": "x", **COLUMNS, column: damage}))
    assert read_states(str(vault.folder), "x") == {}


def test_whole_states_are_read_by_page(vault):
    vault.folder.mkdir()
    (vault.folder / "states.json").write_text(json.dumps({"index": "x", **COLUMNS}))
    assert read_states(str(vault.folder), "x") == {"A.md": (1, 1, 1, 1), "B.md": (2, 2, 2, 2)}


def test_states_of_another_index_are_not_used(vault):
    vault.write("A.md", "one\n")
    vault.build()
    assert read_states(str(vault.folder), "0" * 64) == {}


def test_other_options_rebuild_all(vault):
    vault.write("A.md", "word " * 500)
    first = vault.build()
    second = vault.build(IndexOptions(ChunkSizes(500, 1000, 50)))
    assert (second.unchanged, second.reused) == (False, 0)
    assert second.chunks > first.chunks
    assert index_bytes(vault, second) == full_build(vault, IndexOptions(ChunkSizes(500, 1000, 50)))


def test_a_damaged_index_is_built_anew(vault):
    vault.write("A.md", "one\n")
    first = vault.build()
    data = Path(first.path).read_bytes()
    Path(first.path).write_bytes(data[:-1] + b"\1")
    second = vault.build()
    assert (second.unchanged, second.reused, second.sha256) == (False, 0, first.sha256)
    assert Path(second.path).read_bytes() == data


def test_only_changed_notes_are_read_and_the_result_is_that_of_a_full_build(vault):
    for number in range(20):
        vault.write(f"N{number:02}.md", f"# Note {number}\n\nshared words and word{number}\n\n## Sub\n\nmore {number % 3}\n")
    vault.build()
    vault.write("N05.md", "# Changed\n\nother words\n")
    (vault.root / "N06.md").unlink()
    (vault.root / "N07.md").rename(vault.root / "Z07.md")
    result = vault.build()
    assert (result.reused, result.pages) == (17, 19)
    assert index_bytes(vault, result) == full_build(vault)


def test_an_index_of_nothing_and_back_is_that_of_a_full_build(vault):
    empty = vault.build()
    assert (empty.pages, empty.chunks, vault.found("one")) == (0, 0, [])
    vault.write("A.md", "one\n")
    assert index_bytes(vault, vault.build()) == full_build(vault)
    (vault.root / "A.md").unlink()
    assert vault.build().sha256 == empty.sha256


class Refreshes(RuleBasedStateMachine):
    """Any sequence of changes to a vault, refreshed in between, ends in the bytes of a full build."""

    make_vault = None
    pages = st.sampled_from(["A.md", "B.md", "Sub/C.md", "Sub/É.md", "潮.md", "z.md"])
    texts = st.one_of(
        st.sampled_from(
            [
                "",
                "one",
                "# H\n\none two",
                "---\ntitle: T\ntags: [x]\n---\none\n## S\ntwo",
                LABEL_NOTE,
                BROKEN,
                "潮位 tides\n\n# H",
            ]
        ),
        st.lists(st.sampled_from(["one", "two", "three", "four", "#", "H\n", "\n", "潮"]), max_size=40).map(" ".join),
    )

    def __init__(self) -> None:
        super().__init__()
        self.vault = type(self).make_vault()
        self.options = IndexOptions(ChunkSizes(50, 80, 20))
        self.fresh = False

    def names(self):
        return sorted(str(path.relative_to(self.vault.root)) for path in self.vault.root.rglob("*.md"))

    @rule(page=pages, text=texts)
    def write(self, page, text):
        self.vault.write(page, text)
        self.fresh = False

    @rule(page=pages)
    def write_what_is_no_text(self, page):
        self.vault.write(page, b"\xff")
        self.fresh = False

    @precondition(lambda self: self.names())
    @rule(choice=st.randoms(use_true_random=False))
    def delete(self, choice):
        (self.vault.root / choice.choice(self.names())).unlink()
        self.fresh = False

    @precondition(lambda self: self.names())
    @rule(choice=st.randoms(use_true_random=False), page=pages)
    def rename(self, choice, page):
        (self.vault.root / page).parent.mkdir(exist_ok=True)
        (self.vault.root / choice.choice(self.names())).replace(self.vault.root / page)
        self.fresh = False

    @rule()
    def delete_all(self):
        for name in self.names():
            (self.vault.root / name).unlink()
        self.fresh = False

    @rule(later_ns=st.sampled_from([0, 10**13]))
    def refresh(self, later_ns):
        result = self.vault.build(self.options, later_ns=later_ns)
        assert Path(result.path).read_bytes() == full_build(self.vault, self.options)
        assert result.unchanged or not self.fresh
        self.fresh = True

    @invariant()
    def one_index_at_most(self):
        assert len(list(self.vault.folder.glob("index-*"))) <= 1
        assert not list(self.vault.folder.glob("*.tmp"))


def test_any_sequence_of_changes_ends_where_a_full_build_does(make_vault):
    machine = type("Machine", (Refreshes,), {"make_vault": staticmethod(make_vault)})
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    machine.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=checks)
    machine.TestCase("runTest").runTest()


@given(st.integers(0, 10**6))
@settings(max_examples=5, deadline=None)
def test_order_of_creation_makes_no_difference(make_vault, seed):
    notes = [
        (f"{folder}N{number}.md", f"# Note {number}\n\nword{number % 3} word\n") for number in range(8) for folder in ("", "Sub/")
    ]
    one, other = make_vault(), make_vault()
    for page, text in notes:
        one.write(page, text)
    for page, text in random.Random(seed).sample(notes, len(notes)):
        other.write(page, text)
    assert index_bytes(one, one.build()) == index_bytes(other, other.build())


BUILD = """\
import sys
from vault_eval.index.build import build_index
from vault_eval.index.options import ChunkSizes, IndexOptions
from vault_eval.vault.snapshot import open_snapshot

with open_snapshot(sys.argv[1]) as snapshot:
    print(build_index(snapshot.reader, snapshot.listing, IndexOptions(), sys.argv[2], snapshot.id, 0, lambda done, total: None).sha256)
"""


def test_seed_of_hashing_makes_no_difference(vault, tmp_path):
    for number in range(5):
        vault.write(f"N{number}.md", f"# One\n\nalpha beta gamma camelCase a_b {number}\n\n## Two\n\nİ ß 潮位\n")
    expected = vault.build().sha256
    for seed in ("0", "1", "12345"):
        run = [sys.executable, "-c", BUILD, str(vault.root), str(tmp_path / seed)]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(SCRIPTS)}
        assert subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout.strip() == expected


@pytest.mark.parametrize(
    ("options", "sha256"),
    [
        (IndexOptions(), "131333793d8cc31b465e1c28aee0cc86ea3d9e2f1cceb2a983e4c495f6591709"),
        (IndexOptions(ChunkSizes(60, 90, 20), prefix="none"), "d118ea46f5354daabfaf1b877e657c33b129d08d9674b54fe05446dcb8fd7410"),
    ],
)
def test_the_same_notes_give_the_bytes_they_always_gave(vault, options, sha256):
    """Where these digests change, so do the format or its sections: indexes made before must not be taken for those made now."""
    vault.write(
        "Sea/Tide tables.md", "---\ntitle: Almanac\naliases: [Ebb]\ntags: [harbour/berth]\n---\nsee v1.2.3\n\n# Spring\n\nneap\n"
    )
    vault.write(
        "Café.md", "# getUserProfile()\n\nsnake_case_name __init__ a@b.example\n\n## 潮位\n\n系统的潮位表在这里。GitHub备份\n"
    )
    vault.write(
        "Long.md",
        "# One\n\n- a\n- b\n  ```\n  # code\n  ```\n\n" + "The sextant lay in the drawer. " * 90 + "\n\nTwo\n===\n\nend\n",
    )
    assert vault.build(options).sha256 == sha256


def test_the_index_holds_neither_a_path_nor_a_time(vault):
    path = vault.write("Sea/A.md", BROKEN)
    vault.write("Bad.md", b"\xff")
    os.utime(path, ns=(1_600_000_000_123_456_789, 1_600_000_000_123_456_789))
    data = index_bytes(vault, vault.build())
    assert str(vault.root).encode() not in data
    assert vault.root.parent.name.encode() not in data
    assert b"1600000000" not in data
    os.utime(path, ns=(0, 0))
    assert index_bytes(vault, vault.build()) == data == full_build(vault)


def test_two_vaults_of_equal_notes_have_equal_indexes_with_other_seals(make_vault):
    one, other = make_vault(**{"A.md": "text\n"}), make_vault(**{"A.md": "text\n"})
    assert index_bytes(one, one.build()) == index_bytes(other, other.build())
    assert (one.folder / "seal.json").read_bytes() != (other.folder / "seal.json").read_bytes()


def test_what_killed_builds_left_is_removed_once_it_is_a_day_old(vault):
    vault.write("A.md", "one\n")
    vault.folder.mkdir()
    for name in ("index-0123456789abcdef.bin", ".0123456789abcdef.tmp", ".fedcba9876543210.tmp", "index-mine.bin", "notes.txt"):
        (vault.folder / name).write_bytes(b"left")
    for name in ("index-0123456789abcdef.bin", ".0123456789abcdef.tmp", "index-mine.bin"):
        os.utime(vault.folder / name, (0, 0))
    result = vault.build()
    kept = {Path(result.path).name, "seal.json", "states.json", ".fedcba9876543210.tmp", "index-mine.bin", "notes.txt"}
    assert set(files(vault.folder)) == kept


def test_an_index_that_was_replaced_is_removed(vault):
    vault.write("A.md", "one\n")
    first = vault.build()
    vault.write("A.md", "two\n")
    second = vault.build()
    assert set(files(vault.folder)) == {Path(second.path).name, "seal.json", "states.json"}
    assert first.path != second.path


def test_a_folder_that_cannot_be_made_is_said_and_nothing_is_written(vault):
    vault.write("A.md", "one\n")
    vault.folder.write_text("a file stands here")
    with pytest.raises(VaultEvalError, match="could not be made"):
        vault.build()
    assert vault.folder.read_text() == "a file stands here"


def test_a_full_disk_leaves_the_old_index_valid(vault, monkeypatch):
    vault.write("A.md", "one\n")
    first = vault.build()
    vault.write("A.md", "two\n")

    def full(path, parts, mode=0o600):
        raise VaultEvalError(f"{path!r} could not be written: No space left on device")

    monkeypatch.setattr("vault_eval.index.seal.write_atomically", full)
    with pytest.raises(VaultEvalError, match="No space left"):
        vault.build()
    index, sha256 = open_index(str(vault.folder), vault.id, verify=True)
    index.close()
    assert sha256 == first.sha256


def test_progress_counts_all_notes(vault):
    from vault_eval.index.build import build_index
    from vault_eval.vault.snapshot import open_snapshot

    for number in range(3):
        vault.write(f"N{number}.md", "text\n")
    seen = []
    with open_snapshot(str(vault.root)) as snapshot:
        build_index(
            snapshot.reader,
            snapshot.listing,
            IndexOptions(),
            str(vault.folder),
            vault.id,
            0,
            lambda done, total: seen.append((done, total)),
        )
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
