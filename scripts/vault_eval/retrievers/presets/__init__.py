"""Searchers that many people have, each with all that is needed to ask it: one module a product."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vault_eval.retrievers.answers import found_in_text
from vault_eval.retrievers.external_results import FoundPage
from vault_eval.strict_json import JsonValue


def _as_it_is(query: str) -> str:
    return query


@dataclass(frozen=True, slots=True)
class CommandPreset:
    """A program to run once a query.

    `words` may hold `{query}`, `{depth}` and `{vault}`; without `{query}` the query is given on stdin. `nothing_found` is the
    exit code beside 0 that is no failure. `measures` says what its order means, `version` prints what it is.
    """

    words: tuple[str, ...]
    measures: str = ""
    version: tuple[str, ...] = ()
    nothing_found: int = 0
    query: Callable[[str], str] = _as_it_is
    read: Callable[[str], list[FoundPage]] = found_in_text


@dataclass(frozen=True, slots=True)
class Question:
    """One request: a GET, or a POST of JSON where there is a `body`."""

    url: str
    body: JsonValue = None


Settings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HttpPreset:
    """A server to ask. `ask` makes a request for so many results of a query, `read` takes the results out of its answer.

    `url` is where it is unless told otherwise, `settings` are those it has, with the value each has when it is not given.
    `results_max` is the number of results it can be asked for; 0 where it cannot be asked for a number.
    """

    url: str | None
    ask: Callable[[str, str, int, Settings], Question]
    read: Callable[[JsonValue, Settings, frozenset[str]], list[FoundPage]]
    settings: Settings
    results_max: int = 0
    measures: str = ""


@dataclass(frozen=True, slots=True)
class McpPreset:
    """A server to start and its search tool; `arguments` is JSON in which `{query}` and `{depth}` are filled in."""

    words: tuple[str, ...]
    tool: str
    arguments: str
