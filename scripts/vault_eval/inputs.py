"""What one evaluation works with: the vault, the labels and the searchers, each opened once and checked before it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from vault_eval import launcher
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UnreadableFileError, UsageError
from vault_eval.index.commands import advice_to_build, build_command
from vault_eval.index.freshness import Freshness, compare_with_vault, without_index
from vault_eval.index.options import IndexOptions, options_from_json
from vault_eval.index.seal import SEAL_NAME, open_index
from vault_eval.index.states import read_states
from vault_eval.index.store import LABEL_NOTE
from vault_eval.labels.eligibility import SettledLabel, settle
from vault_eval.labels.load import LabelDocument, load_labels
from vault_eval.labels.sources import discover, label_property, open_sources, reread
from vault_eval.limits import COLD_SAMPLES_DEFAULT_QUERIES, DEPTH_DEFAULT_PAGES, DEPTH_MAX_PAGES, DEPTH_MIN_PAGES
from vault_eval.model import Label, LabelSet
from vault_eval.rankings.binding import BoundFile, label_file, refuse_changes
from vault_eval.retrievers.protocol import Explains, Retriever, RetrieverContext
from vault_eval.retrievers.select import open_retriever
from vault_eval.retrievers.spec import Spec, is_free_baseline, parse_specs
from vault_eval.vault.location import vault_id, vault_root
from vault_eval.vault.note_text import LABEL_PROPERTY, decode
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be measured. `data` and `index` are None where the default places are meant."""

    vault: str
    queries: tuple[str, ...] = ()
    retrievers: tuple[str, ...] = ("keyword",)
    depth: int = DEPTH_DEFAULT_PAGES
    data: str | None = None
    index: str | None = None
    collection: str | None = None
    split: str | None = None  # "dev" or "holdout"; None for all
    cold_samples: int = COLD_SAMPLES_DEFAULT_QUERIES


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that is measured, open: `settled` are the labels with what each counts as, in file order."""

    vault: VaultSnapshot
    documents: Sequence[LabelDocument]
    labels: LabelSet
    searchers: Sequence[Retriever]
    freshness: Freshness
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
        return tuple(dict.fromkeys([LABEL_PROPERTY, *filter(None, map(label_property, self.documents))]))

    @property
    def in_scope(self) -> frozenset[str]:
        """The pages a search could be asked for: all notes, those that cannot be read among them, without excluded ones."""
        return frozenset((*self.vault.names, *(one.path for one in self.vault.listing.skipped)))

    def text(self, page: str) -> str | None:
        """The text of a page as it is now, or None where it cannot be read."""
        try:
            return decode(self.vault.reader.read(page))
        except UnreadableFileError:
            return None

    def refuse_changes(self) -> None:
        """Raises ChangedError where a label source, an index or a page is not what it was when it was read."""
        refuse_changes([*_bound_labels(self.documents, self.vault), *_bound_indexes(self.searchers)], self.vault.reader)


@contextmanager
def open_inputs(request: Request) -> Iterator[Inputs]:
    """Open all that a request names, read-only. Raises VaultEvalError; an unusable index with the line that builds it."""
    _check(request)
    data = DataFolder(launcher.data_folder(request.data))
    options = index_options(data, request.vault)
    with open_snapshot(request.vault, options.exclude) as vault, ExitStack() as opened:
        documents = _open_labels(request, data, vault)
        labels = load_labels(documents)
        folder = os.path.abspath(request.index) if request.index else data.index_folder(vault.id)
        specs = parse_specs(request.retrievers)
        try:
            may_lack = request.index is None and is_free_baseline(specs)
            searchers, freshness, label_notes = _open_searchers(specs, vault, folder, documents, may_lack=may_lack)
        except IndexUnusableError as error:
            line = build_command(vault.root, options, index=request.index, data=request.data)
            raise IndexUnusableError(advice_to_build(str(error), line)) from None
        for searcher in searchers:
            opened.callback(searcher.close)
        freshness = replace(freshness, added=tuple(page for page in freshness.added if page not in label_notes))
        settled = settle(labels.labels, vault.listing, vault.reader, request.collection, request.split, freshness.renamed.get)
        yield Inputs(vault, documents, labels, searchers, freshness, label_notes, settled)


def index_options(data: DataFolder, vault: str) -> IndexOptions:
    """The options that the vault's index is built with: those remembered, else the defaults."""
    remembered = data.settings(vault_id(vault_root(vault))).index_options
    return options_from_json(dict(remembered)) if remembered else IndexOptions()


def _check(request: Request) -> None:
    if not DEPTH_MIN_PAGES <= request.depth <= DEPTH_MAX_PAGES:
        raise UsageError(f"--top {request.depth}: allowed are {DEPTH_MIN_PAGES} (recall@10 needs ten) to {DEPTH_MAX_PAGES:,}")
    if request.cold_samples < 0:
        raise UsageError(f"--cold-samples {request.cold_samples}: allowed are 0, a number of queries, or all")


def _open_labels(request: Request, data: DataFolder, vault: VaultSnapshot) -> list[LabelDocument]:
    sources = request.queries or discover(data.settings(vault.id).labels, vault.reader, vault.names)
    return open_sources(sources, vault.reader, vault.named, lambda: vault.names)


def _open_searchers(
    specs: Sequence[Spec], vault: VaultSnapshot, folder: str, documents: Sequence[LabelDocument], *, may_lack: bool
) -> tuple[list[Retriever], Freshness, frozenset[str]]:
    """The searchers in the order of the specs, how the index stands to the notes, and the notes that hold labels.

    Those with an index are opened first, since they verify its bytes: only then is anything else read from it.
    """
    opened = {spec.text: open_retriever(spec, RetrieverContext(vault, folder)) for spec in specs if not is_free_baseline([spec])}
    freshness = _index_freshness(folder, vault, verify=not opened, may_lack=may_lack)
    label_notes = _label_notes(documents, freshness)
    context = RetrieverContext(vault, folder, label_notes)
    opened |= {spec.text: open_retriever(spec, context) for spec in specs if spec.text not in opened}
    return [opened[spec.text] for spec in specs], freshness, label_notes


def _index_freshness(folder: str, vault: VaultSnapshot, *, verify: bool, may_lack: bool) -> Freshness:
    """How the index stands to the notes; where there may be none and is none, every note is what is searched."""
    if may_lack and not os.path.lexists(os.path.join(folder, SEAL_NAME)):
        return without_index(vault.listing, vault.pages)
    index, sha256 = open_index(folder, vault.id, verify=verify)
    with index:
        return compare_with_vault(vault.listing, index, read_states(folder, sha256), vault.pages)


def _label_notes(documents: Sequence[LabelDocument], freshness: Freshness) -> frozenset[str]:
    """The notes that hold labels: those named as sources, and those that the index left out as such."""
    named = {one.path_in_vault for one in documents if one.path_in_vault is not None}
    return frozenset(named | {page for page, reason in freshness.left_out.items() if reason == LABEL_NOTE})


def _bound_labels(documents: Sequence[LabelDocument], vault: VaultSnapshot) -> list[BoundFile]:
    return [label_file(one.name, one.data, lambda one=one: reread(one, vault.reader)) for one in documents]  # type: ignore[misc]


def _bound_indexes(searchers: Sequence[Retriever]) -> list[BoundFile]:
    described = ((searcher, searcher.index()) for searcher in searchers)
    return [BoundFile("the index", index.sha256, searcher.bound_digest) for searcher, index in described if index is not None]
