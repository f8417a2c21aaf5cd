from __future__ import annotations

import pytest

from vault_eval.digests import sha256_hex
from vault_eval.errors import ChangedError
from vault_eval.rankings.binding import BoundFile, label_file, refuse_changes
from vault_eval.vault.reader import FolderReader, read_outside


@pytest.fixture
def reader(tmp_path):
    (tmp_path / "vault").mkdir()
    with FolderReader(str(tmp_path / "vault")) as opened:
        yield opened


def write(reader, *names: str, text="moon"):
    for name in names:
        with open(f"{reader.root}/{name}", "w", encoding="utf-8") as file:  # noqa: PTH123 - the root is text
            file.write(text)


def refusal(files, reader):
    with pytest.raises(ChangedError) as error:
        refuse_changes(files, reader)
    assert error.value.exit_code == 2
    assert "pause sync and run again" in str(error.value)
    return str(error.value)


def test_nothing_bound_and_nothing_changed_is_well(reader):
    write(reader, "Tides.md")
    reader.read("Tides.md")
    refuse_changes([BoundFile("the index", "a", lambda: "a")], reader)
    refuse_changes([], reader)


def test_label_file_is_held_to_the_bytes_that_were_parsed(tmp_path, reader):
    place = tmp_path.resolve() / "labels.json"
    place.write_bytes(b"{}")
    bound = label_file("labels.json", b"{}", lambda: read_outside(str(place), 100))
    assert (bound.name, bound.sha256) == ("the label file 'labels.json'", sha256_hex(b"{}"))
    refuse_changes([bound], reader)
    place.write_bytes(b"{} ")
    assert refusal([bound], reader).startswith("the label file 'labels.json' changed while it was measured")
    place.unlink()
    assert "labels.json" in refusal([bound], reader)
    place.symlink_to("elsewhere.json")
    assert "labels.json" in refusal([bound], reader)


def test_label_file_touched_without_another_byte_is_the_same(tmp_path, reader):
    place = tmp_path.resolve() / "labels.json"
    place.write_bytes(b"{}")
    bound = label_file("labels.json", b"{}", lambda: read_outside(str(place), 100))
    place.unlink()
    place.write_bytes(b"{}")
    refuse_changes([bound], reader)


@pytest.mark.parametrize("now", ["b", None])
def test_index_that_is_another_or_gone_is_named(reader, now):
    files = [BoundFile("the label file 'x'", "a", lambda: "a"), BoundFile("the index", "a", lambda: now)]
    assert refusal(files, reader).startswith("the index changed while it was measured; ")


def test_pages_that_changed_are_named_bounded(reader):
    names = [f"{number}\n.md" for number in range(9)]
    write(reader, *names, "same.md")
    for name in (*names, "same.md"):
        reader.read(name)
    write(reader, *names[:2], text="sun and moon")
    assert refusal([], reader).startswith(r"'0\n.md', '1\n.md' changed while the vault was measured; ")
    write(reader, *names, text="sun and moon")
    message = refusal([], reader)
    assert r"'4\n.md' and 4 more changed" in message
    assert "same.md" not in message
    assert "\n" not in message


def test_page_that_was_not_read_may_change(reader):
    write(reader, "Tides.md", "Other.md")
    reader.read("Tides.md")
    write(reader, "Other.md", text="sun and moon")
    refuse_changes([], reader)
