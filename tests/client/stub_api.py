"""A stand-in for the Messages API on the loopback: a function plays the model, and every request of the client is kept."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Block = dict[str, object]
Reply = Callable[["Request"], list[Block]]

_ERROR = {"type": "error", "error": {"type": "not_found_error", "message": "only POST /v1/messages is here"}}


def text(words: str) -> Block:
    """The model says something."""
    return {"type": "text", "text": words}


def tool(name: str, **given: object) -> Block:
    """The model calls a tool; the stub gives the call its id."""
    return {"type": "tool_use", "name": name, "input": given}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the client answered to one tool call."""

    call: str
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the client, as the model would see it."""

    method: str
    path: str
    body: dict[str, object]

    @property
    def system(self) -> str:
        return _flat(self.body.get("system"))

    @property
    def is_agent(self) -> bool:
        """Whether a subagent asks, not the main conversation."""
        return "cc_is_subagent=true" in self.system

    @property
    def tools(self) -> list[str]:
        return [one["name"] for one in self.body.get("tools", [])]

    @property
    def user_text(self) -> str:
        """Reminders, prompts and expanded skills, in order."""
        return "\n".join(_flat(message["content"]) for message in self._messages("user"))

    @property
    def results(self) -> list[ToolResult]:
        """The answers to tool calls over the whole conversation, in order."""
        blocks = [
            block for message in self._messages("user") if isinstance(message["content"], list) for block in message["content"]
        ]
        found = [block for block in blocks if block.get("type") == "tool_result"]
        return [ToolResult(one["tool_use_id"], _flat(one.get("content")), bool(one.get("is_error"))) for one in found]

    @property
    def results_of_this_turn(self) -> list[ToolResult]:
        """Those since a person last typed something."""
        typed = [place for place, message in enumerate(self.body["messages"]) if _is_typed(message)]
        return Request(self.method, self.path, {"messages": self.body["messages"][typed[-1] :]}).results

    def _messages(self, role: str) -> list[dict[str, object]]:
        return [message for message in self.body.get("messages", []) if message["role"] == role]


class StubApi:
    """Listens on 127.0.0.1 while it is entered; `calls` are the requests to the model, `others` must stay empty."""

    def __init__(self, reply: Reply) -> None:
        self.calls: list[Request] = []
        self.others: list[Request] = []
        self.faults: list[Exception] = []
        self._reply = reply
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> StubApi:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self.faults and kind is None:
            raise self.faults[0]

    def answer(self, request: Request) -> list[Block] | None:
        """The model's blocks, or None where the function that plays it failed or nothing is here."""
        with self._lock:
            if request.method != "POST" or request.path.partition("?")[0] != "/v1/messages":
                self.others.append(request)
                return None
            self.calls.append(request)
            try:
                blocks = self._reply(request)
            except Exception as fault:  # noqa: BLE001 - it is raised again when the client has ended
                self.faults.append(fault)
                return None
            # With the port in it no id comes twice in a conversation that is resumed with another stub.
            port = self._server.server_address[1]
            return [
                block | {"id": f"toolu_{port}_{next(self._ids):06d}"} if block["type"] == "tool_use" else block
                for block in blocks
            ]


def _handler(stub: StubApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing: what was asked is kept in the stub."""

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(raw) if raw else {}
            blocks = stub.answer(Request(self.command, self.path, body))
            if blocks is None:
                self._send(400, "application/json", json.dumps(_ERROR))
            elif body.get("stream"):
                events = "".join(
                    f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in _events(blocks)
                )
                self._send(200, "text/event-stream; charset=utf-8", events)
            else:
                self._send(200, "application/json", json.dumps(_message(blocks) | {"content": blocks}))

        do_GET = do_HEAD = do_PUT = do_DELETE = do_POST  # noqa: N815 - http.server looks for these names

        def _send(self, status: int, kind: str, content: str) -> None:
            data = content.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    return Handler


def _message(blocks: list[Block]) -> dict[str, object]:
    stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    begun = {"id": "msg_stub", "type": "message", "role": "assistant", "model": "stub", "stop_sequence": None}
    return begun | {"content": [], "stop_reason": stop, "usage": usage}


def _events(blocks: list[Block]) -> Iterator[tuple[str, dict[str, object]]]:
    """The stream of one answer: https://docs.claude.com/en/api/messages-streaming."""
    whole = _message(blocks)
    yield "message_start", {"message": whole | {"stop_reason": None}}
    for place, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield "content_block_start", {"index": place, "content_block": empty}
        yield "content_block_delta", {"index": place, "delta": delta}
        yield "content_block_stop", {"index": place}
    yield "message_delta", {"delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 5}}
    yield "message_stop", {}


def _is_typed(message: dict[str, object]) -> bool:
    content = message["content"]
    if message["role"] != "user":
        return False
    return isinstance(content, str) or not any(block.get("type") == "tool_result" for block in content)


def _flat(content: object) -> str:
    """The text of a content in any of its shapes."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    parts = [one["text"] if one.get("type") == "text" else _flat(one.get("content")) for one in blocks]
    return "\n".join(part for part in parts if part)
