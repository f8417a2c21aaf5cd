"""One private environment, from the lock file or with more packages: made in a temporary folder, tried, renamed into place."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from vault_eval.errors import MissingPackageError
from vault_eval.launcher.data import environment_python, is_private, make_private

# A handful of wheels takes seconds; a step that outlasts this hangs on a network that answers nothing.
STEP_MAX_SECONDS = 300
# Nobody waits a day for a build: a temporary folder that old was broken off.
BROKEN_OFF_AFTER_SECONDS = 86_400
_LOG_LINE_MAX_CHARACTERS = 160
# A mere folder of that name can be imported too, as a namespace, which has no origin.
_IMPORT = "import importlib as i, sys; sys.exit(any(i.import_module(name).__spec__.origin is None for name in sys.argv[1:]))"
_TEMPORARY_PREFIX = ".building-"
# Settings of this person's shell that would send packages elsewhere, or others into the environment.
_LEFT_OUT = ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER", "PYTHONHOME", "PYTHONPATH")


@dataclass(frozen=True, slots=True)
class _Build:
    environment: str  # the folder that it is for
    temporary: str  # the folder that it is made in
    wanted: tuple[str, ...]  # what is to be installed, as pip is told
    packages: Mapping[str, str]  # name to import -> name to install
    kept: tuple[str, ...]  # names to import from what is there already: a copy of it is what is installed into

    @property
    def folder(self) -> str:
        return os.path.join(self.temporary, "environment")

    @property
    def log(self) -> str:
        return os.path.join(self.temporary, "log")


def build(environment: str, lock: str, packages: Mapping[str, str]) -> None:
    """Install `lock` (hash-checked requirements) for this interpreter into the folder `environment`.

    A usable environment is never touched; one that was there when the build began is replaced, and where another
    process put one there meanwhile, that one stays. Raises MissingPackageError, saying what to do about it.
    """
    _make(environment, ("--require-hashes", "--no-deps", "-r", lock), packages, kept=())


def extend(environment: str, packages: Mapping[str, str], *, kept: Iterable[str]) -> None:
    """Install `packages` (name to import -> requirement) into the folder `environment`, beside `kept`, which it has.

    Until all of them can be imported the environment stays as it was. Raises MissingPackageError, saying what to do about
    it, also where another process changed the environment meanwhile.
    """
    if not _make(environment, tuple(packages.values()), packages, kept=tuple(kept)):
        raise MissingPackageError(f"{environment} was changed by another command meanwhile; run the command again.")


def has(environment: str, packages: Iterable[str]) -> bool:
    """Whether the Python of an environment imports every one of `packages`."""
    silent = subprocess.DEVNULL
    check = _import_check(environment, packages)
    try:
        done = subprocess.run(
            check, stdin=silent, stdout=silent, stderr=silent, env=_surroundings(), timeout=STEP_MAX_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _make(environment: str, wanted: tuple[str, ...], packages: Mapping[str, str], *, kept: tuple[str, ...]) -> bool:
    """Whether the environment that was made is the one in its place now."""
    parent = os.path.dirname(environment)
    try:
        make_private(os.path.dirname(parent))
        make_private(parent)
        if not is_private(parent):
            raise PermissionError(0, "others may write there")
        temporary = tempfile.mkdtemp(prefix=_TEMPORARY_PREFIX, dir=parent)
    except OSError as error:
        raise _unwritable(parent, error) from None
    try:
        found = _identity(environment)
        _remove_broken_off(parent, now=os.stat(temporary).st_mtime)
        names = ", ".join(packages.values())
        print(f"vault-eval: installing {names} into {environment} (only once)", file=sys.stderr, flush=True)
        work = _Build(environment, temporary, wanted, packages, kept)
        if not _install(work):
            raise _not_built(work, kept_log=f"{environment}.log")
        return _put_in_place(work, found)
    except OSError as error:
        raise _unwritable(parent, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _install(work: _Build) -> bool:
    """Whether one of the ways gave an environment whose Python imports every package."""
    check = _import_check(work.folder, (*work.kept, *work.packages))
    for new, *steps in _ways(work):
        if work.kept:
            _copy(work.environment, work.folder)
        if all(_run(step, work) for step in [*([] if work.kept else [new]), *steps, check]):
            return True
        shutil.rmtree(work.folder, ignore_errors=True)
    return False


def _ways(work: _Build) -> Iterator[list[list[str]]]:
    """The command lines of each way that this machine has, the quickest first: the first line of each makes a new environment."""
    python, base = environment_python(work.folder), _base_python()
    uv = shutil.which("uv")
    if uv:
        yield [
            [uv, "venv", "--python", base, work.folder],
            [uv, "pip", "install", "--compile-bytecode", "--python", python, *work.wanted],
        ]
    pip = ["-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
    venv = [base, "-I", "-m", "venv", "--without-pip", work.folder]
    if find_spec("pip"):  # 22.3 or newer, since older ones know no --python
        yield [venv, [sys.executable, *pip, "--python", python, "install", *work.wanted]]
    if find_spec("ensurepip"):
        yield [venv, [python, "-I", "-m", "ensurepip"], [python, *pip, "install", *work.wanted]]


def _copy(environment: str, folder: str) -> None:
    try:
        shutil.copytree(environment, folder, symlinks=True)
    except shutil.Error as error:  # of many files, each with its reason
        raise OSError(0, str(error.args[0][0][-1])) from None


def _import_check(environment: str, packages: Iterable[str]) -> list[str]:
    return [environment_python(environment), "-I", "-c", _IMPORT, *packages]


def _base_python() -> str:
    """The interpreter below a virtual environment: before 3.11, one made from another breaks when that is removed."""
    name = "python.exe" if os.name == "nt" else os.path.join("bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    base = os.path.join(sys.base_exec_prefix, name)
    return base if sys.prefix != sys.base_prefix and os.path.isfile(base) else sys.executable


def _surroundings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _LEFT_OUT} | {"UV_PYTHON_DOWNLOADS": "never"}


def _run(step: list[str], work: _Build) -> bool:
    with open(work.log, "ab") as log:
        log.write(f"$ {shlex.join(step)}\n".encode("utf-8", "backslashreplace"))
        log.flush()
        try:
            # The working directory is ours, so that no project of this person is taken for the one to install.
            step_process = subprocess.Popen(
                step,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=work.temporary,
                env=_surroundings(),
                start_new_session=True,
            )
        except OSError as error:
            log.write(f"not started: {error}\n".encode("utf-8", "backslashreplace"))
            return False
        try:
            return step_process.wait(STEP_MAX_SECONDS) == 0
        except subprocess.TimeoutExpired:
            log.write(f"no end after {STEP_MAX_SECONDS} seconds\n".encode())
            return False
        finally:
            _end_all(step_process)


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """End a step with all that it started: pip starts a process that would go on writing into a folder that is removed."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _put_in_place(work: _Build, found: tuple[int, int] | None) -> bool:
    """Whether it is in its place: not where that holds something else by now than what was `found` there."""
    built, replaced = _identity(work.folder), os.path.join(work.temporary, "replaced")
    try:
        if found is not None and found == _identity(work.environment):
            os.rename(work.environment, replaced)
        _rename_unless_outrun(work.folder, work.environment)
    finally:
        if os.path.isdir(replaced) and not os.path.lexists(work.environment):  # stopped between the two
            os.rename(replaced, work.environment)
    return _identity(work.environment) == built


def _rename_unless_outrun(built: str, environment: str) -> None:
    try:
        os.rename(built, environment)
    except OSError:
        if not os.path.isfile(environment_python(environment)):
            raise


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        state = os.stat(folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino


def _remove_broken_off(parent: str, *, now: float) -> None:
    for entry in os.scandir(parent):
        if not entry.name.startswith(_TEMPORARY_PREFIX):
            continue
        try:
            age = now - entry.stat(follow_symlinks=False).st_mtime
        except FileNotFoundError:  # another start finished meanwhile
            continue
        if age > BROKEN_OFF_AFTER_SECONDS:
            shutil.rmtree(entry.path, ignore_errors=True)


def _unwritable(parent: str, error: OSError) -> MissingPackageError:
    reason = error.strerror or type(error).__name__
    return MissingPackageError(f"No environment can be made in {parent}: {reason}. Name a folder of your own with --data DIR.")


def _not_built(work: _Build, *, kept_log: str) -> MissingPackageError:
    names = ", ".join(work.packages.values())
    if not os.path.exists(work.log):
        return MissingPackageError(
            f"{names} cannot be installed: this Python ({sys.executable}) has neither ensurepip nor pip, and there is no uv on"
            " the PATH. Install uv, or your system's package python3-venv, and run the command again."
        )
    with open(work.log, encoding="utf-8", errors="replace") as log:
        last = next((line.strip() for line in reversed(log.readlines()) if line.strip()), "")
    os.replace(work.log, kept_log)
    return MissingPackageError(
        f"{names} could not be installed; the last line was {last[:_LOG_LINE_MAX_CHARACTERS]!a}, all of it is in {kept_log}."
        " Check the network and the proxy, which are needed this once, and run the command again."
    )
