"""The command line: one module a command, found by its name. Only here is an error turned into words and an exit code."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from importlib import import_module

from vault_eval import launcher
from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.launcher.stopping import EXIT_STOPPED, raise_when_stopped

EXIT_FAULT = 70
# Every file that is written by name has its own error: one of these without a name is that of a stream.
_NO_OUTPUT = frozenset({errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EINVAL})

# Every command and what it does, in the order of the help.
COMMANDS = {
    "index": "build or refresh the index of a vault, outside it",
    "bench": "measure search on a vault with labelled queries",
    "retrieve": "answer one query, as JSON",
    "labels": "write, suggest, check and split labels",
    "compare": "say whether a change helped: saved reports beside each other",
    "history": "the trend of one figure over the kept reports",
    "report": "render a saved report again, or print one of its rows",
    "doctor": "say what is there, what is missing, and the command that mends it",
}


def main(argv: list[str], *, script: str) -> int:
    """The exit code of one command; `script` is the file that was started, for messages."""
    try:
        raise_when_stopped()
        _speak_any_text()
        code = _dispatch(argv, os.path.basename(script))
        sys.stdout.flush()
    except VaultEvalError as error:
        _say(_shown(error))
        return error.exit_code
    except KeyboardInterrupt:
        _say("vault-eval: stopped; nothing was left half written")
        return EXIT_STOPPED
    except Exception as error:  # noqa: BLE001 - whatever it is, a person gets a sentence
        if isinstance(error, OSError) and error.filename is None and error.errno in _NO_OUTPUT:
            return _without_output(error)
        _say(_fault(error, argv))
        return EXIT_FAULT
    else:
        return code
    finally:
        _let_go_of_stderr()


def _let_go_of_stderr() -> None:
    """What could not be said there must not change the exit code when the process ends."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _shown(error: VaultEvalError) -> str:
    """The message, line by line without a character that a terminal would obey: names and texts of others may stand in it."""
    from vault_eval.reports.escaping import for_terminal

    return "\n".join(map(for_terminal, f"vault-eval: {error}".split("\n")))


def _dispatch(argv: list[str], script: str) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(_help(script))
        return 0 if argv else UsageError.exit_code
    if argv[0] == "--version":
        from vault_eval import __version__

        print(f"vault-eval {__version__}")
        return 0
    if argv[0] not in COMMANDS:
        from vault_eval.cli.arguments import unknown_name

        raise unknown_name("command", argv[0], COMMANDS, _help(script))
    command = import_module(f"vault_eval.cli.{argv[0]}")
    try:
        return int(command.run(argv[1:]))
    except SystemExit as ended:  # the help was asked for, and argparse takes it for printed
        return int(ended.code or 0)


def _help(script: str) -> str:
    lines = [f"  {name:<9} {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [f"usage: python3 {script} COMMAND [options]", "", *lines, "", "COMMAND --help lists the options of a command."]
    )


def _speak_any_text() -> None:
    """A console that lacks a letter gets its escape, never an error: names of notes are in every script."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - as below
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: nobody wants to read it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open as long as the process
        stream, first = getattr(sys, name), getattr(sys, f"__{name}__")
        raw = getattr(stream, "buffer", None)
        # PYTHONUNBUFFERED: what the system did not take at once would be lost without a word.
        if stream is first and isinstance(raw, io.RawIOBase):
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, line_buffering=True))
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _say(sentence: str) -> None:
    # Where not even this gets out, the exit code says it.
    with contextlib.suppress(OSError):
        sys.stdout.flush()  # what was printed before stands before it
    with contextlib.suppress(OSError):
        print(sentence, file=sys.stderr)


def _without_output(error: OSError) -> int:
    """The exit code where what is printed cannot get out; the rest of it goes nowhere, also when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has gone; what was asked for is done, and there is nobody to tell.
        return EXIT_STOPPED
    _say(f"vault-eval: standard output could not be written: {error.strerror}; free some space or print elsewhere")
    return VaultEvalError.exit_code


def _fault(error: Exception, argv: list[str]) -> str:
    """One line for a person, the details in a file whose place it names."""
    import tempfile
    import traceback

    details = "".join(traceback.format_exception(error))
    folder = launcher.find_data_folder(launcher.data_option(argv))[0]
    for place in (os.path.join(folder, "faults") if folder else None, None):
        try:
            if place:
                os.makedirs(place, mode=0o700, exist_ok=True)
            descriptor, path = tempfile.mkstemp(prefix="fault-", suffix=".txt", dir=place)
        except OSError:
            continue
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{argv!r}\n{details}")
        return f"vault-eval: a fault of ours ({type(error).__name__}); the details are in {path!r}: please report them"
    return f"vault-eval: a fault of ours ({type(error).__name__}: {error}); please report it"
