"""Runs the scripts in forked children of one warm interpreter: the same files with the same arguments, without its start.

Each line on stdin is a request `[script, arguments, cwd, stdout file, stderr file]`; each line on stdout answers with
`[exit code, largest resident size]`. `test_server.py` holds what comes of it to what a process of its own would do.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
import traceback
from importlib import import_module

PRELOADED = (
    *("frontmatter", "jinja2", "markdown_it", "yaml"),
    *("vault_eval.cli.bench", "vault_eval.cli.index", "vault_eval.reports.html_report", "vault_eval.index.build"),
)


def serve(scripts: str) -> None:
    """Answer requests until stdin ends."""
    sys.dont_write_bytecode = True
    sys.path[0] = scripts
    for name in PRELOADED:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(*json.loads(line))
        _, status, used = os.wait4(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss]), flush=True)


def _run(script: str, arguments: list[str], cwd: str, out: str, err: str) -> None:
    """Be the process of one script; never returns."""
    encoding = sys.stdout.encoding
    for descriptor, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        os.dup2(os.open(path, flags), descriptor)
    sys.stdin = sys.__stdin__ = open(0, encoding=encoding, closefd=False)  # noqa: SIM115 - lives as long as the process
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.FileIO(1, "wb", closefd=False), encoding)
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(
        io.FileIO(2, "wb", closefd=False), encoding, "backslashreplace", line_buffering=True
    )
    os.chdir(cwd)
    sys.argv = [script, *arguments]
    sys.orig_argv = [sys.executable, *sys.argv]
    code: object = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as stop:
        code = stop.code or 0
    except BaseException:  # noqa: BLE001 - as the interpreter does at its end
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    serve(sys.argv[1])
