"""The closed list of causes of a miss: one file each, so that adding a cause is adding a file.

A file defines `CAUSE`; nothing has to name it. The last cause of the list always holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from vault_eval.diagnosis.records import Cause, CauseName

__all__ = ["CAUSES", "CAUSE_NAMES", "Cause", "CauseName"]


def _found() -> Mapping[CauseName, Cause]:
    causes: list[Cause] = [import_module(f"{__name__}.{module.name}").CAUSE for module in iter_modules(__path__)]
    return MappingProxyType({cause.name: cause for cause in sorted(causes, key=lambda cause: cause.position)})


CAUSES: Mapping[CauseName, Cause] = _found()
CAUSE_NAMES: tuple[CauseName, ...] = tuple(CAUSES)
