"""Which notes the owner keeps out: Obsidian's own "Excluded files", and globs given to us."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_eval import strict_json
from vault_eval.errors import UsageError
from vault_eval.limits import GLOB_STARS_MAX, OBSIDIAN_CONFIG_MAX_BYTES
from vault_eval.vault.path_pattern import PathPattern
from vault_eval.vault.paths import page_name, quoted
from vault_eval.vault.reader import FolderReader
from vault_eval.vault.refusal import FileRefusedError

APP_CONFIG = ".obsidian/app.json"
_UNKNOWN = "Obsidian's excluded files are unknown"


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Rules that leave pages out; `reason(page)` is the first rule that does, or None."""

    rules: tuple[tuple[str, Callable[[str], bool]], ...]
    warnings: tuple[str, ...] = ()

    def reason(self, page: str) -> str | None:
        """Why this page is left out, or None where it is in scope."""
        for text, matches in self.rules:
            if matches(page):
                return text
        return None


def read_exclusions(reader: FolderReader, globs: Sequence[str] = ()) -> Exclusions:
    """The rules of this vault: Obsidian's `userIgnoreFilters` in `.obsidian/app.json`, and `globs`.

    Obsidian's filters are beginnings of paths, or `/regular expressions/`, in any letter case. A config that cannot be read,
    or a pattern that Python does not understand, is a warning, never a silent skip.
    """
    rules: list[tuple[str, Callable[[str], bool]]] = []
    filters, problems = _obsidian_filters(reader)
    for text in filters:
        try:
            rules.append((f"excluded in Obsidian: {text}", _obsidian_rule(text)))
        except (re.error, OverflowError, RecursionError) as error:
            found = f"the excluded-files pattern {quoted(text)} is not understood ({error})"
            problems.append(f"{APP_CONFIG}: {found}; it was ignored")
    rules += [(f"excluded: {glob}", glob_rule(page_name(glob))) for glob in globs]
    return Exclusions(tuple(rules), tuple(problems))


def _obsidian_filters(reader: FolderReader) -> tuple[list[str], list[str]]:
    try:
        config = strict_json.loads(reader.read(APP_CONFIG, OBSIDIAN_CONFIG_MAX_BYTES).decode("utf-8-sig"))
    except FileRefusedError as refusal:
        return [], [] if refusal.absent else [f"{_UNKNOWN}: {refusal}"]
    except ValueError as error:
        return [], [f"{_UNKNOWN}: {APP_CONFIG}: {error}"]
    if not isinstance(config, dict):
        return [], [f"{_UNKNOWN}: {APP_CONFIG} holds no JSON object"]
    filters = config.get("userIgnoreFilters")
    if filters is None:
        return [], []
    if not isinstance(filters, list):
        return [], [f"{APP_CONFIG}: userIgnoreFilters is no list; it was ignored"]
    texts = [text for text in filters if isinstance(text, str)]
    others = len(filters) - len(texts)
    return [text for text in texts if text], [f"{APP_CONFIG}: {others} excluded files are no text; ignored"] if others else []


def _obsidian_rule(text: str) -> Callable[[str], bool]:
    is_pattern = len(text) > 1 and text.startswith("/") and text.endswith("/")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python may read otherwise some day is not the owner's concern
        pattern = PathPattern(page_name(text[1:-1] if is_pattern else f"^{re.escape(page_name(text))}"))
    return pattern.is_found_in


def glob_problem(glob: str) -> str | None:
    """Why pages are not held against the glob, or None where they are."""
    return f"at most {GLOB_STARS_MAX} stars are allowed; write several globs" if glob.count("*") > GLOB_STARS_MAX else None


def glob_rule(glob: str) -> Callable[[str], bool]:
    """Whether a page fits the glob: `*` stays inside a folder, `**` crosses folders; a folder's name alone is all below it.

    Raises UsageError for a glob with a `glob_problem`.
    """
    problem = glob_problem(glob)
    if problem is not None:
        raise UsageError(f"the glob {quoted(glob)}: {problem}")
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", glob.strip("/"))
    pattern = re.compile("".join(parts.get(token) or re.escape(token) for token in tokens) + "(?:/.*)?", re.DOTALL)
    return lambda page: pattern.fullmatch(page) is not None
