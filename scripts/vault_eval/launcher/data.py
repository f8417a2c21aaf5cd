"""The data folder: environments, indexes, reports, history, and each vault's settings."""

from __future__ import annotations

import os
import sys

_NEXT = "Name the folder that vault-eval may keep its data in, with --data DIR or VAULT_EVAL_DATA."


def data_folder(argv_value: str | None) -> str:
    """The absolute data folder: `argv_value` (that of `--data`), else `$VAULT_EVAL_DATA`, else the platform's place.

    Nothing is created. Raises UsageError for an empty `--data`, and where there is no home folder to fall back on.
    """
    folder, problem = find_data_folder(argv_value)
    if folder is None:
        from vault_eval.errors import UsageError

        raise UsageError(problem)
    return folder


def find_data_folder(argv_value: str | None) -> tuple[str | None, str]:
    """The data folder and "", or None and the sentence that says why there is none."""
    if argv_value == "":
        return None, f"--data is empty. {_NEXT}"
    given = argv_value or os.environ.get("VAULT_EVAL_DATA")
    if given:
        return os.path.abspath(os.path.expanduser(given)), ""
    if os.name == "nt":
        return _below("LOCALAPPDATA", os.environ.get("LOCALAPPDATA", ""))
    if sys.platform == "darwin":
        return _below("HOME", _home(), "Library", "Application Support")
    xdg = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(xdg):  # the XDG specification has relative values ignored
        return os.path.join(xdg, "vault-eval"), ""
    return _below("HOME", _home(), ".local", "share")


def make_private(folder: str) -> None:
    """Create `folder`, with mode 0700 where it is new; OSError where that is impossible."""
    os.makedirs(folder, mode=0o700, exist_ok=True)


def is_private(folder: str) -> bool:
    """Whether `folder` exists and nobody but this person can put a file there: what lies in it is executed."""
    try:
        state = os.stat(folder)
    except (OSError, ValueError):
        return False
    return os.name == "nt" or (state.st_uid == os.geteuid() and not state.st_mode & 0o022)


def _home() -> str:
    return os.environ.get("HOME", os.path.expanduser("~"))


def _below(variable: str, base: str, *names: str) -> tuple[str | None, str]:
    if os.path.isabs(base) and os.path.isdir(base):
        return os.path.join(base, *names, "vault-eval"), ""
    return None, f"There is no folder for this person's data: {variable} is {base!r}, which is no folder. {_NEXT}"


def environment_python(environment: str) -> str:
    """The interpreter of a private environment: the one program in it that the rename after building leaves usable."""
    return os.path.join(environment, "Scripts", "python.exe") if os.name == "nt" else os.path.join(environment, "bin", "python")
