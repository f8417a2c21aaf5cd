"""Formats of other tools, text in and text out. One module a format: it is found by its presence, and by what it can.

A module with a `NAME` is a format. It has what it can of: `read_labels(text, place)`, for a folder of files
`read_folder(files, place)`; `write_labels(topics)`; `read_run(text, name)`; `write_run(run)`. Nothing here opens a file.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

READS_LABELS = ("read_labels", "read_folder")
WRITES_LABELS = ("write_labels",)
WRITES_RUNS = ("write_run",)


def formats(can: tuple[str, ...]) -> dict[str, ModuleType]:
    """The formats that have one of these functions, by their names in alphabetical order."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = {module.NAME: module for module in modules if hasattr(module, "NAME")}
    return {name: found[name] for name in sorted(found) if any(hasattr(found[name], function) for function in can)}
