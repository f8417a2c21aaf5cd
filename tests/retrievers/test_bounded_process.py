"""Programs that hang, shout, die or leave others behind: each ends in time, with a sentence or with all it printed."""

from __future__ import annotations

import sys
import time

import pytest

from vault_eval.retrievers.bounded_process import Finished, ProcessFailedError, run_bounded, telling_line

needs_groups = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")


def run(*argv: str, **bounds) -> Finished:
    given = {"cwd": None, "env": None, "stdin": None, "timeout_seconds": 20, "max_bytes": 10_000, **bounds}
    return run_bounded(argv, **given)


def python(code: str, **bounds) -> Finished:
    return run(sys.executable, "-I", "-c", code, **bounds)


def test_output_exit_code_and_stdin_are_the_programs_own(tmp_path):
    code = "import os, sys; print(sys.stdin.read(), os.getcwd(), os.environ['A']); print('e', file=sys.stderr); sys.exit(3)"
    done = python(code, stdin=b"in", cwd=str(tmp_path), env={"A": "1"})
    assert (done.returncode, done.stdout.split(), done.stderr.split()) == (3, [b"in", str(tmp_path).encode(), b"1"], [b"e"])


def test_arguments_are_never_read_by_a_shell():
    words = ["$HOME", "`id`", "; echo x", "a  b", "*", "-c"]
    assert python("import sys; print(sys.argv[1:])").stdout == b"[]\n"
    assert run(sys.executable, "-I", "-c", "import sys; print(sys.argv[1:])", *words).stdout.decode() == f"{words}\n"


def test_program_without_a_given_stdin_finds_its_end():
    assert python("import sys; print(len(sys.stdin.read()))").stdout == b"0\n"


def test_program_that_never_reads_its_stdin_is_no_failure():
    assert python("pass", stdin=b"x" * 5_000_000).returncode == 0


def test_program_that_takes_too_long_is_stopped_in_time():
    started = time.monotonic()
    with pytest.raises(ProcessFailedError, match=r"took longer than 0\.2 seconds$"):
        python("import time; time.sleep(60)", timeout_seconds=0.2)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_output_is_stopped_and_is_no_answer(stream):
    with pytest.raises(ProcessFailedError, match=r"wrote more than 10,000 bytes$"):
        python(f"import sys\nwhile True: sys.{stream}.write('y' * 1000)")


def test_output_of_exactly_the_limit_is_kept_whole_and_a_byte_more_is_too_much():
    assert len(python("print('y' * 9_999)").stdout) == 10_000
    with pytest.raises(ProcessFailedError, match=r"wrote more than 10,000 bytes$"):
        python("print('y' * 10_000)")


@needs_groups
def test_processes_that_a_program_started_end_with_it(tmp_path):
    late = tmp_path / "late"
    for code in (f"(sleep 0.5; : > '{late}') & sleep 60", f"(sleep 0.5; : > '{late}') & echo done"):
        try:
            assert run("/bin/sh", "-c", code, timeout_seconds=0.2).stdout == b"done\n"
        except ProcessFailedError as error:
            assert "took longer" in str(error)  # noqa: PT017 - the first of the two
    time.sleep(0.7)
    assert not late.exists()


@needs_groups
def test_process_that_left_the_group_holds_a_query_up_no_longer_than_the_limit():
    left = "subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(6)'], start_new_session=True)"
    started = time.monotonic()
    with pytest.raises(ProcessFailedError, match="a process that it left behind keeps its output open"):
        python(f"import subprocess, sys; {left}", timeout_seconds=1.5)
    assert time.monotonic() - started < 3  # once for both streams, not once for each


@needs_groups
def test_program_ended_by_a_signal_has_its_negative_number():
    assert run("/bin/sh", "-c", "kill -9 $$").returncode == -9


@pytest.mark.parametrize(
    ("argv", "reason"), [(("no-such-program",), "No such file"), (("a\0b",), "null"), (("/",), "Permission")]
)
def test_program_that_cannot_be_started_says_why(argv, reason):
    with pytest.raises(ProcessFailedError, match=f"could not be started: .*{reason}"):
        run(*argv)


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        (b"", ""),
        (b"one\ntwo\n\n", "two"),
        (b"Traceback\n    raise ValueError('no')\nValueError: no\n", "ValueError: no"),
        (b"throw new TypeError('no')\n\nTypeError: no\n    at f (x.js:1)\nNode.js v22\n", "TypeError: no"),
        (b"error: bad \xff\n", "error: bad \ufffd"),
    ],
)
def test_message_quotes_the_line_that_names_the_error(stderr, line):
    assert telling_line(stderr) == line
