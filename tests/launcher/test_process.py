"""A process ends at once, with its exit code and with all that it printed."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def ran(code, **streams):
    program = (
        f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\nfrom vault_eval.launcher.process import collect_seldom, end\n{code}"
    )
    return subprocess.run([sys.executable, "-I", "-c", program], capture_output=not streams, check=False, timeout=60, **streams)


@pytest.mark.parametrize("code", [0, 3, 130])
def test_what_was_printed_gets_out_and_the_code_is_kept(code):
    done = ran(f"print('x' * 100_000); print('said', file=sys.stderr, end=''); end({code})")
    assert (done.returncode, len(done.stdout), done.stderr) == (code, 100_001, b"said")


def test_nothing_is_taken_apart_at_the_end():
    done = ran("import atexit; atexit.register(print, 'taken apart'); end(0)")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_get_out_changes_no_exit_code_and_shows_no_traceback():
    with Path("/dev/full").open("wb") as full:
        done = ran("print('x'); end(3)", stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (3, b"")


def test_a_stream_that_is_closed_changes_no_exit_code():
    assert ran("sys.stdout.close(); end(4)").returncode == 4


def test_cycles_are_looked_for_seldom_and_still_found():
    done = ran("import gc; collect_seldom(); print(gc.isenabled(), *gc.get_threshold())")
    assert done.stdout.split() == [b"True", b"300000", *(str(number).encode() for number in gc.get_threshold()[1:])]
