"""Small vaults in temporary folders, with an index beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from vault_eval.index.build import BuildResult, build_index
from vault_eval.index.options import IndexOptions
from vault_eval.index.seal import open_index
from vault_eval.index.search import Searcher
from vault_eval.index.store import IndexFile
from vault_eval.index.terms import Analyzer
from vault_eval.vault.location import vault_id
from vault_eval.vault.snapshot import open_snapshot

# Examples build indexes; how long one takes depends on the disk.
settings.register_profile("index", deadline=None)
settings.load_profile("index")

# What a file changed now looks like to a build an hour from now: settled.
LATER_NS = 3600 * 1_000_000_000


@dataclass(frozen=True)
class Vault:
    """A vault at `root`, and a folder for its index that is not in it."""

    root: Path
    folder: Path

    @property
    def id(self) -> str:
        return vault_id(str(self.root))

    def write(self, page: str, content: str | bytes) -> Path:
        path = self.root / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def build(self, options: IndexOptions | None = None, *, folder: Path | None = None, later_ns: int = LATER_NS) -> BuildResult:
        place = str(folder or self.folder)
        with open_snapshot(str(self.root), with_pdfs=options is not None and options.pdf) as snapshot:
            started_ns = time.time_ns() + later_ns
            return build_index(
                snapshot.reader,
                snapshot.listing,
                options or IndexOptions(),
                place,
                self.id,
                started_ns,
                lambda _done, _total: None,
            )

    @contextmanager
    def index(self) -> Iterator[IndexFile]:
        index, _ = open_index(str(self.folder), self.id, verify=True)
        with index:
            yield index

    def found(self, query: str) -> list[str]:
        """The pages that hold a term of the query, best first, by the built index alone."""
        with self.index() as index:
            hits = Searcher(index).best(Analyzer().terms(query), 1000)
            return list(dict.fromkeys(index.page(index.page_of(hit.chunk)) for hit in hits))


@pytest.fixture(scope="session")
def make_vault(tmp_path_factory) -> Callable[..., Vault]:
    """Vaults by their notes; one a call, so that property tests can have many."""

    def make(**notes: str) -> Vault:
        place = tmp_path_factory.mktemp("vault")
        vault = Vault(place / "vault", place / "index")
        vault.root.mkdir()
        for page, text in notes.items():
            vault.write(page, text)
        return vault

    return make


@pytest.fixture
def vault(make_vault) -> Vault:
    return make_vault()
