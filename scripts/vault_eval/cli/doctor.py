"""`doctor`: versions, data folder, index; what is missing, and the one command that mends it."""

from __future__ import annotations

import platform
import shlex
import sys

from vault_eval import __version__, launcher
from vault_eval.cli.arguments import Parser, add_vault
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError
from vault_eval.index.commands import build_command, fresh_command
from vault_eval.index.options import IndexOptions
from vault_eval.index.seal import open_index
from vault_eval.vault.location import vault_id, vault_root

_ALL_WELL, _SOMETHING_MISSING = 0, 2


def run(argv: list[str]) -> int:
    """The exit code of `doctor`: 0 where all is there, 2 where a package is missing, 10 where the vault's index is."""
    options = parser().parse_args(argv)
    data = launcher.data_folder(options.data)
    if options.install:
        launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=True, data=data, command="doctor")
        launcher.precompile(data)
    print(f"vault-eval {__version__}, Python {platform.python_version()} ({sys.executable})")
    print(f"data folder: {data}")
    code = _packages(data)
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
    environment = launcher.environment_folder(data)
    if not missing:
        print("packages: all there")
        return _ALL_WELL
    if launcher.is_usable(environment):
        print(f"packages: in the private environment {environment}")
        return _ALL_WELL
    names = ", ".join(launcher.RUNTIME_PACKAGES[name] for name in missing)
    print(f"packages: {names} missing; `index` installs them, or run: {launcher.doctor_command(data)}")
    return _SOMETHING_MISSING


def _index(vault: str, index: str | None, data_option: str | None, data: str) -> int:
    root = vault_root(vault)
    folder = index or DataFolder(data).index_folder(vault_id(root))
    try:
        opened, sha256 = open_index(folder, vault_id(root), verify=True)
    except IndexUnusableError as error:
        print(f"index: {error}\n  build it: {build_command(root, IndexOptions(), index=index, data=data_option)}")
        return IndexUnusableError.exit_code
    with opened:
        print(f"index: {opened.page_count:,} notes, {opened.chunks:,} chunks, whole ({sha256[:12]}), in {folder}")
        print("  whether it is fresh: " + shlex.join([*fresh_command(root), *(["--index", index] if index else [])]))
    return _ALL_WELL
