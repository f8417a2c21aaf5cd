"""`doctor`: versions, data folder, packages, index; what is missing, and the one command that mends it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence

from vault_eval import __version__, launcher
from vault_eval.cli.arguments import Parser, add_vault, refuse_alone, unknown_name
from vault_eval.command_lines import build_command, fresh_command
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError
from vault_eval.index.seal import open_index
from vault_eval.inputs import index_options
from vault_eval.searchers import searched_instead
from vault_eval.vault.location import vault_id, vault_root

_ALL_WELL, _SOMETHING_MISSING = 0, 2


def run(argv: list[str]) -> int:
    """The exit code of `doctor`: 0 where all is there, 2 where a package is missing, 10 where the vault's index is.

    What is optional decides nothing, but is installed where it is named. Where commands go on in the private environment,
    that is what is looked at.
    """
    options, given = parser().parse_given(argv)
    refuse_alone(given, "--index", "--vault")
    data = launcher.data_folder(options.data)
    needed = tuple(launcher.RUNTIME_PACKAGES)
    installs = options.install is not None
    if options.install:
        launcher.install_extras(_known(options.install), data=data)
    if installs or (launcher.missing_packages(needed) and launcher.is_usable(launcher.environment_folder(data))):
        launcher.ensure(needed, may_install=installs, data=data, command="doctor")
    if installs:
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
    made.add_argument(
        "--install",
        metavar="NAME",
        nargs="*",
        help=f"build the private environment where packages lack; a NAME ({', '.join(launcher.EXTRAS)}) is installed there",
    )
    return made


def _known(names: Sequence[str]) -> list[str]:
    """The extras that are named, each once. Raises UsageError for a name that is none."""
    for name in names:
        if name not in launcher.EXTRAS:
            raise unknown_name("extra", name, launcher.EXTRAS, f"doctor --install takes {', '.join(launcher.EXTRAS)}")
    return list(dict.fromkeys(names))


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
    for name, one in launcher.EXTRAS.items():
        missing = one.missing
        state = f"needs {' and '.join(missing)}: {launcher.install_command([name])}" if missing else "there"
        print(f"  {one.option} ({one.use}): {state}")


def _index(vault: str, index: str | None, data_option: str | None, data: str) -> int:
    root = vault_root(vault)
    folder = index or DataFolder(data).index_folder(vault_id(root))
    try:
        opened, sha256 = open_index(folder, vault_id(root), verify=True)
    except IndexUnusableError as error:
        instead = searched_instead(DataFolder(data), root, index)
        line = build_command(root, index_options(DataFolder(data), root), index=None if instead else index, data=data_option)
        print(f"index: {error}{instead}\n  build it: {line}")
        return IndexUnusableError.exit_code
    with opened:
        print(f"index: {opened.page_count:,} notes, {opened.chunks:,} chunks, whole ({sha256[:12]}), in {folder}")
        print(f"  whether it is fresh: {fresh_command(root, index=index, data=data_option)}")
    return _ALL_WELL
