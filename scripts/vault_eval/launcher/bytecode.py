"""Bytecode of our own modules: never beside the scripts, written by `precompile` alone, read from the data folder."""

from __future__ import annotations

import os
import sys

from vault_eval.launcher.data import find_data_folder, is_private, make_private
from vault_eval.launcher.encoding import read_names_as_utf8

TYPE_CHECKING = False  # `import typing` costs more than this module
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def prepare(argv: Sequence[str]) -> None:
    """Keep bytecode away from the scripts, and read ours from the data folder that `argv` names. Never raises.

    Where this Python would read the names of files in another encoding than UTF-8, the command line starts anew first.

    Without a usable data folder our modules are compiled on each start, which costs some milliseconds.
    """
    sys.dont_write_bytecode = True
    read_names_as_utf8()
    data, _ = find_data_folder(data_option(argv))
    if data is not None and is_private(_folder(data)):
        _read_from(_folder(data))


def precompile(data: str) -> None:
    """Compile our modules into the data folder, for commands that may write; what cannot be written costs speed only."""
    import compileall

    before = sys.pycache_prefix
    try:
        make_private(data)
        make_private(_folder(data))
        sys.pycache_prefix = _folder(data)
        compileall.compile_dir(_PACKAGE, quiet=2)
    except OSError:
        return
    finally:
        sys.pycache_prefix = before


def _folder(data: str) -> str:
    return os.path.join(data, "bytecode")


def data_option(argv: Sequence[str]) -> str | None:
    """The value of the last `--data` before `--`, found without a parser; None where there is none."""
    value = None
    for place, argument in enumerate(argv):
        if argument == "--":
            break
        if argument.startswith("--data="):
            value = argument[len("--data=") :]
        elif argument == "--data" and place + 1 < len(argv):
            value = argv[place + 1]
    return value


def _read_from(prefix: str) -> None:
    """Have the modules of this package, and no others, look for their bytecode under `prefix`.

    `sys.pycache_prefix` alone would hide the bytecode of the standard library and of every installed package too.
    """
    from importlib.machinery import FileFinder, SourceFileLoader

    class Loader(SourceFileLoader):
        def get_code(self, fullname: str) -> CodeType | None:
            before = sys.pycache_prefix
            sys.pycache_prefix = prefix
            try:
                return super().get_code(fullname)
            finally:
                sys.pycache_prefix = before

    def finder(folder: str) -> FileFinder:
        if folder != _PACKAGE and not folder.startswith(_PACKAGE + os.sep):
            raise ImportError
        return FileFinder(folder, (Loader, [".py"]))

    sys.path_hooks.insert(0, finder)
    sys.path_importer_cache.pop(_PACKAGE, None)
