from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PROBE = """\
import os, sys
sys.path.insert(0, {scripts!r})
from vault_eval.launcher.encoding import read_names_as_utf8
read_names_as_utf8()
print(sys.getfilesystemencoding(), sys.argv[1] == "\\u6f6e", sys.stdout.encoding, sorted(n for n in os.environ if "UTF8" in n))
"""


def start(tmp_path: Path, *options: str, **variables: str) -> list[str]:
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE.format(scripts=str(SCRIPTS)), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    done = subprocess.run(
        [sys.executable, *options, probe, "潮".encode()],
        capture_output=True,
        env=environment | variables,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("ascii").split(maxsplit=3)


def test_names_are_read_as_utf8_whatever_the_locale(tmp_path):
    encoding, right, _, left = start(tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (encoding, right, left.strip()) == ("utf-8", "True", "['PYTHONUTF8']")


def test_what_is_printed_keeps_its_encoding(tmp_path):
    assert start(tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="cp1252")[2] == "cp1252"
    assert start(tmp_path, LC_ALL="C", PYTHONUTF8="0")[2] == "ascii"


def test_an_interpreter_that_is_told_otherwise_starts_anew_once(tmp_path):
    assert start(tmp_path, "-X", "utf8=0", LC_ALL="C")[0] == "utf-8"


def test_nothing_is_started_anew_in_a_utf8_locale(tmp_path):
    assert start(tmp_path, LC_ALL="C.UTF-8")[:2] == ["utf-8", "True"]
