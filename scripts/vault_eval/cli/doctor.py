"""`doctor`: versions, data folder, packages, index; what is missing, and the one command that mends it."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass

from vault_eval import __version__, launcher
from vault_eval.cli.arguments import Parser, add_vault
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError
from vault_eval.index.commands import build_command, fresh_command
from vault_eval.index.seal import open_index
from vault_eval.inputs import index_options
from vault_eval.vault.location import vault_id, vault_root

_ALL_WELL, _SOMETHING_MISSING = 0, 2
_IMPORTED = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Extra:
    """What optional packages are for: the option that needs them, what it does, and they as pip is given them."""

    option: str
    use: str
    packages: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Those that this interpreter cannot import; each is imported by the name that it is installed by."""
        names = {match[0]: package for package in self.packages if (match := _IMPORTED.match(package))}
        return tuple(names[name] for name in launcher.missing_packages(names))


# The extras of pyproject.toml, one option each: a test holds the two against each other.
EXTRAS = (
    Extra("index --stem LANG", "words are found in all their forms", ("snowballstemmer>=2.2",)),
    Extra("index --pdf", "PDFs are searched too, page by page", ("pypdf>=5",)),
    Extra("--vectors wordllama", "search by meaning, with a model that comes along", ("numpy>=1.26", "wordllama>=0.3.9")),
    Extra("--vectors model2vec=FOLDER", "search by meaning, with a model of yours", ("numpy>=1.26", "model2vec>=0.4")),
    Extra("-r mcp:PROGRAM", "the search tool of an MCP server is measured", ("mcp>=2,<3",)),
)


def run(argv: list[str]) -> int:
    """The exit code of `doctor`: 0 where all is there, 2 where a package is missing, 10 where the vault's index is.

    What is optional decides nothing. Where commands go on in the private environment, that is what is looked at.
    """
    options = parser().parse_args(argv)
    data = launcher.data_folder(options.data)
    needed = tuple(launcher.RUNTIME_PACKAGES)
    if options.install or (launcher.missing_packages(needed) and launcher.is_usable(launcher.environment_folder(data))):
        launcher.ensure(needed, may_install=options.install, data=data, command="doctor")
    if options.install:
        launcher.precompile(data)
    print(f"vault-eval {__version__}, Python {platform.python_version()} ({sys.executable})")
    print(f"data folder: {data}")
    code = _packages(data)
    _print_optional()
    if options.vault is not None:
        code = _index(options.vault, options.index, options.data, data) or code
    return code


def parser() -> Parser:
    """The options of `doctor`."""
    made = Parser("doctor", "Say what is there, what is missing, and the command that mends it.")
    add_vault(made, required=False)
    made.add_argument("--install", action="store_true", help="build the private environment with the packages that are missing")
    return made


def _packages(data: str) -> int:
    missing = launcher.missing_packages(tuple(launcher.RUNTIME_PACKAGES))
    if not missing:
        print("packages: all there")
        return _ALL_WELL
    names = ", ".join(launcher.RUNTIME_PACKAGES[name] for name in missing)
    print(f"packages: {names} missing; `index` installs them, or run: {launcher.doctor_command(data)}")
    return _SOMETHING_MISSING


def _print_optional() -> None:
    print("optional, each for what it names alone:")
    for one in EXTRAS:
        missing = one.missing
        state = f"needs {' and '.join(missing)}: {launcher.install_command(missing)}" if missing else "there"
        print(f"  {one.option} ({one.use}): {state}")


def _index(vault: str, index: str | None, data_option: str | None, data: str) -> int:
    root = vault_root(vault)
    folder = index or DataFolder(data).index_folder(vault_id(root))
    try:
        opened, sha256 = open_index(folder, vault_id(root), verify=True)
    except IndexUnusableError as error:
        line = build_command(root, index_options(DataFolder(data), root), index=index, data=data_option)
        print(f"index: {error}\n  build it: {line}")
        return IndexUnusableError.exit_code
    with opened:
        print(f"index: {opened.page_count:,} notes, {opened.chunks:,} chunks, whole ({sha256[:12]}), in {folder}")
        print(f"  whether it is fresh: {fresh_command(root, index=index, data=data_option)}")
    return _ALL_WELL
