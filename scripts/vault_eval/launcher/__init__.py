"""What happens before the first command: where data lie, where bytecode is read from, which interpreter goes on.

Standard library only, and little of it: this package is compiled on every start, so all but `os` and `sys` is
imported inside the functions that use it. It makes, each with mode 0700, under the data folder:

    bytecode/                    our own modules, compiled by the commands that write (`precompile`)
    environments/<key>/          one private environment for each lock file, Python version and platform
    environments/<key>.log       what the last failed build of that environment printed
    environments/.building-*     builds under way; one that was broken off is removed a day later
"""

from __future__ import annotations

from vault_eval.launcher.bytecode import data_option, precompile, prepare
from vault_eval.launcher.data import data_folder, environment_python, find_data_folder

TYPE_CHECKING = False  # `import typing` costs more than this package
if TYPE_CHECKING:
    from vault_eval.launcher.environment import (
        RUNTIME_PACKAGES,
        doctor_command,
        ensure,
        environment_folder,
        is_usable,
        missing_packages,
    )
    from vault_eval.launcher.extras import EXTRAS, install_command, install_extras, refuse_without

__all__ = [
    "EXTRAS",
    "RUNTIME_PACKAGES",
    "data_folder",
    "data_option",
    "doctor_command",
    "ensure",
    "environment_folder",
    "environment_python",
    "find_data_folder",
    "install_command",
    "install_extras",
    "is_usable",
    "missing_packages",
    "precompile",
    "prepare",
    "refuse_without",
]


def __getattr__(name: str) -> object:
    """The names of `environment` and `extras`, loaded at their first use: by then from bytecode, and often never."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("EXTRAS", "install_command", "install_extras", "refuse_without"):
        from vault_eval.launcher import extras

        return getattr(extras, name)
    from vault_eval.launcher import environment

    return getattr(environment, name)
