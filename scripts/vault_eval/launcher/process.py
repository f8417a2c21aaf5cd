"""How the process that runs one command is set up and ended."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # `import typing` costs more than this module
if TYPE_CHECKING:
    from typing import NoReturn

# Hardly a record of ours is part of a cycle: by default a twentieth of an evaluation is spent on looking for some.
_COLLECTED_AFTER_OBJECTS = 300_000


def collect_seldom() -> None:
    """Look for cycles of unused objects once there are many new objects, not after every few hundred."""
    gc.set_threshold(_COLLECTED_AFTER_OBJECTS, *gc.get_threshold()[1:])


def end(code: int) -> NoReturn:
    """End with an exit code, at once: to take all modules apart first is a tenth of what one cold query takes.

    What was printed gets out; where it cannot, the exit code has said so already.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)
