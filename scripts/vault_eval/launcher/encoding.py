"""Names of files are UTF-8, whatever the locale says: a vault is shared between machines, and its index with it."""

from __future__ import annotations

import os
import sys

# Set while the same command line starts anew, so that `-X utf8=0` in it cannot start itself for ever.
_STARTED = "VAULT_EVAL_STARTED_UTF8"


def read_names_as_utf8() -> None:
    """Return where Python reads the names of files as UTF-8; else start the same command line anew in its UTF-8 mode.

    That is a locale such as `de_DE.ISO-8859-1`, or `C` with `PYTHONUTF8=0`. What is printed keeps the encoding it had.
    Returns, too, where this start was the second or cannot be made: names with other letters are then skipped, and said.
    """
    started = os.environ.pop(_STARTED, "")
    if started or sys.getfilesystemencoding().lower().replace("-", "") == "utf8":
        return
    printed = getattr(sys.stdout, "encoding", None)
    environment = {**os.environ, _STARTED: "1"}
    if printed:
        environment.setdefault("PYTHONIOENCODING", printed)
    command = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
    try:
        os.execve(command[0], command, environment)
    except OSError:
        return
