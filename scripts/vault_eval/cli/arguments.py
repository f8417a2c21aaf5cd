"""Options that several commands share, and a parser that raises a short sentence instead of exiting with the usage."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import NoReturn

from vault_eval.errors import UsageError
from vault_eval.nearest import did_you_mean, nearest
from vault_eval.vault.paths import quoted

_USAGE_WIDTH = 100
# Options and arguments that name a file or folder, by what the help calls their value.
_PLACES = ("DIR", "FILE", "PATH", "REPORT", "SOURCE", "POOL", "JUDGEMENTS", "IN", "OUT")


class Once(argparse.Action):
    """An option of which the last value would silently take the place of those before."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option_string: str | None = None
    ) -> None:
        """Store the value. Raises UsageError where there is one."""
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given twice; name one, and measure the other by itself")
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """No abbreviations; a wrong option is a UsageError that names the nearest one and the command's help.

    A place that starts with `~/` lies in the home folder, although quotes kept the shell from saying so.
    """

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

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str], namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """The options, typed. Raises UsageError for what is none, or cannot be."""
        found, left = self.parse_known_args(args, namespace)
        self.refuse_left(left)
        return found

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str], namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """The options, typed, and the words that are none of them and that none takes. Raises UsageError."""
        # A slip in a required option is told here as what it is; argparse would say that the option is missing.
        for word in args[: args.index("--")] if "--" in args else args:
            if self._is_slip(word):
                raise self._unknown(word)
        return super().parse_known_args(args, namespace)

    def parse_given(self, words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """The options, and which of them are among the words, each by its first name, also where its default was written.

        Raises as `parse_args`.
        """
        found = self.parse_args(words, argparse.Namespace(**{action.dest: None for action in self._actions}))
        names = {action.dest: action.option_strings[0] for action in reversed(self._actions) if action.option_strings}
        given = [name for dest, name in reversed(names.items()) if getattr(found, dest) is not None]
        for action in self._actions:
            if getattr(found, action.dest) is None and action.default is not argparse.SUPPRESS:
                setattr(found, action.dest, action.default)
        return found, given

    def refuse_left(self, words: Sequence[str]) -> None:
        """Raises UsageError for the first of the words that no option takes."""
        if words and words[0].startswith("-"):
            raise self._unknown(words[0])
        if words:
            raise self._refusal(f"no option takes {quoted(words[0])}")

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise self._refusal(message)

    def _is_slip(self, word: str) -> bool:
        """Whether the word is no option, but near one."""
        known, name = self._option_string_actions, word.partition("=")[0]
        is_other = word == "-" or not word.startswith("-") or " " in word  # stdin, a value, a text
        return not is_other and not {name, name[:2]} & known.keys() and bool(nearest(name, known))

    def _unknown(self, word: str) -> UsageError:
        return unknown_name("option", word.partition("=")[0], self._option_string_actions, self._see_help())

    def _refusal(self, problem: str) -> UsageError:
        from vault_eval.reports.escaping import for_terminal

        return UsageError(f"{for_terminal(problem)}\n{self._see_help()}")

    def _see_help(self) -> str:
        return f"{self.prog} --help lists the options"

    def _get_value(self, action: argparse.Action, arg_string: str) -> object:
        is_place = isinstance(action.metavar, str) and action.metavar in _PLACES
        return super()._get_value(action, _at_home(arg_string) if is_place else arg_string)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            problem = f"{value!r} is not allowed{did_you_mean(str(value), choices)}; allowed are {', '.join(choices)}"
            raise argparse.ArgumentError(action, problem)


def unknown_name(kind: str, name: str, known: Iterable[str], help_text: str) -> UsageError:
    """The error for a name that is none of `known`; the nearest is proposed."""
    return UsageError(f"there is no {kind} {name!r}{did_you_mean(name, known)}\n{help_text}")


def refuse_idle(given: Iterable[str], used: Collection[str], what: str) -> None:
    """Raises UsageError for options that were given and are none of those used; `what` says why, and what to name instead."""
    idle = [name for name in given if name not in used]
    if idle:
        raise UsageError(f"{', '.join(idle)} would do nothing here: {what}")


def refuse_alone(given: Collection[str], option: str, *needed: str) -> None:
    """Raises UsageError where an option was given without any of those that give it something to do."""
    if option in given and not any(name in given for name in needed):
        raise UsageError(f"{option} needs {' or '.join(needed)}; name that too, or leave {option} out")


def whole_number(text: str) -> int:
    """A whole number written in digits; argparse turns the error into a message."""
    if not text.lstrip("-").isdecimal() or not text.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text[:20])


def _at_home(path: str) -> str:
    """The path with a leading `~` as a shell has it, unless something lies where the path itself says."""
    return os.path.expanduser(path) if (path == "~" or path.startswith("~/")) and not os.path.lexists(path) else path


def add_vault(parser: Parser, *, required: bool = True) -> None:
    """`--vault` and `--index`."""
    parser.add_argument("--vault", metavar="DIR", required=required, help="the folder that holds your notes")
    parser.add_argument("--index", metavar="DIR", help="where the index lies (default: in the data folder)")
