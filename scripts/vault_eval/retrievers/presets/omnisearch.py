"""Omnisearch (https://github.com/scambier/obsidian-omnisearch): what Obsidian shows in its window, through its HTTP server."""

from __future__ import annotations

from urllib.parse import quote

from vault_eval.retrievers.answers import AnswerError, found_in_json
from vault_eval.retrievers.external_results import FoundPage
from vault_eval.retrievers.presets import HttpPreset, Question, Settings
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted


def ask(url: str, query: str, size: int, settings: Settings) -> Question:  # noqa: ARG001 - it takes neither
    """A search as the window does it; it gives as many results as it likes."""
    return Question(f"{url}/search?q={quote(query, safe='')}")


def read(value: JsonValue, settings: Settings, vault_names: frozenset[str]) -> list[FoundPage]:  # noqa: ARG001 - it has none
    """The results; raises AnswerError where they come from another vault than one of this name."""
    if not isinstance(value, list):
        raise AnswerError("gave no list of results")
    for record in value:
        name = record.get("vault") if isinstance(record, dict) else None
        if isinstance(name, str) and name not in vault_names:
            raise AnswerError(f"searches the vault {quoted(name)}; open {quoted(min(vault_names))} in Obsidian, and no other")
    return found_in_json(value)


HTTP = HttpPreset(
    url="http://localhost:51361",
    ask=ask,
    read=read,
    settings={},
    measures="Omnisearch with the settings of its owner",
)
