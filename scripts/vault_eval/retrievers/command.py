"""`command:PROGRAM ARG…`: any program that prints what it found, started anew for every query; `command:qmd`, `command:ripgrep`.

The words are an argument list, never a shell. `{query}`, `{depth}` and `{vault}` in them are filled in; without `{query}` the
query is given on stdin. Settings stand before the program: `timeout=SECONDS`, `prefix=TEXT` (taken off every path), and
`nothing-found=CODE`, the exit code of programs that tell so that nothing was found.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from itertools import pairwise

from vault_eval.errors import UsageError
from vault_eval.limits import EXTERNAL_ANSWER_MAX_BYTES
from vault_eval.model import Ranking, RetrieverDescription
from vault_eval.retrievers.answers import AnswerError
from vault_eval.retrievers.bounded_process import Finished, ProcessFailedError, run_bounded
from vault_eval.retrievers.external_results import ranking_of
from vault_eval.retrievers.presets import CommandPreset, qmd, ripgrep
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec, whole_setting
from vault_eval.retrievers.spec_words import (
    DEPTH,
    QUERY,
    VAULT,
    Bounds,
    bounds_of,
    empty_folder,
    option_of,
    program_in,
    words_of,
)
from vault_eval.retrievers.without_index import WithoutIndex
from vault_eval.vault.paths import quoted

NEEDS_INDEX = False
PRESETS = {"qmd": qmd.COMMAND, "ripgrep": ripgrep.COMMAND}
_PLACEHOLDER = re.compile("|".join(map(re.escape, (QUERY, DEPTH, VAULT))))
_CODE_OPTION = re.compile(r"-[a-z]*c")  # sh -c, bash -lc, python -c: the next word is a program
_RUNS_STDIN = re.compile(r"(?:[a-z]{0,3}sh|python[\d.]*|perl|ruby|node|php|lua)(?:\.exe)?", re.IGNORECASE)
_QUERY_WORD = re.compile(rf"(?:-[\w-]*=?)?{re.escape(QUERY)}")  # {query}, --text={query}, -t{query}
_OPTIONS_END = "--"
_NOTHING_FOUND = "nothing-found"
_EXIT_CODE_MAX = 255
_UTF8_MARK = "surrogateescape"  # file names need not be UTF-8; such a one names no page


def open_retriever(spec: Spec, context: RetrieverContext) -> CommandSearch:
    """The program of a spec, found but not yet run. Raises UsageError for words that cannot be, or that nothing can run."""
    spec, words = words_of(spec)
    known = PRESETS.get(words[0]) if len(words) == 1 else None
    bounds = bounds_of(spec, () if known else (_NOTHING_FOUND,))
    preset = known or CommandPreset(words, nothing_found=whole_setting(spec, _NOTHING_FOUND, 0, 0, _EXIT_CODE_MAX))
    _refuse_code(preset.words, option_of(spec))
    argv = program_in(preset.words, option_of(spec))
    return CommandSearch(spec.text, preset, argv, bounds, context, empty_folder(context.vault.root))


class CommandSearch(WithoutIndex):
    """Runs the program in an empty folder, so that what it writes by relative names stays out of the vault."""

    why_no_warm = "every query starts the program anew"

    def __init__(
        self, name: str, preset: CommandPreset, argv: Sequence[str], bounds: Bounds, context: RetrieverContext, folder: str
    ) -> None:
        self._name = name
        self._preset = preset
        self._argv = argv
        self._bounds = bounds
        self._root = context.vault.root
        self._pages = frozenset(context.vault.names)
        self._folder = folder

    def describe(self) -> RetrieverDescription:
        """The words as they were given or as the preset has them, how the query goes in, and what bounds an answer."""
        settings = {
            "program": shlex.join(self._preset.words),
            "version": self._ask_version(),
            "measures": self._preset.measures or None,
            "query": "argument" if self._has_query else "stdin",
            "nothing_found": self._preset.nothing_found,
            "prefix": self._bounds.prefix or None,
            "timeout_s": self._bounds.timeout_seconds,
        }
        return RetrieverDescription(self._name, settings)

    def search(self, query: str, depth: int) -> Ranking:
        """What the program printed, in its order. `error` where it failed, took too long, or printed what cannot be read."""
        asked = self._preset.query(query)
        argv = [self._filled(word, asked, depth) for word in self._argv]
        refused = _taken_for_option(self._argv, argv)
        if refused is not None:
            return Ranking((), error=refused)
        try:
            done = self._run(argv, None if self._has_query else asked)
            found = self._preset.read(self._printed(done))
        except ProcessFailedError as error:
            return Ranking((), error=str(error))
        except AnswerError as error:
            return Ranking((), error=f"{quoted(self._preset.words[0])} {error}")
        return ranking_of(found, self._pages, self._root, depth, prefix=self._bounds.prefix)

    def close(self) -> None:
        """Remove the folder that the program ran in."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _has_query(self) -> bool:
        return any(QUERY in word for word in self._argv)

    def _filled(self, word: str, query: str, depth: int) -> str:
        """The word with its placeholders filled in at once: what a query says is never looked at again."""
        values = {QUERY: query, DEPTH: str(depth), VAULT: self._root}
        return _PLACEHOLDER.sub(lambda found: values[found[0]], word)

    def _run(self, argv: Sequence[str], stdin: str | None) -> Finished:
        return run_bounded(
            argv,
            cwd=self._folder,
            env=None,
            stdin=None if stdin is None else stdin.encode("utf-8", _UTF8_MARK),
            timeout_seconds=self._bounds.timeout_seconds,
            max_bytes=EXTERNAL_ANSWER_MAX_BYTES,
        )

    def _printed(self, done: Finished) -> str:
        if done.returncode not in (0, self._preset.nothing_found):
            raise AnswerError(f"ended with exit code {done.returncode} and said {quoted(done.said)}")
        return done.stdout.decode("utf-8", _UTF8_MARK)

    def _ask_version(self) -> str | None:
        if not self._preset.version:
            return None
        try:
            done = self._run((self._argv[0], *self._preset.version[1:]), None)
        except ProcessFailedError:
            return None
        return done.stdout.decode("utf-8", "replace").partition("\n")[0].strip() or None


def _refuse_code(words: Sequence[str], option: str) -> None:
    """Raises UsageError where a query would become a part of a program: labels are data."""
    if _PLACEHOLDER.search(words[0]):
        raise UsageError(f"{option}: the program itself may hold no placeholder")
    if any(_CODE_OPTION.fullmatch(before) and QUERY in word for before, word in pairwise(words)):
        raise UsageError(f"{option}: a query inside the code after -c would be run; give it as a word of its own behind the code")
    if any(QUERY in word and not _QUERY_WORD.fullmatch(word) for word in words):
        raise UsageError(
            f"{option}: a query inside other text could be read as a part of it; give it as a word or an option's value"
        )
    runs_stdin = _RUNS_STDIN.fullmatch(os.path.basename(words[0])) and all(word.startswith("-") for word in words[1:])
    if runs_stdin and QUERY not in "".join(words):
        raise UsageError(f"{option}: {quoted(words[0])} would run the query that it is given on stdin; name a program of its own")


def _taken_for_option(template: Sequence[str], argv: Sequence[str]) -> str | None:
    """Why the program may take a query for an option, or None: a word that begins with one, no `--` before it."""
    for place, (word, filled) in enumerate(zip(template, argv, strict=True)):
        if word.startswith(QUERY) and filled.startswith("-") and _OPTIONS_END not in template[:place]:
            return f"the query begins with - and could be taken for an option; write -- before {QUERY}"
    return None
