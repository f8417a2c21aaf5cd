"""Whether this interpreter can go on, and the private environment that takes over where it cannot."""

from __future__ import annotations

import os
import sys

from vault_eval.launcher.data import environment_python, find_data_folder, is_private

TYPE_CHECKING = False  # `import typing` costs more than this module
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

# What the lock file brings: the name to import, and the name to install.
RUNTIME_PACKAGES = {
    "frontmatter": "python-frontmatter",
    "markdown_it": "markdown-it-py",
    "rich": "rich",
    "jinja2": "jinja2",
}

_SCRIPTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOCK = os.path.join(os.path.dirname(_SCRIPTS), "requirements", "runtime.txt")
# Names the environment that was started already, so that a damaged one cannot start itself for ever.
_STARTED = "VAULT_EVAL_STARTED_ENVIRONMENT"
_REBUILT = " (rebuilt)"
# Names the Python that a person started, for the lines that the environment tells them to run.
_STARTED_BY = "VAULT_EVAL_STARTED_BY"


def missing_packages(packages: Iterable[str]) -> tuple[str, ...]:
    """Those of `packages` (names to import) that this interpreter cannot import, in the order given."""
    from importlib.util import find_spec

    specs = {package: find_spec(package) for package in packages}
    # A mere folder of that name on the path is found too, as a namespace, which has no origin.
    return tuple(package for package, spec in specs.items() if spec is None or spec.origin is None)


def ensure(packages: Iterable[str], *, may_install: bool, data: str, command: str) -> None:
    """Return if `packages` (names to import) can be imported here; else start anew in the private environment.

    `command` names what needs the packages, for messages. The environment is built first where there is none,
    `may_install` is set and `VAULT_EVAL_NO_INSTALL` is not. Raises MissingPackageError with what to run.
    """
    missing = missing_packages(packages)
    started = os.environ.pop(_STARTED, "")
    if not missing:
        return
    names = [RUNTIME_PACKAGES.get(package, package) for package in missing]
    wanted = f"{command} needs {', '.join(names)}, which this Python ({sys.executable}) lacks."
    if not set(missing) <= set(RUNTIME_PACKAGES) or not os.path.isfile(LOCK):
        refuse(f"{wanted} Run: {pip_command(names)}")
    environment = environment_folder(data)
    if started == environment + _REBUILT:
        refuse(f"{wanted} It was just installed into {environment}, in vain; remove that folder and run the command again.")
    damaged = started == environment
    if damaged or not is_usable(environment):
        if not may_install:
            refuse(f"{wanted} Run: {doctor_command(data)}")
        refuse_where_forbidden(data, because=f"{wanted} ")
        from vault_eval.launcher.build import build

        build(environment, LOCK, RUNTIME_PACKAGES)
    _go_on_with(environment, environment + _REBUILT if damaged else environment)


def environment_folder(data: str) -> str:
    """Where the private environment of this lock file, Python version and platform lies, built or not."""
    import hashlib
    import sysconfig

    tag = str(sys.implementation.cache_tag)
    with open(LOCK, "rb") as lock:
        digest = hashlib.sha256(lock.read())
    digest.update("\n".join(["", tag, getattr(sys, "abiflags", ""), sysconfig.get_platform()]).encode())
    return os.path.join(data, "environments", f"{tag}-{digest.hexdigest()[:16]}")


def is_usable(environment: str) -> bool:
    """Whether the private environment is there and nobody else could have changed it."""
    # `isfile` follows the link, so an environment whose Python was removed from the system is not usable.
    return is_private(os.path.dirname(environment)) and os.path.isfile(environment_python(environment))


def _go_on_with(environment: str, started: str) -> NoReturn:
    """Run the same command line in the environment, with `-I`: no `PYTHONPATH` may shadow what was locked."""
    utf8 = ["-X", "utf8"] if sys.flags.utf8_mode else []
    command = [environment_python(environment), "-I", *utf8, *sys.orig_argv[1:]]
    os.environ[_STARTED_BY] = _starter(environment)
    os.environ[_STARTED] = started
    if os.name == "nt":  # execv returns to the shell at once there
        import subprocess

        raise SystemExit(subprocess.call(command))
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(command[0], command)
    except OSError as error:
        refuse(f"{command[0]} does not start: {error.strerror}. Remove {environment}, or name another folder with --data DIR.")


def refuse_where_forbidden(data: str, extras: Sequence[str] = (), *, because: str = "") -> None:
    """Raises MissingPackageError where `VAULT_EVAL_NO_INSTALL` is set, with the line that would install."""
    if os.environ.get("VAULT_EVAL_NO_INSTALL", "0") not in ("", "0"):
        line = doctor_command(data, extras)
        refuse(f"{because}VAULT_EVAL_NO_INSTALL is set, so nothing was installed. Unset it and run: {line}")


def doctor_command(data: str, extras: Sequence[str] = ()) -> str:
    """The one line that builds the private environment below `data`, and installs these extras into it."""
    own_place = [] if data == find_data_folder(None)[0] else ["--data", data]
    python = _as_typed(_starter(environment_folder(data)))
    return _command_line([python, os.path.join(_SCRIPTS, "vault-eval.py"), "doctor", "--install", *extras, *own_place])


def pip_command(requirements: Iterable[str]) -> str:
    """The one line that installs these for this interpreter, beside what it has."""
    import shutil
    from importlib.util import find_spec

    if find_spec("pip") is None and shutil.which("uv"):
        return _command_line(["uv", "pip", "install", "--python", sys.executable, *requirements])
    return _command_line([_as_typed(sys.executable), "-m", "pip", "install", *requirements])


def _starter(environment: str) -> str:
    """The Python that the person started: this one, or the one that the private environment took over from."""
    before = os.environ.get(_STARTED_BY, "") if sys.prefix == environment else ""
    return before if os.path.isfile(before) else sys.executable


def _as_typed(python: str) -> str:
    """`python3` where that is this very interpreter, not one that a virtual environment was made from; else its path."""
    import shutil

    found = shutil.which("python3")
    if found is None or os.path.realpath(found) != os.path.realpath(python):
        return python
    return "python3" if os.path.realpath(os.path.dirname(found)) == os.path.realpath(os.path.dirname(python)) else python


def _command_line(words: Sequence[str]) -> str:
    if os.name == "nt":
        import subprocess

        return subprocess.list2cmdline(words)
    import shlex

    return shlex.join(words)


def refuse(message: str) -> NoReturn:
    """Raises MissingPackageError, which is imported only then."""
    from vault_eval.errors import MissingPackageError

    raise MissingPackageError(message)
