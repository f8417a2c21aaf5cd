"""One MCP server on stdin and stdout, through the official SDK: started, asked and stopped from ordinary, waiting code."""

from __future__ import annotations

import logging
import math
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from vault_eval import launcher
from vault_eval.errors import MissingPackageError
from vault_eval.retrievers.bounded_process import telling_line
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

if TYPE_CHECKING:
    import anyio
    from anyio.abc import TaskStatus
    from mcp import Client, StdioServerParameters
    from mcp.types import CallToolResult

_STDERR_KEPT_BYTES = 65_536
_STDERR_WAIT_SECONDS = 1.0
_TOOL_PAGES_MAX = 100


class ServerFailedError(Exception):
    """The server did not start, did not answer in time, or answered with an error; `str(error)` is the end of a sentence."""


class Tool(NamedTuple):
    """A tool that the server offers, and the JSON schema of its arguments."""

    name: str
    properties: Mapping[str, JsonValue]


class Answer(NamedTuple):
    """What a tool answered: its structured content, None without any, its texts, and the addresses of resources it named."""

    structured: JsonValue
    texts: Sequence[str]
    addresses: Sequence[str]


class McpServer:
    """A running server; `name` is what it calls itself, with its version. Close it, however it behaves."""

    def __init__(self, argv: Sequence[str], folder: str, timeout_seconds: float) -> None:
        """Start the server in `folder` with our environment. Raises ServerFailedError, MissingPackageError without the SDK."""
        try:
            from anyio.from_thread import start_blocking_portal
            from mcp import StdioServerParameters
        except ImportError:
            lacks = f"mcp: needs the package mcp, which this Python ({sys.executable}) lacks"
            raise MissingPackageError(f"{lacks}. Run: {launcher.install_command(['mcp'])}") from None
        logging.getLogger("mcp").addHandler(logging.NullHandler())  # else its tracebacks are printed
        self._timeout_seconds = timeout_seconds
        self._stderr = _Tail()
        self._open = ExitStack()  # closed in the order stop, end of the server, event loop, stderr
        self._open.callback(self._stderr.close)
        try:
            self._portal = self._open.enter_context(start_blocking_portal())
            given = StdioServerParameters(command=argv[0], args=list(argv[1:]), env=dict(os.environ), cwd=folder)
            serving, (client, stop) = self._portal.start_task(self._serve, given)
            self._open.callback(serving.exception)
            self._open.callback(self._portal.call, stop.set)
            self._client: Client = client
            self.name = _name(client)
            self.tools = self._portal.call(self._list_tools)
        except BaseException as error:
            self._open.close()
            if not isinstance(error, Exception):
                raise
            raise ServerFailedError(f"did not start: {self._problem(error)}") from None

    def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        """The answer of one tool. Raises ServerFailedError for an error result, too."""
        try:
            result = self._portal.call(self._call, tool, arguments)
        except Exception as error:  # noqa: BLE001 - whatever the SDK meets with one call is the end of that call
            raise ServerFailedError(f"failed: {self._problem(error)}") from None
        texts = [block.text for block in result.content if block.type == "text"]
        if result.is_error:
            raise ServerFailedError(f"answered with an error: {quoted(' '.join(texts))}")
        links = [str(block.uri) for block in result.content if block.type == "resource_link"]
        embedded = [str(block.resource.uri) for block in result.content if block.type == "resource"]
        return Answer(result.structured_content, texts, [*links, *embedded])

    def close(self) -> None:
        """Stop the server: asked to end, then killed with all that it started, a few seconds in all."""
        self._open.close()

    async def _serve(self, given: StdioServerParameters, *, task_status: TaskStatus[tuple[Client, anyio.Event]]) -> None:
        """The whole life of the server in one task, as the SDK needs it; only the start is bounded in time."""
        import anyio
        from mcp import Client, stdio_client

        stop = anyio.Event()
        with anyio.fail_after(self._timeout_seconds) as starting:
            async with Client(stdio_client(given, errlog=self._stderr.file)) as client:
                starting.deadline = math.inf
                task_status.started((client, stop))
                await stop.wait()

    async def _call(self, tool: str, arguments: Mapping[str, JsonValue]) -> CallToolResult:
        import anyio

        with anyio.fail_after(self._timeout_seconds):
            return await self._client.call_tool(tool, dict(arguments))

    async def _list_tools(self) -> tuple[Tool, ...]:
        import anyio

        tools: list[Tool] = []
        cursor = None
        with anyio.fail_after(self._timeout_seconds):
            for _ in range(_TOOL_PAGES_MAX):
                page = await self._client.list_tools(cursor=cursor)
                tools += [Tool(tool.name, tool.input_schema.get("properties") or {}) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    break
        return tuple(tools)

    def _problem(self, error: BaseException) -> str:
        while inner := getattr(error, "exceptions", ()):  # a group, of which each is enough
            error = inner[0]
        if isinstance(error, TimeoutError):
            return f"it took longer than {self._timeout_seconds:g} seconds"
        said = telling_line(bytes(self._stderr.kept))
        return quoted(str(error) or repr(error)) + (f"; it said {quoted(said)}" if said else "")


class _Tail:
    """The end of what a server writes to stderr, read all the while so that it never waits."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file = os.fdopen(writing, "w")
        self.kept = bytearray()
        self._thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take what is still on its way, from a server that has ended."""
        self.file.close()
        self._thread.join(_STDERR_WAIT_SECONDS)

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while data := pipe.read(_STDERR_KEPT_BYTES):
                self.kept += data
                del self.kept[:-_STDERR_KEPT_BYTES]


def _name(client: Client) -> str:
    info = client.server_info
    return "" if info is None else f"{info.name} {info.version}"
