"""A build that is killed, or that runs beside another one: a whole index is there, or none, never a mixture."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vault_eval.errors import IndexUnusableError
from vault_eval.index.seal import open_index

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
BUILD = """\
import sys
from vault_eval.index.build import build_index
from vault_eval.index.options import IndexOptions
from vault_eval.vault.snapshot import open_snapshot

with open_snapshot(sys.argv[1]) as snapshot:
    print("started", flush=True)
    result = build_index(snapshot.reader, snapshot.listing, IndexOptions(), sys.argv[2], sys.argv[3], 0, lambda done, total: None)
print(result.sha256, flush=True)
"""


def start(vault):
    run = [sys.executable, "-c", BUILD, str(vault.root), str(vault.folder), vault.id]
    return subprocess.Popen(run, env={**os.environ, "PYTHONPATH": str(SCRIPTS)}, stdout=subprocess.PIPE, text=True)


def opened(vault):
    """The digest of the index that is valid now, or None."""
    try:
        index, sha256 = open_index(str(vault.folder), vault.id, verify=True)
    except IndexUnusableError:
        return None
    index.close()
    return sha256


def fill(vault, word):
    for number in range(150):
        vault.write(f"N{number:03}.md", f"# Note {number}\n\n" + f"{word}{number % 9} words of a note " * 40)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_killed_build_leaves_the_old_index_or_the_new_one(make_vault):
    vault = make_vault()
    fill(vault, "old")
    old = vault.build().sha256
    fill(vault, "new")
    process = start(vault)
    began = time.perf_counter()
    new = process.communicate()[0].split()[-1]
    whole = time.perf_counter() - began
    assert new == opened(vault) != old
    for part in range(20):
        fill(vault, f"old{part}x")
        before = vault.build().sha256
        fill(vault, "new")
        process = start(vault)
        assert process.stdout.readline() == "started\n"
        time.sleep(whole * part / 20)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert opened(vault) in {before, new}
    assert vault.build().sha256 == new == opened(vault)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("step", range(12))
def test_a_build_that_dies_at_any_step_of_writing_leaves_the_old_index_or_the_new_one(make_vault, step):
    """The process ends without a word at the n-th call that changes the disk."""
    vault = make_vault(**{"A.md": "one\n"})
    old = vault.build().sha256
    vault.write("A.md", "two\n")
    dying = f"""\
import os
calls = 0
def die(call):
    def wrapped(*arguments, **named):
        global calls
        calls += 1
        if calls > {step}:
            os._exit(9)
        return call(*arguments, **named)
    return wrapped
os.replace, os.fsync, os.unlink = die(os.replace), die(os.fsync), die(os.unlink)
"""
    run = [sys.executable, "-c", dying + BUILD, str(vault.root), str(vault.folder), vault.id]
    done = subprocess.run(run, env={**os.environ, "PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    left = opened(vault)
    new = vault.build().sha256
    assert left in {old, new}
    assert opened(vault) == new != old


def test_builds_beside_each_other_end_with_a_whole_index(make_vault):
    vault = make_vault()
    fill(vault, "old")
    for round_ in range(3):
        (vault.root / "N000.md").write_text(f"round {round_}\n")
        processes = [start(vault) for _ in range(4)]
        printed = []
        for number, process in enumerate(processes):
            (vault.root / "N001.md").write_text(f"changed under them {round_} {number}\n")
            printed.append(process.communicate()[0].split()[-1])
            assert process.returncode == 0
        assert opened(vault) in printed
