"""Options that several commands share, and a parser that raises instead of exiting."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from typing import NoReturn

from vault_eval.errors import UsageError

_USAGE_WIDTH = 100


class Parser(argparse.ArgumentParser):
    """No abbreviations; a wrong option is a UsageError that names the command's help."""

    def __init__(self, command: str, description: str) -> None:
        script = os.path.basename(sys.argv[0])
        prog = script if script == "evaluate-retrieval.py" else f"vault-eval.py {command}"
        self._width: int | None = _USAGE_WIDTH
        super().__init__(prog=prog, description=description, allow_abbrev=False)
        self.add_argument(
            "--data", metavar="DIR", help="where indexes, reports and settings are kept (default: the user data folder)"
        )

    def _get_formatter(self) -> argparse.HelpFormatter:
        # argparse makes one for every option, and each would look up how wide the terminal is.
        return argparse.HelpFormatter(prog=self.prog, width=self._width)

    def format_help(self) -> str:
        """The help, as wide as the terminal."""
        self._width = None
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        from vault_eval.reports.escaping import for_terminal

        raise UsageError(f"{for_terminal(message)}\n{self.format_usage().strip()}\n{self.prog} --help explains the options")


def unknown_name(kind: str, name: str, known: Iterable[str], help_text: str) -> UsageError:
    """The error for a name that is none of `known`; the nearest is proposed."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return UsageError(f"there is no {kind} {name!r}{hint}\n{help_text}")


def whole_number(text: str) -> int:
    """A whole number written in digits; argparse turns the error into a message."""
    if not text.lstrip("-").isdecimal() or not text.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text[:20])


def add_vault(parser: Parser, *, required: bool = True) -> None:
    """`--vault` and `--index`."""
    parser.add_argument("--vault", metavar="DIR", required=required, help="the folder that holds your notes")
    parser.add_argument("--index", metavar="DIR", help="where the index lies (default: in the data folder)")
