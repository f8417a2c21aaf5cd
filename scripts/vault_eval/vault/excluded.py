"""Which notes the owner keeps out: Obsidian's own "Excluded files", and globs given to us."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_eval import strict_json
from vault_eval.limits import OBSIDIAN_CONFIG_MAX_BYTES
from vault_eval.vault.reader import FileRefusedError, FolderReader

APP_CONFIG = ".obsidian/app.json"


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Rules that leave pages out; `reason(page)` is the first rule that does, or None."""

    rules: tuple[tuple[str, Callable[[str], bool]], ...]
    warnings: tuple[str, ...] = ()

    def reason(self, page: str) -> str | None:
        """Why this page is left out, or None where it is in scope."""
        return next((text for text, matches in self.rules if matches(page)), None)


def read_exclusions(reader: FolderReader, globs: Sequence[str] = ()) -> Exclusions:
    """The rules of this vault: `userIgnoreFilters` of `.obsidian/app.json` (path beginnings, or `/regular expressions/`), and `globs`.

    A config that cannot be read or a pattern that Python does not understand is a warning, never a silent skip.
    """
    rules: list[tuple[str, Callable[[str], bool]]] = []
    filters, warnings = _obsidian_filters(reader)
    for text in filters:
        try:
            rules.append((f"excluded in Obsidian: {text}", _obsidian_rule(text)))
        except re.error as error:
            warnings.append(f"{APP_CONFIG}: the excluded-files pattern {text!r} is not understood ({error}); it was ignored")
    rules += [(f"excluded: {glob}", _glob_rule(glob)) for glob in globs]
    return Exclusions(tuple(rules), tuple(warnings))


def _obsidian_filters(reader: FolderReader) -> tuple[list[str], list[str]]:
    try:
        config = strict_json.loads(reader.read(APP_CONFIG, OBSIDIAN_CONFIG_MAX_BYTES).decode("utf-8-sig"))
    except FileRefusedError as refusal:
        return [], [] if refusal.absent else [f"Obsidian's excluded files are unknown: {refusal}"]
    except ValueError as error:
        return [], [f"Obsidian's excluded files are unknown: {APP_CONFIG}: {error}"]
    filters = config.get("userIgnoreFilters") if isinstance(config, dict) else None
    if filters is None:
        return [], []
    if not isinstance(filters, list):
        return [], [f"{APP_CONFIG}: userIgnoreFilters is no list; it was ignored"]
    return [text for text in filters if isinstance(text, str) and text], []


def _obsidian_rule(text: str) -> Callable[[str], bool]:
    if len(text) > 1 and text.startswith("/") and text.endswith("/"):
        pattern = re.compile(text[1:-1])
        return lambda page: pattern.search(page) is not None
    return lambda page: page.startswith(text)


def _glob_rule(glob: str) -> Callable[[str], bool]:
    """`*` stays inside a folder, `**` crosses folders; a folder's name alone leaves out all below it."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", glob.strip("/"))
    pattern = re.compile("".join(parts.get(token) or re.escape(token) for token in tokens) + "(?:/.*)?", re.DOTALL)
    return lambda page: pattern.fullmatch(page) is not None
