"""Disks that are full, failing or not to be written to, and a process that may not open more files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fault_injection.workspace import SCRIPT, Row, Workspace, build, evaluate, figures, finish, lay_out, left_behind, start

_SYSTEM_CALLS = (("fsync", "EIO"), ("fsync", "ENOSPC"), ("replace", "EACCES"), ("replace", "EXDEV"), ("open", "ENOSPC"))
_STEPS_MAX = 12

# Limits the process, or has one call of the operating system fail that often in a row, and then runs the script.
_LIMITER = """
import errno, os, resource, runpy, sys
what, amount = sys.argv[1], int(sys.argv[2])
sys.argv = sys.argv[3:]
sys.path[:0] = [os.path.dirname(sys.argv[0])]
if what in ("FSIZE", "NOFILE"):
    limit = getattr(resource, "RLIMIT_" + what)
    resource.setrlimit(limit, (amount, amount))
else:
    name, code = what.split(":")
    real, calls = getattr(os, name), [0]
    def failing(*arguments, **keywords):
        if name != "open" or (arguments[1] & os.O_CREAT):
            calls[0] += 1
            if calls[0] == amount:
                raise OSError(getattr(errno, code), os.strerror(getattr(errno, code)), str(arguments[0]))
        return real(*arguments, **keywords)
    setattr(os, name, failing)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def disk(folder: Path, size: float, _seed: int) -> list[Row]:
    """Every row of this module; `size` 1.0 takes about half a minute."""
    folder.mkdir(parents=True)
    workspace = lay_out(folder, 20)
    build(workspace)
    kept = folder / "kept"
    shutil.copytree(workspace.index, kept)
    workspace.write("New.md", "a new note on the drain pump\n")
    right = {figures(workspace)}
    build(workspace)
    right.add(figures(workspace))
    limiter = folder / "limiter.py"
    limiter.write_text(_LIMITER, encoding="utf-8")
    rows = [*_limited(workspace, kept, limiter, right, size), *_failing(workspace, kept, limiter, right)]
    rows += [_few_files(workspace, limiter, size), _standard_output(workspace), *_mounted(workspace, size)]
    shutil.rmtree(folder)
    return rows


def _limited(workspace: Workspace, kept: Path, limiter: Path, right: set[str], size: float) -> list[Row]:
    largest = max(path.stat().st_size for path in kept.iterdir())
    count = max(4, int(16 * size))
    limits = [0, 1, 512, *(largest * step // count for step in range(1, count + 1))]
    index, report = Row("disk full (RLIMIT_FSIZE), index refresh"), Row("disk full (RLIMIT_FSIZE), report")
    for limit in limits:
        _refresh(index, workspace, kept, right, ["FSIZE", str(limit)], limiter)
    for limit in limits:
        _report(report, workspace, ["FSIZE", str(limit)], limiter)
    return [index, report]


def _failing(workspace: Workspace, kept: Path, limiter: Path, right: set[str]) -> list[Row]:
    rows = []
    for name, code in _SYSTEM_CALLS:
        row = Row(f"os.{name} fails once with {code}")
        for step in range(1, _STEPS_MAX):
            if not _refresh(row, workspace, kept, right, [f"{name}:{code}", str(step)], limiter):
                break
        for step in range(1, _STEPS_MAX):
            if not _report(row, workspace, [f"{name}:{code}", str(step)], limiter):
                break
        rows.append(row)
    return rows


def _refresh(row: Row, workspace: Workspace, kept: Path, right: set[str], limit: list[str], limiter: Path) -> bool:
    """A refresh under a limit: exit 2 with the reason and the old index, or the new one. Returns whether the limit was felt."""
    shutil.rmtree(workspace.index)
    shutil.copytree(kept, workspace.index)
    shutil.rmtree(workspace.data, ignore_errors=True)
    code, said = finish(start([*limit, str(SCRIPT), *workspace.index_command()], script=limiter))
    answer = evaluate(workspace)
    if _bad_ending(row, code, said, limit, left_behind(workspace.index, workspace.data)):
        return True
    if answer.figures not in right:
        row.lose(f"{limit}: exit {code}; the evaluation afterwards: exit {answer.code} {answer.said[:200]}")
    else:
        row.took(f"exit {code}, old or new index whole")
    return code != 0


def _report(row: Row, workspace: Workspace, limit: list[str], limiter: Path) -> bool:
    """A report under a limit: exit 2 with the reason and the old file, or the new one."""
    out = workspace.folder / "out.json"
    out.write_bytes(b"the old report")
    code, said = finish(start([*limit, str(SCRIPT), *workspace.bench_command("--out", str(out))], script=limiter))
    if _bad_ending(row, code, said, limit, left_behind(workspace.folder)):
        return True
    is_old = out.read_bytes() == b"the old report"
    if is_old == (code == 0):
        row.lose(f"{limit}: exit {code}, and the report is {'old' if is_old else 'another'}")
    else:
        row.took(f"exit {code}, {'old' if is_old else 'new'} report whole")
    return code != 0


def _bad_ending(row: Row, code: int, said: str, limit: Sequence[str], left: list[Path]) -> bool:
    if "Traceback" in said or code not in (0, 2):
        row.lose(f"{limit}: exit {code} {said.strip()[-300:]}")
    elif left:
        row.lose(f"{limit}: exit {code} left {left[0].name}")
    elif code == 2 and not said.startswith("vault-eval: "):
        row.lose(f"{limit}: exit 2 without a message")
    else:
        return False
    return True


def _few_files(workspace: Workspace, limiter: Path, size: float) -> Row:
    """An evaluation that may open few files: a refusal, or the right figures; never a note that silently counts as gone."""
    row = Row("few files may be open (RLIMIT_NOFILE)")
    out = workspace.folder / "few.json"
    build(workspace)
    right = figures(workspace)
    for limit in range(4, 24, 1 if size >= 1 else 5):
        out.unlink(missing_ok=True)
        line = ["NOFILE", str(limit), str(SCRIPT), *workspace.bench_command("--out", str(out))]
        code, said = finish(start(line, script=limiter))
        if code == 0 and _figures(out) == right:
            row.took("the right result")
        elif code == 0:
            row.lose(f"limit {limit}: exit 0 with other figures")
        elif not said or code not in (1, 2, 10, 70):  # below about 8 the interpreter itself does not start
            row.lose(f"limit {limit}: exit {code} {said[:200]}")
        else:
            row.took(f"exit {code}, no figures")
    return row


def _figures(report: Path) -> str:
    content = json.loads(report.read_bytes())
    del content["timing"]
    return json.dumps(content)


def _standard_output(workspace: Workspace) -> Row:
    """A stdout that is full, closed, or read by nobody: no traceback, and no exit 0 where the figures did not get out."""
    row = Row("stdout or stderr full, closed, or read by nobody")
    allowed = {">/dev/full": (2,), ">&-": (0, 2), "| nobody": (0, 130), "2>&-": (0,), "2>/dev/full": (0,)}
    for redirection, codes in allowed.items():
        for form in ("text", "json", "markdown"):
            code, said = _redirected(workspace.bench_command("--format", form), redirection)
            if "Traceback" in said or "Exception ignored" in said or code not in codes:
                row.lose(f"{redirection} {form}: exit {code} {said.strip()[-300:]}")
            else:
                row.took(f"exit {code} for {redirection}")
    return row


def _redirected(argv: list[str], redirection: str) -> tuple[int, str]:
    if redirection != "| nobody":
        return finish(start(argv, "sh", "-c", f'"$@" {redirection}', "sh"))
    read, write = os.pipe()
    os.close(read)
    line = [sys.executable, "-I", str(SCRIPT), *argv]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def _mounted(workspace: Workspace, size: float) -> list[Row]:
    full, read_only = Row("disk full (a small tmpfs)"), Row("output folder mounted read-only")
    alone = next(
        (words for words in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]) if _permitted(words)), None
    )
    if alone is None:
        for row in (full, read_only):
            row.took("skipped: no mount namespace is permitted here")
        return [full, read_only]
    place, copied = workspace.folder / "disk", workspace.folder / "copied"
    place.mkdir()
    right = figures(workspace)
    for kib in range(4, 200, 12 if size >= 1 else 48):
        shutil.rmtree(copied, ignore_errors=True)
        script = f'mount -t tmpfs -o size={kib}k none "{place}" && "$@"; code=$?; cp -r "{place}" "{copied}"; exit $code'
        argv = ["index", "--vault", str(workspace.vault), "--index", str(place / "index"), "--data", str(workspace.data)]
        code, said = finish(start(argv, *alone, "sh", "-c", script, "sh"))
        answer = evaluate(_with_index(workspace, copied / "index"))
        is_right = not answer.figures or answer.figures == right
        if _bad_ending(full, code, said, [f"{kib} KiB"], left_behind(copied)):
            continue
        # Exit 2 and a whole index: only the states beside it found no room.
        if (code, answer.code) in ((0, 0), (2, 10), (2, 0)) and is_right:
            full.took(f"exit {code}, then exit {answer.code}")
        else:
            full.lose(f"{kib} KiB: exit {code}, then exit {answer.code} {answer.said[:200]}")
    for out in ("report.json", "report"):
        script = f'mount --bind "{place}" "{place}" && mount -o remount,ro,bind "{place}" && "$@"'
        code, said = finish(start(workspace.bench_command("--out", str(place / out)), *alone, "sh", "-c", script, "sh"))
        if code != 2 or "Read-only" not in said or "Traceback" in said or list(place.iterdir()):
            read_only.lose(f"{out}: exit {code} {said[:200]}")
        else:
            read_only.took("exit 2 that says so")
    return [full, read_only]


def _with_index(workspace: Workspace, index: Path) -> Workspace:
    shutil.rmtree(workspace.index, ignore_errors=True)
    if index.exists():
        shutil.copytree(index, workspace.index)
    return workspace


def _permitted(words: Sequence[str]) -> bool:
    try:
        return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
