"""A small vault, a vault to be indexed, and the opening of searchers on them; and an Ollama that answers as it is told to."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from vault_eval.index.build import build_index, no_progress
from vault_eval.index.options import IndexOptions
from vault_eval.index.store import IndexFile
from vault_eval.index.vectors.build import build_vectors
from vault_eval.model import Ranking
from vault_eval.retrievers.embeddings import open_embedder, parse_embedder
from vault_eval.retrievers.protocol import Retriever, RetrieverContext
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import parse_specs
from vault_eval.vault.snapshot import open_snapshot

SMALL_VAULT = {
    "Sea/Tides.md": "The moon pulls the water.\n",
    "Sea/Tide tables.md": "Water heights by hour; water, water.\n",
    "Boat.md": "A boat needs paint.\n",
    "Café.md": "Water and coffee.\n",
    ".hidden.md": "water water water water\n",
    "picture.txt": "water\n",
}


@pytest.fixture
def small_vault(tmp_path) -> Path:
    for page, text in SMALL_VAULT.items():
        path = tmp_path / "vault" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "vault"


@pytest.fixture
def outside(small_vault) -> Iterator[Callable[..., Retriever]]:
    """A searcher on the small vault by its spec; closed at the end."""
    with ExitStack() as opened:
        snapshot = opened.enter_context(open_snapshot(str(small_vault)))

        def open_one(spec: str, **allowed: object) -> Retriever:
            context = RetrieverContext(snapshot, str(small_vault / "no index"), **allowed)
            made = open_retriever(parse_specs([spec])[0], context)
            opened.callback(made.close)
            return made

        yield open_one


@dataclass(frozen=True)
class IndexedVault:
    """A vault at `root`, to be filled, indexed and changed, its index in `folder`."""

    root: Path
    folder: Path

    def write(self, page: str, content: str | bytes) -> None:
        path = self.root / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def index(self, options: IndexOptions | None = None, *, vectors: str | None = None) -> None:
        """Build the index, and the vectors of a model."""
        with open_snapshot(str(self.root)) as snapshot:
            result = build_index(
                snapshot.reader,
                snapshot.listing,
                options or IndexOptions(),
                str(self.folder),
                snapshot.id,
                time.time_ns(),
                no_progress,
            )
            if vectors is not None:
                embedder = open_embedder(parse_embedder(vectors))
                with IndexFile(result.path) as index:
                    build_vectors(index, result.sha256, str(self.folder), snapshot.read, embedder, no_progress)

    @contextmanager
    def searcher(self, spec: str, **allowed: object) -> Iterator[Retriever]:
        with open_snapshot(str(self.root)) as snapshot, ExitStack() as opened:
            context = RetrieverContext(snapshot, str(self.folder), data=str(self.folder.parent / "data"), **allowed)
            made = open_retriever(parse_specs([spec])[0], context)
            opened.callback(made.close)
            yield made

    def search(self, spec: str, query: str, depth: int = 10, **allowed: object) -> Ranking:
        with self.searcher(spec, **allowed) as made:
            return made.search(query, depth)

    def pages(self, spec: str, query: str, depth: int = 10) -> list[str]:
        return [one.page for one in self.search(spec, query, depth).pages]


@pytest.fixture
def indexed(tmp_path) -> IndexedVault:
    (tmp_path / "vault").mkdir()
    return IndexedVault(tmp_path / "vault", tmp_path / "index")


# What words mean to the model of the server below: one direction each.
MEANING = {"sea": 0, "ocean": 0, "deniz": 0, "海": 0, "boat": 1, "ship": 1, "gemi": 1, "paint": 2, "colour": 2, "moon": 3}


@dataclass
class OllamaServer:
    """An HTTP server of the test's own that speaks Ollama's format, and fails as it is told to; `asked` holds all texts."""

    port: int = 0
    digest: str = "sha256:one"
    failure: str = ""
    asked: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        """The model as `--vectors` takes it."""
        return f"ollama=meaning@{self.port}"

    def answer(self, path: str, question: dict[str, Any]) -> tuple[int, bytes]:
        if path == "/api/tags":
            return 200, json.dumps({"models": [{"name": "meaning:latest", "digest": self.digest}]}).encode()
        texts = question["input"]
        self.asked += texts
        vectors = [self._vector(text) for text in texts]
        answers: dict[str, tuple[int, bytes]] = {
            "": (200, json.dumps({"embeddings": vectors}).encode()),
            "no such model": (404, b'{"error":"model \\"meaning\\" not found, try pulling it first"}'),
            "fault": (500, b'{"error":"llama runner process has terminated"}'),
            "no json": (200, b"<html>"),
            "no object": (200, b"[1]"),
            "other keys": (200, b'{"embedding": [1.0]}'),
            "no numbers": (200, json.dumps({"embeddings": [["a"] for _ in texts]}).encode()),
            "nan": (200, b'{"embeddings": [[NaN, 1, 1, 1]]}'),
            "other dimensions": (200, json.dumps({"embeddings": [[1.0, 2.0] for _ in texts]}).encode()),
            "too few": (200, json.dumps({"embeddings": []}).encode()),
            "redirection": (302, b""),
        }
        return answers[self.failure]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * 4
        for word in text.lower().split():
            if word in MEANING:
                vector[MEANING[word]] += 1.0
        return vector


@pytest.fixture
def ollama() -> Iterator[OllamaServer]:
    server = OllamaServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, question: dict[str, Any]) -> None:
            if server.failure == "slow":
                time.sleep(1.0)
            status, body = server.answer(self.path, question) if server.failure != "slow" else (200, b"{}")
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status == 302:
                self.send_header("Location", "http://192.0.2.1/api/embed")
            self.end_headers()
            with contextlib.suppress(OSError):  # who asked may have gone
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.port = listening.server_address[1]
        thread = threading.Thread(target=listening.serve_forever, args=[0.01], daemon=True)
        thread.start()
        yield server
        listening.shutdown()
        thread.join()


@pytest.fixture
def qmd(small_vault, tmp_path, monkeypatch) -> None:
    """The qmd under QMD_DIR, with the small vault as its collection `notes` in an index of its own."""
    root = os.environ.get("QMD_DIR")
    if root is None:
        if os.environ.get("REQUIRE_QMD") == "1":
            pytest.fail("QMD_DIR is not set, and REQUIRE_QMD=1")
        pytest.skip("QMD_DIR is not set: npm install --prefix DIR @tobilu/qmd@2.8.3 node@22")
    modules = Path(root).resolve() / "node_modules"
    monkeypatch.setenv("PATH", os.pathsep.join([str(modules / "node" / "bin"), str(modules / ".bin"), os.environ["PATH"]]))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "qmd.sqlite"))
    subprocess.run(["qmd", "collection", "add", str(small_vault), "--name", "notes"], check=True, capture_output=True)
