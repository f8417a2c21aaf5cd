"""ripgrep (https://github.com/BurntSushi/ripgrep): what a person finds who greps for the words of a question.

ripgrep itself gives no order, so this is ours, made of nothing but what it printed.
"""

from __future__ import annotations

import re

from vault_eval.retrievers.answers import AnswerError
from vault_eval.retrievers.external_results import FoundPage
from vault_eval.retrievers.presets import CommandPreset
from vault_eval.vault.paths import quoted

_WORD = re.compile(r"\w+")


def words_by_line(query: str) -> str:
    """The words of a query, each once, a line each: the patterns of `rg --file -`."""
    return "".join(f"{word}\n" for word in dict.fromkeys(_WORD.findall(query.casefold())))


def by_words(text: str) -> list[FoundPage]:
    r"""The files by the number of distinct words in them, then of matches, then by path, from `PATH\0MATCH\nMATCH\n` blocks.

    The score is the number of words, and 1 - 1/matches to tell files of equal number apart. Raises AnswerError.
    """
    found = []
    for block in filter(None, text.split("\n\n")):
        path, nul, matches = block.partition("\0")
        if not nul:
            raise AnswerError(f"printed no matches below a path, but {quoted(block)}")
        words = [word.casefold() for word in matches.split("\n") if word]
        found.append(FoundPage(path, len(set(words)) + 1 - 1 / len(words)))
    return sorted(found, key=lambda one: (-(one.score or 0.0), one.path))


COMMAND = CommandPreset(
    words=(
        *("rg", "--no-config", "--no-ignore", "--iglob", "*.md", "--text", "--max-filesize", "16M"),
        *("--ignore-case", "--fixed-strings", "--word-regexp"),
        *("--only-matching", "--heading", "--null", "--no-line-number", "--color", "never"),
        *("--file", "-", "--", "{vault}"),
    ),
    measures="distinct words of the query in the file as it is, as whole words in any letter case; then the number of matches",
    version=("rg", "--version"),
    nothing_found=1,
    query=words_by_line,
    read=by_words,
)
