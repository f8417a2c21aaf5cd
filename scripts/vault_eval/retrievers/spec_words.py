"""What follows the colon of a searcher outside, as words: `NAME=VALUE` settings first, then the program or address."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from vault_eval.errors import UsageError
from vault_eval.limits import EXTERNAL_QUERY_DEFAULT_SECONDS, EXTERNAL_QUERY_MAX_SECONDS
from vault_eval.retrievers.spec import Spec, number_setting, refuse_unknown_settings
from vault_eval.vault.location import refuse_inside_vault
from vault_eval.vault.paths import quoted

# What may stand in the words of a searcher outside, and is filled in.
QUERY, DEPTH, VAULT = "{query}", "{depth}", "{vault}"
_SETTING = re.compile(r"([a-z][a-z-]*)=(.*)", re.DOTALL)


class Bounds(NamedTuple):
    """How long one answer may take, and what is taken off the front of every path."""

    timeout_seconds: float
    prefix: str


def words_of(spec: Spec) -> tuple[Spec, tuple[str, ...]]:
    """The spec with its settings, and the words after them, parted and quoted as in a shell, with no other meaning than that.

    Raises UsageError for an open quote, a setting given twice, and where nothing follows the settings.
    """
    option = option_of(spec)
    try:
        words = shlex.split(spec.rest)
    except ValueError as error:
        raise UsageError(f"{option}: {str(error).lower()}; write words as in a shell") from None
    settings: dict[str, str] = {}
    while words and (found := _SETTING.fullmatch(words[0])) is not None:
        name, value = found.groups()
        if name in settings:
            raise UsageError(f"{option}: {name}= is given twice; give it once")
        settings[name] = value
        words.pop(0)
    if not words:
        raise UsageError(f"{option}: nothing to ask is named after {spec.kind}:; name it after the settings, if any")
    return spec._replace(settings=settings), tuple(words)


def bounds_of(spec: Spec, allowed: Sequence[str] = ()) -> Bounds:
    """The settings that every searcher outside has. Raises UsageError for others than those and `allowed`."""
    refuse_unknown_settings(spec, (*allowed, "timeout", "prefix"))
    timeout = number_setting(spec, "timeout", EXTERNAL_QUERY_DEFAULT_SECONDS, 0.1, EXTERNAL_QUERY_MAX_SECONDS)
    return Bounds(timeout, spec.settings.get("prefix", ""))


def option_of(spec: Spec) -> str:
    """How messages name the option that a spec came from."""
    return f"--retriever {quoted(spec.text)}"


def program_in(words: Sequence[str], option: str) -> tuple[str, ...]:
    """The words with the absolute path of the program first.

    Raises UsageError where there is no such program, and for a file that is named from the current folder: the program
    runs in another one.
    """
    program = shutil.which(words[0])
    if program is None:
        raise UsageError(f"{option}: there is no program {quoted(words[0])}; install it, or write its whole path")
    for word in words[1:]:
        if not os.path.isabs(word) and os.path.splitext(word)[1] and os.path.isfile(word):
            whole = os.path.abspath(word)
            raise UsageError(f"{option}: the program runs in an empty folder and cannot see {quoted(word)}; write {whole!r}")
    return (os.path.abspath(program), *words[1:])


def empty_folder(root: str) -> str:
    """A new folder to run a program in, outside the vault: what it leaves behind goes with the folder, which the caller removes.

    Raises UnsafePathError where temporary files would lie inside the vault.
    """
    refuse_inside_vault(tempfile.gettempdir(), root, "the folder of temporary files")
    return tempfile.mkdtemp(prefix="vault-eval-")
