"""The optional packages: what each is for, and how they get to where commands go on."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault_eval.launcher.bytecode import data_option
from vault_eval.launcher.data import find_data_folder
from vault_eval.launcher.environment import (
    LOCK,
    RUNTIME_PACKAGES,
    doctor_command,
    environment_folder,
    is_usable,
    missing_packages,
    pip_command,
    refuse,
    refuse_where_forbidden,
)

_IMPORTED = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Extra:
    """What optional packages are for: the option that needs them, what it does, and they as pip is given them."""

    option: str
    use: str
    requirements: tuple[str, ...]

    @property
    def packages(self) -> dict[str, str]:
        """Each by the name to import, which is the one that it is installed by."""
        return {match[0]: one for one in self.requirements if (match := _IMPORTED.match(one))}

    @property
    def missing(self) -> tuple[str, ...]:
        """The requirements that this interpreter cannot import."""
        return tuple(self.packages[name] for name in missing_packages(self.packages))


# The extras of pyproject.toml, one option each, by the name that `doctor --install` takes.
EXTRAS = {
    "stem": Extra("index --stem LANG", "words are found in all their forms", ("snowballstemmer>=2.2",)),
    "pdf": Extra("index --pdf", "PDFs are searched too, page by page", ("pypdf>=5",)),
    "wordllama": Extra(
        "--vectors wordllama", "search by meaning, with a model that comes along", ("numpy>=1.26", "wordllama>=0.3.9")
    ),
    "model2vec": Extra(
        "--vectors model2vec=FOLDER", "search by meaning, with a model of yours", ("numpy>=1.26", "model2vec>=0.4")
    ),
    "mcp": Extra("-r mcp:PROGRAM", "the search tool of an MCP server is measured", ("mcp>=2,<3",)),
}


def refuse_without(packages: Iterable[str], *, command: str) -> None:
    """Raises MissingPackageError, with the line that installs it, where an optional package (name to import) is not there.

    `command` names what needs it, for the message.
    """
    missing = missing_packages(packages)
    if missing:
        extras = [name for name, extra in EXTRAS.items() if not extra.packages.keys().isdisjoint(missing)]
        names = ", ".join(missing)
        refuse(f"{command} needs {names}, which this Python ({sys.executable}) lacks. Run: {install_command(extras)}")


def install_command(extras: Sequence[str]) -> str:
    """The one line that installs these extras where commands go on; its `--data` is that of this command line."""
    data, _ = find_data_folder(data_option(sys.argv[1:]))
    if data is not None and os.path.isfile(LOCK) and _goes_on_in(environment_folder(data)):
        return doctor_command(data, extras)
    return pip_command(_packages(extras).values())


def install_extras(extras: Sequence[str], *, data: str) -> None:
    """Have these extras in the private environment, which is built first where there is none; nothing is done twice.

    Raises MissingPackageError with what to run: where commands go on in this interpreter, since its packages are its
    owner's to choose; where `VAULT_EVAL_NO_INSTALL` is set; and where it failed, which leaves the environment as it was.
    """
    if not os.path.isfile(LOCK) or not _goes_on_in(environment := environment_folder(data)):
        if any(EXTRAS[name].missing for name in extras):
            refuse(
                f"Commands go on in this Python ({sys.executable}), which has all that they need; what is optional you install "
                f"there yourself. Run: {pip_command(_packages(extras).values())}"
            )
        return
    from vault_eval.launcher.build import build, extend, has

    is_whole = is_usable(environment) and has(environment, RUNTIME_PACKAGES)
    missing = [name for name in extras if not (is_whole and has(environment, EXTRAS[name].packages))]
    if not missing:
        return
    refuse_where_forbidden(data, missing)
    if not is_whole:
        build(environment, LOCK, RUNTIME_PACKAGES)
    extend(environment, _packages(missing), kept=RUNTIME_PACKAGES)


def _goes_on_in(environment: str) -> bool:
    """Whether commands that need packages run in this private environment, not in this interpreter alone."""
    return sys.prefix == environment or bool(missing_packages(RUNTIME_PACKAGES))


def _packages(extras: Sequence[str]) -> dict[str, str]:
    return {package: requirement for name in extras for package, requirement in EXTRAS[name].packages.items()}
