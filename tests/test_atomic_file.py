from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from vault_eval.atomic_file import append_line, make_private_folder, write_atomically
from vault_eval.errors import VaultEvalError

SCRIPTS = Path(__file__).parents[1] / "scripts"


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def refusal(path, parts=(b"new",)):
    with pytest.raises(VaultEvalError) as error:
        write_atomically(str(path), parts)
    assert repr(str(path)) in str(error.value)
    return str(error.value)


def full(*_: object):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_parts_are_written_one_after_the_other(tmp_path):
    write_atomically(str(tmp_path / "a"), [b"one ", memoryview(b"two "), memoryview(b"xthreex")[1:-1]])
    assert (tmp_path / "a").read_bytes() == b"one two three"
    assert [place.name for place in tmp_path.iterdir()] == ["a"]


def test_nothing_and_very_much_can_be_written(tmp_path):
    write_atomically(str(tmp_path / "empty"), [])
    write_atomically(str(tmp_path / "much"), (b"x" * 1_000_003 for _ in range(5)))
    assert ((tmp_path / "empty").stat().st_size, (tmp_path / "much").stat().st_size) == (0, 5_000_015)


def test_file_is_private_unless_asked_otherwise_and_replaced_whole(tmp_path):
    (tmp_path / "a").write_bytes(b"old and longer")
    (tmp_path / "a").chmod(0o644)
    before = os.umask(0)
    try:
        write_atomically(str(tmp_path / "a"), [b"new"])
        write_atomically(str(tmp_path / "b"), [b"new"], 0o644)
    finally:
        os.umask(before)
    assert ((tmp_path / "a").read_bytes(), mode(tmp_path / "a"), mode(tmp_path / "b")) == (b"new", 0o600, 0o644)


def test_name_without_a_folder_is_written_to_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("a", [b"new"])
    assert (tmp_path / "a").read_bytes() == b"new"


def test_link_is_replaced_and_its_goal_left_alone(tmp_path):
    (tmp_path / "goal").write_bytes(b"old")
    (tmp_path / "a").symlink_to("goal")
    write_atomically(str(tmp_path / "a"), [b"new"])
    assert not (tmp_path / "a").is_symlink()
    assert ((tmp_path / "goal").read_bytes(), (tmp_path / "a").read_bytes()) == (b"old", b"new")


def test_reader_that_is_in_the_middle_keeps_the_old_file(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with (tmp_path / "a").open("rb") as file:
        write_atomically(str(tmp_path / "a"), [b"new"])
        assert file.read() == b"old"


def test_bytes_are_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    steps = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append("sync"), sync(fd)))
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("rename"), replace(*paths)))
    write_atomically(str(tmp_path / "a"), [b"new"])
    assert steps == ["sync", "rename", "sync"]  # the bytes, the name, the folder that holds the name


@pytest.mark.parametrize("step", ["fsync", "replace", "open"])
def test_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, step, full)
    assert "No space left on device; free some space or name another place" in refusal(tmp_path / "a")
    monkeypatch.undo()
    assert [(place.name, place.read_bytes()) for place in tmp_path.iterdir()] == [("a", b"old")]


def test_disk_that_is_really_full_leaves_the_old_file_and_no_descriptor(tmp_path):
    mounted = tmp_path / "small"
    mounted.mkdir()
    try:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mounted)], capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip("this user may not mount")
    try:
        write_atomically(str(mounted / "a"), [b"old"])
        before = len(list(Path("/proc/self/fd").iterdir()))
        assert "No space left" in refusal(mounted / "a", [b"x" * 700_000] * 4)
        assert len(list(Path("/proc/self/fd").iterdir())) == before
        assert [(place.name, place.read_bytes()) for place in mounted.iterdir()] == [("a", b"old")]
        write_atomically(str(mounted / "a"), [b"new"])
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


def test_parts_that_fail_leave_the_old_file(tmp_path):
    (tmp_path / "a").write_bytes(b"old")

    def parts():
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(str(tmp_path / "a"), parts())
    assert [(place.name, place.read_bytes()) for place in tmp_path.iterdir()] == [("a", b"old")]


@pytest.mark.parametrize(
    ("path", "found"),
    [("nowhere/a", "No such file"), ("file/a", "Not a directory"), ("folder", "Is a directory"), ("x" * 300, "too long")],
)
def test_place_that_takes_no_file_is_named_with_the_reason(tmp_path, path, found):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert found in refusal(tmp_path / path)
    assert {place.name for place in tmp_path.iterdir()} == {"folder", "file"}


def test_folder_that_may_not_be_written_is_named_with_the_reason():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a").write_bytes(b"old")
        folder.chmod(0o555)
        was_root = os.geteuid() == 0
        if was_root:
            os.seteuid(65534)
        try:
            assert "Permission denied" in refusal(folder / "a")
        finally:
            if was_root:
                os.seteuid(0)
            folder.chmod(0o755)
        assert (folder / "a").read_bytes() == b"old"


WRITES_FOR_EVER = """\
import itertools, sys
from vault_eval.atomic_file import write_atomically
for letter in itertools.cycle("ab"):
    write_atomically(sys.argv[1], [letter.encode() * 300_000] * 3)
"""


def test_process_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path):
    place = tmp_path / "a"
    for number in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITES_FOR_EVER, str(place)], env={**os.environ, "PYTHONPATH": str(SCRIPTS)}
        )
        deadline = time.monotonic() + 20
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.003 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        data = place.read_bytes()
        assert len(data) == 900_000
        assert data in (b"a" * 900_000, b"b" * 900_000)
        place.unlink()
    left = [other.name for other in tmp_path.iterdir()]
    assert all(name.startswith(".") and name.endswith(".tmp") for name in left)


# Folders


def test_every_folder_that_is_made_is_private(tmp_path):
    before = os.umask(0o022)
    try:
        make_private_folder(str(tmp_path / "data" / "indexes" / "id"))
    finally:
        os.umask(before)
    assert [mode(tmp_path / path) for path in ("data", "data/indexes", "data/indexes/id")] == [0o700] * 3


def test_folder_that_is_there_keeps_its_mode(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    make_private_folder(str(tmp_path / "shared"))
    make_private_folder(str(tmp_path / "shared" / "mine"))
    make_private_folder(str(tmp_path / "shared" / "mine"))
    assert (mode(tmp_path / "shared"), mode(tmp_path / "shared" / "mine")) == (0o755, 0o700)


def test_folder_made_by_another_process_meanwhile_is_taken(tmp_path, monkeypatch):
    real = os.mkdir

    def quicker(path, *rest: int):
        real(path, *rest)
        real(path, *rest)

    monkeypatch.setattr(os, "mkdir", quicker)
    make_private_folder(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()


def test_relative_folder_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_private_folder("a/b")
    make_private_folder("")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(
    ("path", "found"),
    [("file", "File exists"), ("file/below", "File exists"), ("dangling", "File exists"), ("x" * 300, "too long")],
)
def test_folder_that_cannot_be_made_is_named_with_the_reason(tmp_path, path, found):
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(VaultEvalError, match=found) as error:
        make_private_folder(str(tmp_path / path))
    assert "--data or --out" in str(error.value)


def test_line_for_which_the_disk_has_no_room_is_an_error_and_the_lines_before_it_stay(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "kept.jsonl"
    append_line(str(path), b"first")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9, limits[1]))  # three bytes of the next line have room: no error of the system
    try:
        with pytest.raises(VaultEvalError, match="No space left"):
            append_line(str(path), b"second")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    append_line(str(path), b"third")
    assert path.read_bytes() == b"first\nsec\nthird\n"
