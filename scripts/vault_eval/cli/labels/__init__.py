"""`labels`: one module a subcommand, found by its name."""

from __future__ import annotations

from importlib import import_module

from vault_eval import launcher
from vault_eval.cli.arguments import unknown_name
from vault_eval.errors import MissingPackageError, UsageError

# Every subcommand and what it does, in the order of the help.
COMMANDS = {
    "add": "write one label into a label file, a label note, or the gold note itself",
    "init": "write a first label file or label note, ready to be filled",
    "check": "say what is wrong, doubtful or absent in a label set",
    "suggest": "propose labels from what the vault already says",
    "pool": "gather what several searchers find, to be judged blind",
    "judge": "judge a pool in the terminal",
    "split": "part the labels into dev and holdout, or show who looked at the holdout",
    "agree": "compare the judgements of two people",
    "build": "resolve stable references to today's sections and pages",
    "import": "read the label file of another tool",
    "export": "write labels for another tool",
}
# Names that Python keeps for itself.
_MODULES = {"import": "importing", "export": "exporting"}


def run(argv: list[str]) -> int:
    """The exit code of one subcommand with these arguments."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if argv else UsageError.exit_code
    if argv[0] not in COMMANDS:
        raise unknown_name("labels command", argv[0], COMMANDS, _help())
    command = import_module(module_of(argv[0]))
    try:
        code: int = command.run(argv[1:])
    except MissingPackageError:
        # Never built here: ensure goes on in the private environment, says how to build it, or returns if that is not what lacks.
        data = launcher.data_folder(launcher.data_option(argv))
        launcher.ensure(tuple(launcher.RUNTIME_PACKAGES), may_install=False, data=data, command=f"labels {argv[0]}")
        raise
    return code


def module_of(name: str) -> str:
    """The module of a subcommand, which has `parser()` and `run(argv)`."""
    return f"{__name__}.{_MODULES.get(name, name)}"


def _help() -> str:
    lines = [f"  {name:<8} {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        ["usage: vault-eval.py labels COMMAND [options]", "", *lines, "", "labels COMMAND --help lists the options of a command."]
    )
