"""A stop by the person (SIGINT, or SIGHUP as the terminal closes) or the system (SIGTERM): exit 130, never a traceback."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # `import typing` costs more than this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

EXIT_STOPPED = 130
# The terminal that is closed is a stop too; Windows has no such signal.
_STOPS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


def exit_when_stopped() -> None:
    """Until a command runs nothing has begun, so a stop ends the process at once."""
    _on_stop(_exit)


def raise_when_stopped() -> None:
    """From now on a stop is a KeyboardInterrupt, so that temporary files are removed and the command line ends in words."""
    _on_stop(signal.default_int_handler)


def _exit(_number: int, _frame: FrameType | None) -> None:
    os._exit(EXIT_STOPPED)


def _on_stop(action: Callable[[int, FrameType | None], object]) -> None:
    for number in _STOPS:
        # A job that a shell starts in the background has SIGINT ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            try:
                signal.signal(number, action)
            except ValueError:  # not the main thread: whoever called us there decides about signals
                return
