"""`mcp:` on small servers of the official SDK that answer, refuse, hang and die; on a real qmd where there is one."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence

import pytest

from vault_eval.errors import MissingPackageError, UsageError
from vault_eval.retrievers.protocol import ColdOnly, WarmOnly

# The SDK itself warns about modules that its own dependencies have renamed.
pytestmark = pytest.mark.filterwarnings("default")

# A server of the standard library alone, since those of the SDK take a second to start. It speaks the older handshake.
PLAIN = """
import json, os, signal, sys, time

def text(*texts, error=False):
    return {{"content": [{{"type": "text", "text": one}} for one in texts], "isError": error}}

def call(name, arguments):
    query = next(value for value in arguments.values() if isinstance(value, str))
    if query == "error":
        return text("the index is locked", error=True)
    if query == "prose":
        return text("I found nothing, sorry")
    if query == "typed":
        return {{"content": [], "structuredContent": {{"results": [{{"path": "Boat.md", "score": "high"}}]}}}}
    if query == "slow":
        time.sleep(1.5)
    if query == "die":
        print("ValueError: out of memory", file=sys.stderr, flush=True)
        os._exit(3)
    return text(query + ".md\\n" + "".join(str(value) + ".md\\n" for value in arguments.values()))

{start}
tools = [{{"name": name, "inputSchema": {{"type": "object", "properties": {{one: {{}} for one in {arguments!r}}}}}}} for name in {names!r}]
for line in sys.stdin:
    asked = json.loads(line)
    params = asked.get("params") or {{}}
    if asked.get("method") == "initialize":
        about = {{"serverInfo": {{"name": "notes", "version": "7.1"}}, "capabilities": {{"tools": {{}}}}}}
        answer = {{"result": {{"protocolVersion": params["protocolVersion"], **about}}}}
    elif asked.get("method") == "tools/list":  # one tool a page
        page = int(params.get("cursor") or 0)
        more = {{"nextCursor": str(page + 1)}} if page + 1 < len(tools) else {{}}
        answer = {{"result": {{"tools": tools[page : page + 1], **more}}}}
    elif asked.get("method") == "tools/call":
        answer = {{"result": call(params["name"], params["arguments"])}}
    else:
        answer = {{"error": {{"code": -32601, "message": "no such method"}}}}
    if "id" in asked:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], **answer}}), flush=True)
"""

SDK = """
import json, os
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, EmbeddedResource, ResourceLink, TextContent, TextResourceContents

server = MCPServer("notes", version="7.1")
found = [{"path": "Sea/Tides.md", "score": 2.0}, {"path": "Boat.md", "score": 1.0}, {"path": "old.md", "score": 0.5}]

@server.tool(structured_output=False)
def search_notes(query: str, limit: int = 5) -> CallToolResult:
    home = os.environ["VAULT"]
    if query == "structured":
        return CallToolResult(content=[TextContent(text="Found some")], structured_content={"results": found[:limit]})
    if query == "blocks":
        return CallToolResult(content=[TextContent(text=json.dumps(one)) for one in found])
    if query == "links":
        link = ResourceLink(name="a", uri=f"file://{home}/Sea/Tides.md")
        resource = EmbeddedResource(resource=TextResourceContents(uri=f"file://{home}/Boat.md", text="A boat"))
        return CallToolResult(content=[link, resource])
    raise ValueError("bad query")

@server.tool()
def get_paths(needle: str) -> str:
    return f"{needle}.md"

server.run("stdio")
"""


@pytest.fixture
def sdk() -> None:
    if importlib.util.find_spec("mcp") is None:
        if os.environ.get("REQUIRE_MCP") == "1":
            pytest.fail("the package mcp is not installed, and REQUIRE_MCP=1")
        pytest.skip("the package mcp is not installed")


@pytest.fixture
def served(sdk, tmp_path) -> Callable[..., str]:
    """The words that run the plain server with tools of such names, which all take these arguments."""

    def write(names: Sequence[str] = ("search",), arguments: Sequence[str] = ("query",), start: str = "") -> str:
        path = tmp_path / "server.py"
        path.write_text(PLAIN.format(names=list(names), arguments=list(arguments), start=start), encoding="utf-8")
        return f"{shlex.quote(sys.executable)} -I {path}"

    return write


def pages(ranking) -> list[tuple[str, float | None]]:
    assert ranking.error is None
    return [(one.page, one.score) for one in ranking.pages]


def test_answers_in_every_form_are_read_from_a_server_of_the_sdk(outside, sdk, small_vault, tmp_path, monkeypatch):
    monkeypatch.setenv("VAULT", str(small_vault))
    (tmp_path / "server.py").write_text(SDK, encoding="utf-8")
    before = sorted(small_vault.rglob("*"))
    searcher = outside(f"mcp:{shlex.quote(sys.executable)} -I {tmp_path}/server.py")
    ranking = searcher.search("structured", 10)
    assert (pages(ranking), ranking.outside_vault) == ([("Sea/Tides.md", 2.0), ("Boat.md", 1.0)], 1)
    assert pages(searcher.search("structured", 1)) == [("Sea/Tides.md", 2.0)]
    assert pages(searcher.search("blocks", 10)) == [("Sea/Tides.md", 2.0), ("Boat.md", 1.0)]
    assert pages(searcher.search("links", 10)) == [("Sea/Tides.md", None), ("Boat.md", None)]
    assert searcher.search("raise", 10).error.startswith("the tool 'search_notes' answered with an error: ")
    described = searcher.describe().settings
    assert (described["server"], described["tool"]) == ("notes 7.1", "search_notes")
    assert described["arguments"] == '{"query": "{query}", "limit": "{depth}"}'
    wrapped = outside(f"mcp:tool=get_paths argument=needle {shlex.quote(sys.executable)} -I {tmp_path}/server.py")
    assert pages(wrapped.search("Boat", 10)) == [("Boat.md", None)]
    assert sorted(small_vault.rglob("*")) == before


def test_number_of_results_is_asked_for_where_the_tool_takes_one(outside, served):
    ranking = outside(f"mcp:{served(arguments=['q', 'top_k'])}").search("Boat", 7)
    assert (pages(ranking), ranking.outside_vault) == ([("Boat.md", None)], 1)  # 7.md
    assert outside(f"mcp:{served()}").search("Boat", 7).outside_vault == 0


def test_errors_are_errors_and_the_next_query_is_answered(outside, served):
    searcher = outside(f"mcp:{served()}")
    assert searcher.search("error", 10).error == "the tool 'search' answered with an error: 'the index is locked'"
    assert searcher.search("prose", 10).error == "the tool 'search' gave neither JSON nor paths, but 'I found nothing, sorry'"
    assert "a score is a number" in searcher.search("typed", 10).error
    assert pages(searcher.search("Boat", 10)) == [("Boat.md", None)]


def test_server_that_dies_makes_every_later_query_an_error(outside, served):
    searcher = outside(f"mcp:{served()}")
    assert searcher.search("die", 10).error.startswith("the tool 'search' failed: ")
    assert searcher.search("Boat", 10).error.endswith("it said 'ValueError: out of memory'")


def test_tool_that_hangs_is_an_error_in_time(outside, served):
    searcher = outside(f"mcp:timeout=0.8 {served()}")
    assert searcher.search("slow", 10).error == "the tool 'search' failed: it took longer than 0.8 seconds"


@pytest.mark.skipif(sys.platform == "win32", reason="the number of an ended process means nothing there")
def test_server_that_never_answers_is_refused_in_time_and_stopped_for_certain(outside, served, tmp_path):
    number = tmp_path / "number"
    start = f"signal.signal(signal.SIGTERM, signal.SIG_IGN); open({str(number)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    started = time.monotonic()
    with pytest.raises(UsageError, match=r"the server did not start: it took longer than 0\.5 seconds"):
        outside(f"mcp:timeout=0.5 {served(start=start)}")
    assert time.monotonic() - started < 10
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("raise SystemExit('no index here')", "no index here"),
        ("print('hello')\nraise RuntimeError('lost')", "RuntimeError: lost"),
    ],
)
def test_server_that_ends_at_once_is_refused_with_what_it_said(outside, served, start, says):
    with pytest.raises(UsageError, match=f"the server did not start: .*it said '{says}'"):
        outside(f"mcp:{served(start=start)}")


def test_line_on_stdout_that_is_no_message_is_passed_over(outside, served):
    assert pages(outside(f"mcp:{served(start='print(1, flush=True)')}").search("Boat", 10)) == [("Boat.md", None)]


def test_tool_and_argument_are_chosen_where_the_choice_is_clear(outside, served):
    searcher = outside(f"mcp:{served(['get_note', 'Vault-Query'], ['text'])}")
    assert pages(searcher.search("Boat", 10)) == [("Boat.md", None)]
    assert searcher.describe().settings["tool"] == "Vault-Query"


@pytest.mark.parametrize(
    ("settings", "names", "argument", "says"),
    [
        ("", ["get"], "q", "has no tools whose names say that they search; it offers 'get'; name one with tool=NAME"),
        ("", ["search", "find"], "q", "has 2 tools whose names say that they search; it offers 'search', 'find'"),
        ("tool=serch ", ["search"], "q", "has no tool 'serch'; it offers 'search'"),
        ("", ["search"], "needle", "the tool 'search' has no argument query or q or"),
        ("argument=query ", ["search"], "needle", "has no argument query; it takes 'needle'; name one with argument=NAME"),
        ("arguments=query ", ["search"], "q", "arguments='query': not JSON"),
        ("arguments='[1]' ", ["search"], "q", "is no JSON object with {query} in it"),
        ("colour=red ", ["search"], "q", "mcp has no setting 'colour'"),
    ],
)
def test_choice_that_is_not_clear_is_refused_with_what_there_is(outside, served, settings, names, argument, says):
    with pytest.raises(UsageError) as raised:
        outside(f"mcp:{settings}{served(names, [argument])}")
    assert says in str(raised.value)


def test_arguments_may_be_given_whole(outside, served):
    words = served(["get"], ["needle"])
    given = """arguments='{"needle": "Sea/{query}", "k": "{depth}"}'"""
    ranking = outside(f"mcp:tool=get {given} {words}").search("Tides", 3)
    assert (pages(ranking), ranking.outside_vault) == ([("Sea/Tides.md", None)], 1)  # 3.md
    assert pages(outside(f"mcp:tool=get argument=needle {words}").search("Boat", 3)) == [("Boat.md", None)]


def test_number_of_results_is_given_as_a_number_and_not_as_text(outside, served):
    given = """arguments='{"k": "{depth}", "needle": "{query}"}'"""
    # The server takes the first text for the query.
    assert pages(outside(f"mcp:tool=get {given} {served(['get'])}").search("Boat", 3)) == [("Boat.md", None)]


def test_vault_is_named_to_a_server_that_asks_for_it(outside, served, small_vault):
    start = f"assert sys.argv[1:] == [{str(small_vault.resolve())!r}], sys.argv"
    searcher = outside(f"mcp:{served(start=start)} {{vault}}")
    assert pages(searcher.search("Boat", 10)) == [("Boat.md", None)]
    assert searcher.describe().settings["program"].endswith("'{vault}'")


def test_latency_of_a_running_server_is_warm(outside, served):
    searcher = outside(f"mcp:{served()}")
    assert isinstance(searcher, WarmOnly)
    assert not isinstance(searcher, ColdOnly)
    assert (searcher.index(), searcher.bound_digest()) == (None, None)


def test_program_that_is_not_there_is_refused(outside):
    with pytest.raises(UsageError, match="there is no program 'no-such-server'"):
        outside("mcp:no-such-server")


def test_sdk_that_is_not_installed_is_named_with_the_command(outside, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingPackageError, match="install 'mcp>=2,<3'"):
        outside("mcp:echo")


def test_qmd_answers_through_its_server_as_on_its_command_line(outside, sdk, qmd):
    through_mcp, by_command = outside("mcp:prefix=notes/ qmd"), outside("command:qmd")
    for query in ("water", "paint boat", "coffee", "xyzzy"):
        assert [one.page for one in through_mcp.search(query, 10).pages] == [
            one.page for one in by_command.search(query, 10).pages
        ]
    assert through_mcp.search("water", 1).pages[0].page == "Sea/Tide tables.md"
    assert outside("mcp:qmd").search("water", 10).outside_vault == 3  # without its prefix a collection is no vault
    assert through_mcp.describe().settings["server"].startswith("qmd 2.")
    assert "unmatched double quote" in through_mcp.search('a "b', 10).error
