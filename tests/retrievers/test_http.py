"""`http:` on a server that speaks the formats of Omnisearch and OpenSearch, and fails in the ways that servers fail."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from vault_eval.errors import UsageError
from vault_eval.retrievers.bounded_http import HttpFailedError, address_of, fetch_bounded
from vault_eval.retrievers.protocol import ColdOnly, WarmOnly

# Chunks of notes as a cluster may hold them, by score for any query.
CLUSTER = [
    {"_id": "1", "_score": 9.5, "_source": {"path": "Sea/Tides.md", "meta": {"file": "Sea/Tides.md"}, "flat.file": "Boat.md"}},
    {"_id": "2", "_score": 9.0, "_source": {"path": "Sea/Tides.md", "meta": {"file": "Boat.md"}, "flat.file": "Boat.md"}},
    {"_id": "Boat.md", "_score": 8.0, "_source": {"path": "Boat.md", "meta": {"file": "Café.md"}, "flat.file": "Boat.md"}},
    {"_id": "4", "_score": None, "_source": {"path": "old.md", "meta": {"file": "old.md"}, "flat.file": "Boat.md"}},
]


def omni(path: str, score: object = 1.5, vault: str = "vault") -> dict[str, object]:
    found = {"score": score, "vault": vault, "path": path, "basename": path, "foundWords": ["water"]}
    return {**found, "matches": [{"match": "water", "offset": 3}], "excerpt": "the <b>water</b>"}


class Handler(BaseHTTPRequestHandler):
    """Answers by the first part of the path; what it was asked is kept on the server."""

    def log_message(self, *_: object) -> None:
        """Keep stderr quiet."""

    def do_GET(self) -> None:
        self._handle(None)

    def do_POST(self) -> None:
        self._handle(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _handle(self, body) -> None:
        self.server.asked.append((self.path, body, dict(self.headers)))
        url = urlsplit(self.path)
        self.query, self.body = parse_qs(url.query), body
        with suppress(ConnectionError):
            getattr(self, f"_{url.path.split('/')[1]}")()

    def _send(self, status: int, text: str | bytes, **headers: str) -> None:
        data = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _search(self) -> None:  # Omnisearch
        answers = {
            "water": [omni("Sea/Tides.md", 12.5), omni("Café.md", 3), omni("picture.png")],
            "other": [omni("Boat.md", vault="Work")],
            "typed": [omni("Boat.md", "high")],
            "object": {"path": "Boat.md"},
        }
        self._send(200, json.dumps(answers.get(self.query["q"][0], [])))

    def _plain(self) -> None:
        found = (
            {"results": [{"file": "Boat.md", "score": float(self.query["n"][0])}]}
            if self.query["q"] == ["a&b/é"]
            else {"results": []}
        )
        self._send(200, json.dumps(found))

    def _notes(self) -> None:  # OpenSearch
        hits = CLUSTER[: self.body["size"]]
        shards = {"total": 5, "successful": 5, "skipped": 0, "failed": 0}
        self._send(200, json.dumps({"took": 1, "timed_out": False, "_shards": shards, "hits": {"max_score": 9.5, "hits": hits}}))

    def _chunks(self) -> None:  # two notes under a hundred chunks of one
        hits = [{"_id": str(n), "_score": 1.0, "_source": {"path": "Boat.md" if n < 100 else "Café.md"}} for n in range(101)]
        self._send(200, json.dumps({"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits[: self.body["size"]]}}))

    def _shards(self) -> None:
        self._send(200, json.dumps({"timed_out": False, "_shards": {"failed": 2}, "hits": {"hits": CLUSTER}}))

    def _timed(self) -> None:
        self._send(200, json.dumps({"timed_out": True, "_shards": {"failed": 0}, "hits": {"hits": CLUSTER}}))

    def _absent(self) -> None:
        self._send(404, '{"error": {"type": "index_not_found_exception"}, "status": 404}')

    def _broken(self) -> None:
        self._send(500, "")

    def _words(self) -> None:
        self._send(200, "<html>Sign in</html>")

    def _latin(self) -> None:
        self._send(200, b'[{"path": "Caf\xe9.md"}]')

    def _huge(self) -> None:
        self._send(200, b"[" + b" " * 17_000_000 + b"]")

    def _away(self) -> None:
        self._send(302, "", Location="http://192.0.2.1/search")

    def _endless(self) -> None:
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b" " * 1_000_000)

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.server.stopping.wait(0.02):
            self.wfile.write(b" ")

    def _late(self) -> None:  # a body that our own time-out cuts off
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        while not self.server.stopping.wait(0.02):
            self.wfile.write(b" ")

    def _cut(self) -> None:  # what came is an answer by itself
        self._send(200, '{"hits":{"hits":[]}}', **{"Content-Length": "1000"})

    def _unended(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b'14\r\n{"hits":{"hits":[]}}\r\n')

    def _silent(self) -> None:
        self.server.stopping.wait(20)

    def _hangup(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)

    def _garbage(self) -> None:
        self.wfile.write(b"\x00\x01 not HTTP at all\r\n\r\n")


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    made.asked, made.stopping = [], threading.Event()
    serving = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    yield made
    made.stopping.set()
    made.shutdown()
    made.server_close()
    serving.join()


@pytest.fixture
def at(server) -> str:
    return f"http://localhost:{server.server_address[1]}"


def pages(ranking) -> list[tuple[str, float | None]]:
    assert ranking.error is None
    return [(one.page, one.score) for one in ranking.pages]


def test_address_is_filled_in_percent_encoded(outside, server, at):
    searcher = outside(f"http:{at}/plain?q={{query}}&n={{depth}}")
    assert pages(searcher.search("a&b/é", 20)) == [("Boat.md", 20.0)]
    assert pages(searcher.search("{depth}", 20)) == []
    assert [asked[0] for asked in server.asked] == ["/plain?q=a%26b%2F%C3%A9&n=20", "/plain?q=%7Bdepth%7D&n=20"]


def test_omnisearch_results_are_read_in_their_order(outside, server, at):
    searcher = outside(f"http:omnisearch {at}")
    ranking = searcher.search("water", 10)
    assert (pages(ranking), ranking.outside_vault) == ([("Sea/Tides.md", 12.5), ("Café.md", 3.0)], 1)
    assert pages(searcher.search("nothing & more", 10)) == []
    assert server.asked[-1][0] == "/search?q=nothing%20%26%20more"


def test_omnisearch_of_another_vault_is_an_error_even_where_paths_are_equal(outside, at):
    error = outside(f"http:omnisearch {at}").search("other", 10).error
    assert error.endswith("searches the vault 'Work'; open 'vault' in Obsidian, and no other")


def test_omnisearch_is_looked_for_at_its_own_port(outside):
    assert outside("http:omnisearch").describe().settings["address"] == "http://localhost:51361"


def test_opensearch_is_asked_by_a_match_query_and_its_hits_keep_their_order(outside, server, at):
    searcher = outside(f"http:text=title^2,body opensearch {at}/notes/")
    ranking = searcher.search('wa"ter', 10)
    assert (pages(ranking), ranking.outside_vault) == ([("Sea/Tides.md", 9.5), ("Boat.md", 8.0)], 1)
    path, body, headers = server.asked[0]
    assert path == "/notes/_search?allow_partial_search_results=false"
    assert body == {"query": {"multi_match": {"query": 'wa"ter', "fields": ["title^2", "body"]}}, "size": 10, "_source": ["path"]}
    assert headers["Content-Type"] == "application/json"
    assert "Authorization" not in headers


@pytest.mark.parametrize(
    ("field", "expected"),
    [("_id", ["Boat.md"]), ("meta.file", ["Sea/Tides.md", "Boat.md", "Café.md"]), ("flat.file", ["Boat.md"])],
)
def test_field_of_the_path_may_be_the_id_nested_or_flat(outside, at, field, expected):
    ranking = outside(f"http:path={field} opensearch {at}/notes").search("q", 10)
    assert [page for page, _ in pages(ranking)] == expected


def test_index_of_chunks_is_asked_for_more_until_there_are_pages_enough(outside, server, at):
    searcher = outside(f"http:opensearch {at}/chunks")
    assert pages(searcher.search("q", 2)) == [("Boat.md", 1.0), ("Café.md", 1.0)]
    assert [asked[1]["size"] for asked in server.asked] == [2, 8, 32, 128]
    assert pages(searcher.search("q", 1)) == [("Boat.md", 1.0)]
    assert [asked[1]["size"] for asked in server.asked[4:]] == [1]


FAILURES = [
    ("shards", "gave a partial answer"),
    ("timed", "gave a partial answer"),
    ("absent", 'answered 404 and said \'{"error": {"type": "index_not_found_exception"}'),
    ("broken", "answered 500 and said nothing"),
    ("words", "gave no usable answer: not JSON"),
    ("latin", "gave an answer that is not UTF-8"),
    ("huge", "sent more than 16,777,216 bytes"),
    ("endless", "sent more than 16,777,216 bytes"),
    ("away", "answered 302 and points to 'http://192.0.2.1/search'; redirects are not followed"),
    ("drip", "took longer than 0.4 seconds"),
    ("late", "took longer than 0.4 seconds"),
    ("cut", "ended after 20 of 1,000 bytes"),
    ("unended", "ended before its answer was whole"),
    ("silent", "took longer than 0.4 seconds"),
    ("hangup", "failed: 'Remote end closed connection without response'"),
    ("garbage", "failed: "),
    ("plain", "gave no hits.hits, so it is no answer of a search"),
]


@pytest.mark.parametrize(("path", "says"), FAILURES)
def test_failure_is_an_error_and_never_an_empty_answer(outside, at, path, says):
    target = f"opensearch {at}/{path}?q=1&n=1#" if path == "plain" else f"opensearch {at}/{path}"
    ranking = outside(f"http:timeout=0.4 {target}").search("q", 10)
    assert (ranking.pages, says in (ranking.error or "")) == ((), True), ranking.error


@pytest.mark.parametrize(
    ("query", "says"), [("typed", "gave 'Boat.md' the score '\"high\"'"), ("object", "gave no list of results")]
)
def test_wrong_types_are_an_error(outside, at, query, says):
    assert says in outside(f"http:omnisearch {at}").search(query, 10).error


def test_field_that_hits_lack_is_an_error_that_says_how_to_name_it(outside, at):
    error = outside(f"http:path=file opensearch {at}/notes").search("q", 10).error
    assert "gave a hit without text in the field 'file'; name the field of the path with path=FIELD" in error


def test_server_that_does_not_run_is_an_error(outside):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = outside(f"http:http://127.0.0.1:{port}/?q={{query}}").search("q", 10).error
    assert error == f"http://127.0.0.1:{port} cannot be reached: Connection refused; is it running?"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue of connections refuses more of them")
def test_all_addresses_of_a_server_share_one_time_limit(monkeypatch):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf, ExitStack() as waiting:
        place = deaf.getsockname()
        for _ in range(3):  # nobody accepts them: the queue is full, and whoever comes next waits
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(place)
        found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", place)] * 4
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        started = time.monotonic()
        with pytest.raises(HttpFailedError, match=r"took longer than 0\.3 seconds$"):
            fetch_bounded(address_of(f"http://localhost:{place[1]}/"), timeout_seconds=0.3, max_bytes=100, allow_remote=False)
    # Four addresses, each with the whole limit, would take 4 * 0.3 = 1.2 seconds.
    assert time.monotonic() - started < 0.9


def test_the_answer_has_what_connecting_left_of_the_time(at, monkeypatch):
    look_up = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **kind: time.sleep(0.4) or look_up(*asked, **kind))
    started = time.monotonic()
    with pytest.raises(HttpFailedError, match=r"took longer than 0\.5 seconds$"):
        fetch_bounded(address_of(f"{at}/silent"), timeout_seconds=0.5, max_bytes=100, allow_remote=False)
    # 0.4 seconds for the name leave 0.1 for the answer; the whole limit once more would end after 0.9.
    assert time.monotonic() - started < 0.8


def test_other_machines_are_not_asked_unless_it_is_allowed(outside, server):
    # 0.0.0.0 is no loopback address, and yet reaches this machine.
    spec = f"http:omnisearch http://0.0.0.0:{server.server_address[1]}"
    with pytest.raises(UsageError, match=r"is another machine \(0\.0\.0\.0\); queries leave this one only with --allow-remote"):
        outside(spec)
    assert server.asked == []
    assert pages(outside(spec, allow_remote=True).search("water", 1)) == [("Sea/Tides.md", 12.5)]


@pytest.mark.parametrize("host", ["192.0.2.1", "[2001:db8::1]", "169.254.169.254"])
def test_no_connection_to_another_machine_is_even_tried(outside, host):
    with pytest.raises(UsageError, match="is another machine"):
        outside(f"http:timeout=5 http://{host}:9/?q={{query}}")


@pytest.mark.parametrize("host", ["example.invalid", "2130706433.example.invalid", "localhost.example.invalid", "2130706433"])
def test_name_of_another_machine_is_not_even_looked_up_unless_it_is_allowed(outside, monkeypatch, host):
    looked_up = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **_: looked_up.append(asked[0]) or [])
    spec = f"http:timeout=5 http://{host}:9/?q={{query}}"
    with pytest.raises(UsageError, match=f"http://{host}:9 may be another machine: the name is not looked up"):
        outside(spec)
    assert looked_up == []


def test_proxy_of_the_environment_is_not_used(outside, at, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.1:1")
    assert pages(outside(f"http:omnisearch {at}").search("water", 1)) == [("Sea/Tides.md", 12.5)]


def test_authorization_is_sent_and_never_shown(outside, server, at, monkeypatch):
    monkeypatch.setenv("NOTES_KEY", "ApiKey s3cret")
    searcher = outside(f"http:authorization=NOTES_KEY opensearch {at}/absent")
    error = searcher.search("q", 10).error
    assert server.asked[0][2]["Authorization"] == "ApiKey s3cret"
    assert "s3cret" not in f"{searcher.describe()} {error}"
    assert searcher.describe().settings["authorization"] == "sent"


@pytest.mark.parametrize("secret", ["ApiKey s3cret\n", "  ApiKey s3cret"])
def test_blanks_around_authorization_are_not_sent(outside, server, at, monkeypatch, secret):
    monkeypatch.setenv("NOTES_KEY", secret)
    outside(f"http:authorization=NOTES_KEY opensearch {at}/absent").search("q", 10)
    assert server.asked[0][2]["Authorization"] == "ApiKey s3cret"


@pytest.mark.parametrize("secret", ["s3cret\nmore", "s3cret\rX: y", "s3crét", "\x7fs3cret"])
def test_authorization_that_cannot_be_sent_is_refused_without_being_shown(outside, monkeypatch, secret):
    monkeypatch.setenv("NOTES_KEY", secret)
    with pytest.raises(UsageError, match="'NOTES_KEY' holds no usable header") as raised:
        outside("http:authorization=NOTES_KEY omnisearch")
    assert "s3cr" not in str(raised.value)


def test_latency_of_a_server_is_warm(outside, at):
    searcher = outside(f"http:omnisearch {at}")
    assert isinstance(searcher, WarmOnly)
    assert not isinstance(searcher, ColdOnly)
    assert (searcher.index(), searcher.bound_digest()) == (None, None)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("http:", "nothing to ask is named after http:"),
        ("http:http://localhost/search", "the address has no {query}"),
        ("http:ftp://localhost/{query}", "is no address"),
        ("http:localhost:80/{query}", "is no address"),
        ("http:http://[::1/{query}", "is no address"),
        ("http:http://localhost:99999/{query}", "is no address"),
        ("http:http://me:pw@localhost/{query}", "an address may not hold a user or password"),
        ("http:http://{query}.example.com/", "{query} and {depth} stand in the path or after the ?"),
        ("http:http://{query}.example.com/{query}", "{query} and {depth} stand in the path or after the ?"),
        ("http:http://localhost{query}", "{query} and {depth} stand in the path or after the ?"),
        ("http:http://localhost/#{query}", "{query} and {depth} stand in the path or after the ?"),
        ("http:http://h{depth}/{query}", "{query} and {depth} stand in the path or after the ?"),
        ("http:http://localhost:{query}/", "is no address"),
        ("http:opensearch", "write one address"),
        ("http:omnisearch http://localhost:1 http://localhost:2", "write one address"),
        ("http:path=file omnisearch", "http has no setting 'path'; it has authorization, timeout, prefix"),
        ("http:authorization=NO_SUCH_VARIABLE omnisearch", "the environment variable 'NO_SUCH_VARIABLE' is not set"),
    ],
)
def test_words_that_cannot_be_are_refused_before_anything_is_asked(outside, spec, says):
    with pytest.raises(UsageError) as raised:
        outside(spec)
    assert says in str(raised.value)
