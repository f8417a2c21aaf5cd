"""The searchers that a request names, each opened once on the index it asks for, and how the index stands to the notes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from vault_eval.command_lines import advice_to_build, build_command, vary_command
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.freshness import Freshness, compare_with_vault, without_index
from vault_eval.index.options import IndexOptions
from vault_eval.index.reading import IndexReading
from vault_eval.index.seal import SEAL_NAME, open_index
from vault_eval.index.states import read_states
from vault_eval.index.store import LABEL_NOTE
from vault_eval.index.vault_meta.places import vault_meta_folder
from vault_eval.labels.load import LabelDocument
from vault_eval.labels.sources import label_properties
from vault_eval.model import Label, LabelSet
from vault_eval.request import Request
from vault_eval.retrievers.index_variant import variant_folder, variant_options
from vault_eval.retrievers.protocol import Retriever, RetrieverContext, TellsFreshness
from vault_eval.retrievers.select import needs_index, open_retriever
from vault_eval.retrievers.spec import INDEX_SETTINGS, KEYWORD, RUN, Spec
from vault_eval.vault.location import vault_id
from vault_eval.vault.note_text import LABEL_PROPERTY
from vault_eval.vault.paths import quoted
from vault_eval.vault.snapshot import VaultSnapshot


def standing_index(data: DataFolder, root: str, named: str | None) -> str:
    """The folder of the index that `keyword` searches: the one `named`, else ours, else one that claude-obsidian made."""
    if named:
        return os.path.abspath(named)
    ours = data.index_folder(vault_id(root))
    is_built = os.path.lexists(os.path.join(ours, SEAL_NAME))
    return ours if is_built else vault_meta_folder(root) or ours


def searched_instead(data: DataFolder, root: str, named: str | None) -> str:
    """The clause to follow that there is no index of ours: which one is searched in its place; empty where none is."""
    other = vault_meta_folder(standing_index(data, root, named))
    return f"; in its place bench and retrieve search the one that claude-obsidian made, {other!r}" if other is not None else ""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the indexes of a vault lie; `options` are those that its standing index is built with."""

    request: Request
    vault: VaultSnapshot
    data: DataFolder
    options: IndexOptions
    reading: IndexReading | None = None  # of the standing index, begun already

    @property
    def standing(self) -> str:
        """The folder of the index that is searched where a spec asks for no other."""
        return standing_index(self.data, self.vault.root, self.request.index)

    def folder(self, spec: Spec) -> str:
        """The folder of the index that a spec asks for. Raises UsageError where `--index` names one already."""
        options = variant_options(spec, self.options)
        if options is not None and self.request.index is not None:
            raise UsageError(f"--index {self.request.index!r}: {quoted(spec.text)} asks for another index; leave one of them out")
        if options is not None:
            return variant_folder(self.data, self.vault.id, options)
        takes_any = spec.kind == KEYWORD and not _index_settings(spec)
        return self.standing if takes_any or self.request.index else self.data.index_folder(self.vault.id)

    def remedy(self, spec: Spec | None) -> str:
        """The line that makes the index of a spec, or the standing one."""
        if spec is not None and variant_options(spec, self.options) is not None:
            return vary_command(self.vault.root, self.request.queries, _index_settings(spec), data=self.request.data)
        return build_command(self.vault.root, self.options, index=self.request.index, data=self.request.data)


def _index_settings(spec: Spec) -> list[str]:
    """The settings that name an index, as `--vary` takes them."""
    return [f"{name}={value}" for name, value in spec.settings.items() if name in INDEX_SETTINGS]


@dataclass(frozen=True, slots=True)
class Searchers:
    """The searchers in the order asked for, how each index stands to the notes, and the notes that hold labels.

    `freshness` is that of the first index that is searched; else of the standing one, or every note where there is none.
    """

    retrievers: Sequence[Retriever]
    freshness: Freshness
    by_index: Mapping[str, Freshness]  # SHA-256 of an index -> its freshness, in the order asked for
    label_notes: frozenset[str]


def open_searchers(
    specs: Sequence[Spec], places: Places, documents: Sequence[LabelDocument], labels: LabelSet, closing: ExitStack
) -> Searchers:
    """All searchers, each closed by `closing`.

    Those with an index are opened first, since they verify its bytes: only then is anything else read from it.
    Raises IndexUnusableError with the line that builds what is missing, UsageError for settings that cannot be, and for one
    configuration in two spellings.
    """
    opened: dict[str, Retriever] = {}
    properties = label_properties(documents)

    def open_all(chosen: Sequence[Spec], label_notes: frozenset[str]) -> None:
        for spec in chosen:
            opened[spec.text] = open_searcher(spec, places, label_notes, labels.labels, properties)
            closing.callback(opened[spec.text].close)

    on_index = [spec for spec in specs if needs_index(spec)]
    open_all(on_index, frozenset())
    by_index = _by_index(places, {spec.text: (spec, opened[spec.text]) for spec in on_index})
    freshness = next(iter(by_index.values())) if by_index else native_freshness(places, None)
    label_notes = _label_notes(documents, [freshness, *by_index.values()])
    open_all([spec for spec in specs if spec not in on_index], label_notes)
    _refuse_repeated(specs, opened)
    return Searchers([opened[spec.text] for spec in specs], freshness, by_index, label_notes)


def open_searcher(
    spec: Spec,
    places: Places,
    label_notes: frozenset[str] = frozenset(),
    labels: Sequence[Label] = (),
    properties: tuple[str, ...] = (LABEL_PROPERTY,),
) -> Retriever:
    """One searcher on the index that its spec asks for. Raises IndexUnusableError with the line that builds what is missing."""
    asked = places.request
    context = RetrieverContext(
        places.vault,
        places.folder(spec),
        label_notes,
        properties,
        data=places.data.root,
        product_root=asked.product_root,
        allow_remote=asked.allow_remote,
        no_rerank=asked.no_rerank,
        label_ids=_ids(labels),
        reading=places.reading,
    )
    try:
        return open_retriever(spec, context)
    except IndexUnusableError as error:
        raise _advised(error, places, spec) from None


def _refuse_repeated(specs: Sequence[Spec], opened: Mapping[str, Retriever]) -> None:
    """Raises UsageError for the second of two specs whose settings, defaults among them, and index are the same."""
    known: dict[tuple[object, ...], str] = {}
    kinds = [spec.kind for spec in specs if spec.kind != RUN]  # that two runs are the same is what a comparison finds out
    for spec in specs:
        if kinds.count(spec.kind) < 2:
            continue
        searcher = opened[spec.text]
        index = searcher.index()
        asked = (spec.kind, index.sha256 if index else None, frozenset(searcher.describe().settings.items()))
        first = known.setdefault(asked, spec.text)
        if first != spec.text:
            problem = f"--retriever {quoted(spec.text)} and {quoted(first)} are one configuration, which is given twice"
            raise UsageError(f"{problem}; give each configuration once")


def _by_index(places: Places, on_index: Mapping[str, tuple[Spec, Retriever]]) -> dict[str, Freshness]:
    """How each index that is searched stands to the notes, by its SHA-256; searchers of one index share it."""
    found: dict[str, Freshness] = {}
    for spec, searcher in on_index.values():
        index = searcher.index()
        if index is not None and index.sha256 not in found:
            told = searcher.freshness() if isinstance(searcher, TellsFreshness) else None
            found[index.sha256] = told or native_freshness(places, spec)
    return found


def native_freshness(places: Places, spec: Spec | None) -> Freshness:
    """How the native index of a spec, or the standing one, stands to the notes.

    Raises IndexUnusableError with the line that builds it.
    """
    vault = places.vault
    folder = places.standing if spec is None else places.folder(spec)
    is_wanted = spec is not None or (places.request.index is not None and vault_meta_folder(folder) is None)
    if not is_wanted and not os.path.lexists(os.path.join(folder, SEAL_NAME)):
        return without_index(vault.listing, vault.pages)
    try:
        index, sha256 = open_index(folder, vault.id, verify=spec is None)
    except IndexUnusableError as error:
        raise _advised(error, places, spec) from None
    with index:
        return compare_with_vault(vault.listing, index, read_states(folder, sha256), vault.pages)


def _advised(error: IndexUnusableError, places: Places, spec: Spec | None) -> IndexUnusableError:
    if error.says_remedy:
        return error
    return IndexUnusableError(advice_to_build(str(error), places.remedy(spec)), says_remedy=True)


def _label_notes(documents: Sequence[LabelDocument], found: Sequence[Freshness]) -> frozenset[str]:
    """The notes that hold labels: those named as sources, and those that an index left out as such."""
    named = {one.path_in_vault for one in documents if one.path_in_vault is not None}
    return frozenset(named | {page for one in found for page, reason in one.left_out.items() if reason == LABEL_NOTE})


def _ids(labels: Sequence[Label]) -> dict[str, tuple[str, ...]]:
    ids: dict[str, tuple[str, ...]] = {}
    for label in labels:
        ids[label.query] = (*ids.get(label.query, ()), label.id)
    return ids
