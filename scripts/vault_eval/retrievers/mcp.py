"""`mcp:PROGRAM ARG…`: the search tool of an MCP server on stdin and stdout, what an assistant itself asks; `mcp:qmd`.

The server is started once and answers every query. Settings stand before the program: `tool=NAME`; `argument=NAME`, which
takes the query, or `arguments=JSON` with `{query}` and `{depth}` in it; `timeout=SECONDS`; `prefix=TEXT`, taken off every path.
`{vault}` in the words is filled in.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from vault_eval import strict_json
from vault_eval.errors import UsageError
from vault_eval.model import Ranking, RetrieverDescription
from vault_eval.retrievers.answers import AnswerError, found_in_json, found_in_text
from vault_eval.retrievers.external_results import FoundPage, ranking_of
from vault_eval.retrievers.mcp_server import Answer, McpServer, ServerFailedError, Tool
from vault_eval.retrievers.presets import McpPreset, qmd
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec
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
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

NEEDS_INDEX = False
PRESETS = {"qmd": qmd.MCP}
_SEARCHES = ("search", "query", "find", "retriev", "lookup")
# What takes the query, and what takes the number of results, where a tool has an argument of that name.
_QUERY_NAMES = ("query", "q", "search_query", "searchQuery", "search", "text", "question")
_DEPTH_NAMES = ("limit", "top_k", "topK", "k", "n", "max_results", "maxResults", "num_results", "numResults", "count")


def open_retriever(spec: Spec, context: RetrieverContext) -> McpSearch:
    """The server of a spec, started, and its search tool.

    Raises UsageError where the server does not start, where no tool or no argument can be told to be the right one, and for
    words that cannot be; MissingPackageError without the SDK.
    """
    spec, words = words_of(spec)
    bounds = bounds_of(spec, ("tool", "argument", "arguments"))
    preset = PRESETS.get(words[0]) if len(words) == 1 else None
    if preset is not None:
        words, spec = preset.words, spec._replace(settings={**_settings(preset), **spec.settings})
    argv = program_in(words, option_of(spec))
    with ExitStack() as opened:
        folder = empty_folder(context.vault.root)
        opened.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            server = McpServer([word.replace(VAULT, context.vault.root) for word in argv], folder, bounds.timeout_seconds)
        except ServerFailedError as error:
            raise UsageError(f"{option_of(spec)}: the server {error}") from None
        opened.callback(server.close)
        tool = _tool(server.tools, spec)
        asked = Asked(shlex.join(words), server, tool.name, _arguments(tool, spec))
        return McpSearch(spec.text, asked, bounds, context, opened.pop_all())


class Asked(NamedTuple):
    """What is asked: a tool of a server that runs `program`, and its arguments with `{query}` and `{depth}` not yet filled in."""

    program: str
    server: McpServer
    tool: str
    arguments: Mapping[str, JsonValue]


class McpSearch(WithoutIndex):
    """Asks one tool of a server that runs until this is closed."""

    why_no_cold = "the server is started once and answers every query"

    def __init__(self, name: str, asked: Asked, bounds: Bounds, context: RetrieverContext, opened: ExitStack) -> None:
        self._name = name
        self._asked = asked
        self._bounds = bounds
        self._root = context.vault.root
        self._pages = frozenset(context.vault.names)
        self._opened = opened

    def describe(self) -> RetrieverDescription:
        """The program, what the server calls itself, the tool and its arguments as they are asked, and what bounds an answer."""
        settings = {
            "program": self._asked.program,
            "server": self._asked.server.name or None,
            "tool": self._asked.tool,
            "arguments": strict_json.dumps(self._asked.arguments),
            "prefix": self._bounds.prefix or None,
            "timeout_s": self._bounds.timeout_seconds,
        }
        return RetrieverDescription(self._name, settings)

    def search(self, query: str, depth: int) -> Ranking:
        """What the tool answered, in its order. `error` where it failed, took too long, or answered what cannot be read."""
        arguments = {name: _filled(value, query, depth) for name, value in self._asked.arguments.items()}
        try:
            found = _found(self._asked.server.call(self._asked.tool, arguments))
        except (ServerFailedError, AnswerError) as error:
            return Ranking((), error=f"the tool {quoted(self._asked.tool)} {error}")
        return ranking_of(found, self._pages, self._root, depth, prefix=self._bounds.prefix)

    def close(self) -> None:
        """Stop the server, and remove the folder that it ran in."""
        self._opened.close()


def _settings(preset: McpPreset) -> dict[str, str]:
    return {"tool": preset.tool, "arguments": preset.arguments}


def _tool(tools: Sequence[Tool], spec: Spec) -> Tool:
    """The tool named, else the only one that has one of `_SEARCHES` in its name. Raises UsageError that lists the tools."""
    named = spec.settings.get("tool")
    fitting = [tool for tool in tools if (tool.name == named if named else _says_search(tool.name))]
    if len(fitting) == 1:
        return fitting[0]
    offered = f"it offers {', '.join(quoted(tool.name) for tool in tools)}" if tools else "it offers none"
    problem = f"has no tool {quoted(named)}" if named else f"has {len(fitting) or 'no'} tools whose names say that they search"
    raise UsageError(f"{option_of(spec)}: the server {problem}; {offered}; name one with tool=NAME")


def _says_search(name: str) -> bool:
    return any(word in name.lower() for word in _SEARCHES)


def _arguments(tool: Tool, spec: Spec) -> dict[str, JsonValue]:
    """The arguments that a spec gives, else the query and, where the tool takes it, the number of results."""
    given = spec.settings.get("arguments")
    if given is not None:
        return _given_arguments(given, spec)
    names = (spec.settings["argument"],) if "argument" in spec.settings else _QUERY_NAMES
    query = next((name for name in names if name in tool.properties), None)
    if query is None:
        takes = f"it takes {', '.join(map(quoted, tool.properties))}" if tool.properties else "it takes none"
        problem = f"the tool {quoted(tool.name)} has no argument {' or '.join(names)}"
        raise UsageError(f"{option_of(spec)}: {problem}; {takes}; name one with argument=NAME, or write arguments=JSON")
    depth = next((name for name in _DEPTH_NAMES if name in tool.properties), None)
    return {query: QUERY, **({depth: DEPTH} if depth else {})}


def _given_arguments(text: str, spec: Spec) -> dict[str, JsonValue]:
    try:
        value = strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        raise UsageError(f"{option_of(spec)}: arguments={quoted(text)}: {error}") from None
    if not isinstance(value, dict) or QUERY not in text:
        raise UsageError(f"{option_of(spec)}: arguments={quoted(text)} is no JSON object with {QUERY} in it")
    return value


def _filled(value: JsonValue, query: str, depth: int) -> JsonValue:
    """The value with the query in every text that asks for it; the text `{depth}` becomes a number."""
    if isinstance(value, dict):
        return {name: _filled(inner, query, depth) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, query, depth) for inner in value]
    if isinstance(value, str):
        return depth if value == DEPTH else value.replace(QUERY, query)
    return value


def _found(answer: Answer) -> list[FoundPage]:
    """The results in the structured content where there is any, else in the texts and the resources named."""
    structured = answer.structured
    if isinstance(structured, dict) and isinstance(text := structured.get("result"), str):
        return found_in_text(text)  # a text that the server's library has wrapped
    if structured is not None:
        return found_in_json(structured)
    return [one for text in answer.texts for one in found_in_text(text)] + [FoundPage(address) for address in answer.addresses]
