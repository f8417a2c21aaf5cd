"""What one evaluation works with: the vault, the labels and the searchers, each opened once and checked before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vault_eval import launcher
from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.index.freshness import Freshness
from vault_eval.index.options import IndexOptions, options_from_json
from vault_eval.index.reading import IndexReading
from vault_eval.labels.eligibility import SettledLabel, settle
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.sources import discover, label_properties, open_sources, reread
from vault_eval.limits import DEPTH_MAX_PAGES, DEPTH_MIN_PAGES
from vault_eval.model import Label, LabelSet
from vault_eval.rankings.binding import BoundFile, label_file, refuse_changes
from vault_eval.request import Request
from vault_eval.retrievers.protocol import Explains, Retriever
from vault_eval.retrievers.select import needs_index
from vault_eval.retrievers.spec import CLAUDE_OBSIDIAN, Spec, parse_specs
from vault_eval.searchers import Places, open_searchers, standing_index
from vault_eval.vault.location import vault_id, vault_root
from vault_eval.vault.note_text import readable_text
from vault_eval.vault.paths import quoted
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot

if TYPE_CHECKING:
    from vault_eval.labels.collection import Collection


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that is measured, open: `settled` are the labels with what each counts as, in file order."""

    vault: VaultSnapshot
    documents: Sequence[LabelDocument]
    labels: LabelSet
    searchers: Sequence[Retriever]
    freshness: Freshness  # of the first index that is searched
    by_index: Mapping[str, Freshness]  # of every one, by its SHA-256
    label_notes: frozenset[str]
    settled: Sequence[SettledLabel]

    @property
    def asked(self) -> list[Label]:
        """The labels whose queries are put to the searchers."""
        return [one.label for one in self.settled if one.status in ("scored", "negative")]

    @property
    def explains(self) -> Explains | None:
        """The first searcher that can be looked into."""
        return next((searcher for searcher in self.searchers if isinstance(searcher, Explains)), None)

    @property
    def label_properties(self) -> tuple[str, ...]:
        """The properties in which notes may keep their questions."""
        return label_properties(self.documents)

    @property
    def in_scope(self) -> frozenset[str]:
        """The pages a search could be asked for: all notes, those that cannot be read among them, without excluded ones."""
        return frozenset((*self.vault.names, *(one.path for one in self.vault.listing.skipped)))

    def left_out(self, searcher: Retriever) -> Mapping[str, str]:
        """The pages that a searcher's own index left out, with the reason; none where it does not tell of an index."""
        index = searcher.index()
        return self.by_index[index.sha256].left_out if index is not None else {}

    def text(self, page: str) -> str | None:
        """The text of a note as it is now, or None where it cannot be read, and for a PDF."""
        return readable_text(self.vault.read, page)

    def refuse_changes(self) -> None:
        """Raises ChangedError where a label source, an index or a page is not what it was when it was read."""
        refuse_changes([*_bound_labels(self.documents, self.vault), *_bound_indexes(self.searchers)], self.vault.reader)


@contextmanager
def open_inputs(request: Request) -> Iterator[Inputs]:
    """Open all that a request names, read-only. Raises VaultEvalError; an unusable index with the line that builds it."""
    _check(request)
    data = DataFolder(launcher.data_folder(request.data))
    options = index_options(data, request.vault)
    specs = _specs(request)
    reading = _begin_reading(request, data) if any(map(needs_index, specs)) else None
    with open_snapshot(request.vault, options.exclude, with_pdfs=options.pdf) as vault, ExitStack() as opened:
        documents = _open_labels(request, data, vault)
        collection = _collection(request, vault)
        labels = load_labels(documents)
        labels = labels if collection is None else replace(labels, labels=collection.placed(labels.labels))
        vault.pages.keep(page for label in labels.labels for page in label.pages)
        places = Places(request, vault, data, options, reading)
        found = open_searchers(specs, places, documents, labels, opened)
        freshness = _unlabelled(found.freshness, found.label_notes)
        by_index = {sha256: _unlabelled(one, found.label_notes) for sha256, one in found.by_index.items()}
        settled = settle(labels.labels, vault.listing, vault.reader, collection, request.split, freshness.renamed.get)
        yield Inputs(vault, documents, labels, found.retrievers, freshness, by_index, found.label_notes, settled)


def _collection(request: Request, vault: VaultSnapshot) -> Collection | None:
    if request.collection is None:
        return None
    from vault_eval.labels.collection import Collection

    found = Collection.of(request.collection)
    if found.folder is not None and not any(note.page.startswith(f"{found.folder}/") for note in vault.listing.pages):
        raise UsageError(f"--collection {quoted(request.collection)}: the vault has no notes in a folder of that name")
    return found


def _begin_reading(request: Request, data: DataFolder) -> IndexReading:
    """The standing index, whose bytes are read while the vault is listed."""
    root = vault_root(request.vault)
    return IndexReading(standing_index(data, root, request.index), vault_id(root))


def index_options(data: DataFolder, vault: str) -> IndexOptions:
    """The options that the vault's index is built with: those remembered, else the defaults."""
    remembered = data.settings(vault_id(vault_root(vault))).index_options
    return options_from_json(dict(remembered)) if remembered else IndexOptions()


def _specs(request: Request) -> tuple[Spec, ...]:
    specs = parse_specs(request.retrievers)
    if request.product_root is not None and all(spec.kind != CLAUDE_OBSIDIAN for spec in specs):
        measured = f"{CLAUDE_OBSIDIAN}, which is not measured: name it with --retriever too, or leave --product-root out"
        raise UsageError(f"--product-root is for {measured}")
    return specs


def _check(request: Request) -> None:
    if not DEPTH_MIN_PAGES <= request.depth <= DEPTH_MAX_PAGES:
        raise UsageError(f"--top {request.depth}: allowed are {DEPTH_MIN_PAGES} (recall@10 needs ten) to {DEPTH_MAX_PAGES:,}")
    if request.cold_samples < 0:
        raise UsageError(f"--cold-samples {request.cold_samples}: allowed are 0, a number of queries, or all")


def _unlabelled(freshness: Freshness, label_notes: frozenset[str]) -> Freshness:
    """Label notes are no notes that an index should have."""
    return replace(freshness, added=tuple(page for page in freshness.added if page not in label_notes))


def _open_labels(request: Request, data: DataFolder, vault: VaultSnapshot) -> list[LabelDocument]:
    sources = request.queries or discover(data.settings(vault.id).labels, vault.reader, vault.names)
    return open_sources(sources, vault.reader, vault.named, lambda: vault.names)


def _bound_labels(documents: Sequence[LabelDocument], vault: VaultSnapshot) -> list[BoundFile]:
    return [label_file(one.name, one.data, lambda one=one: reread(one, vault.reader)) for one in documents]  # type: ignore[misc]


def _bound_indexes(searchers: Sequence[Retriever]) -> list[BoundFile]:
    described = ((searcher, searcher.index()) for searcher in searchers)
    return [BoundFile("the index", index.sha256, searcher.bound_digest) for searcher, index in described if index is not None]
