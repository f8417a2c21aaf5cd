"""Configurations that differ from one in a single setting, as `--vary KEY=V,V` asks for, and the indexes some of them need.

An evaluation builds nothing. Asking for variants is the explicit step that does: their indexes are built beside the standing
one, in the data folder, and used again while notes and options stay the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vault_eval import launcher
from vault_eval.command_lines import advice_to_build
from vault_eval.data_folder import DataFolder
from vault_eval.errors import IndexUnusableError, UnreadableFileError, UsageError
from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1
from vault_eval.index.build import LABEL_SCHEMAS, build_index, no_progress
from vault_eval.index.options import IndexOptions
from vault_eval.index.vault_meta.places import vault_meta_folder
from vault_eval.inputs import index_options
from vault_eval.nearest import did_you_mean
from vault_eval.request import Request
from vault_eval.retrievers.chunk_vectors import refuse_another_index
from vault_eval.retrievers.embeddings import model_of
from vault_eval.retrievers.hybrid_rerank import RERANKER
from vault_eval.retrievers.index_variant import variant_folder, variant_options
from vault_eval.retrievers.spec import INDEX_SETTINGS, KEYWORD, ON_OUR_INDEX, Spec, parse_specs
from vault_eval.searchers import Places, native_freshness, standing_index
from vault_eval.strict_number import number_of
from vault_eval.vault.location import vault_root
from vault_eval.vault.note import parse_note
from vault_eval.vault.note_text import decode
from vault_eval.vault.paths import is_pdf, quoted
from vault_eval.vault.snapshot import VaultSnapshot, open_snapshot

_QUERY_TIME = ("k1", "b")
_RERANK = {"on": "hybrid+rerank", "off": "hybrid"}
VARIED = (*_QUERY_TIME, *INDEX_SETTINGS, "rerank")


def varied(request: Request, changes: Sequence[str]) -> Request:
    """The request with one configuration more for every value: the first configuration with that one setting changed.

    A value that the first configuration has already adds nothing. Raises UsageError for what is no KEY=V,V, and for a key
    that the first configuration does not have.
    """
    specs = parse_specs(request.retrievers)
    data = DataFolder(launcher.data_folder(request.data))
    standing = None if _searches_another_format(specs[0], request, data) else index_options(data, request.vault)
    found = list(specs)
    for name, value in _changes(changes):
        _refuse_unvaried(specs[0], name, standing)
        if not _has(specs[0], name, value, standing):
            one = _reranked(specs[0], value) if name == "rerank" else _with(specs[0], name, value)
            found += [] if any(_are_same(one, other) for other in found) else [one]
    return replace(request, retrievers=tuple(spec.text for spec in found))


def build_variants(request: Request) -> None:
    """Build, or leave as they are, the indexes that the configurations of a request ask for beside the standing one.

    Raises IndexUnusableError before anything is built, where the standing one is measured too and is behind the notes.
    """
    data = DataFolder(launcher.data_folder(request.data))
    standing = index_options(data, request.vault)
    wanted = dict.fromkeys(_index_variants(request, standing))
    if not wanted:
        return
    started = time.time_ns()
    with open_snapshot(request.vault, standing.exclude, with_pdfs=standing.pdf) as vault:
        _refuse_stale(Places(request, vault, data, standing))
        for options in wanted:
            _build(vault, options, data, started)


def _refuse_stale(places: Places) -> None:
    """What is built now holds the notes of now: an index that is measured beside it must do so too."""
    spec = _on_standing(places)
    if spec is None:
        return
    found = native_freshness(places, spec)
    added = sum(not _is_label_note(places.vault, page) for page in found.added)
    number = added + len(found.changed) + len(found.removed)
    if number:
        changed = f"{number:,} note{'s were' if number > 1 else ' was'} added, changed or removed since the index was built"
        problem = f"{changed}, and the indexes that --vary asks for would hold the notes as they are now"
        raise IndexUnusableError(advice_to_build(problem, places.remedy(None)), says_remedy=True)


def _on_standing(places: Places) -> Spec | None:
    """The first configuration that searches our standing index. Raises UsageError for a variant beside `--index`."""
    folders = [(spec, places.folder(spec)) for spec in parse_specs(places.request.retrievers) if spec.kind in ON_OUR_INDEX]
    plain = (one for one in folders if variant_options(one[0], places.options) is None)
    return next((spec for spec, folder in plain if vault_meta_folder(folder) is None), None)


def _is_label_note(vault: VaultSnapshot, page: str) -> bool:
    """Whether an index leaves the page out since it holds labels."""
    try:
        return not is_pdf(page) and parse_note(decode(vault.read(page))).schema in LABEL_SCHEMAS
    except UnreadableFileError:
        return False


def _index_variants(request: Request, standing: IndexOptions) -> Iterator[IndexOptions]:
    for spec in parse_specs(request.retrievers):
        options = variant_options(spec, standing)
        if options is not None:
            refuse_another_index(spec, model_of(spec))
            yield options


def _build(vault: VaultSnapshot, options: IndexOptions, data: DataFolder, started_ns: int) -> None:
    folder = variant_folder(data, vault.id, options)
    build_index(vault.reader, vault.listing, options, folder, vault.id, started_ns, no_progress)


def _changes(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, _, values = text.partition("=")
        if name not in VARIED or not all(values.split(",")):
            meant = "" if name in VARIED else did_you_mean(name, VARIED)
            raise UsageError(f"--vary {quoted(text)}{meant}: write KEY=VALUE,VALUE with KEY one of {', '.join(VARIED)}")
        yield from ((name, value.strip()) for value in values.split(","))


def _searches_another_format(spec: Spec, request: Request, data: DataFolder) -> bool:
    """Whether a configuration searches an index that claude-obsidian made."""
    asks_for_ours = spec.kind != KEYWORD or any(name in INDEX_SETTINGS for name in spec.settings)
    return not asks_for_ours and vault_meta_folder(standing_index(data, vault_root(request.vault), request.index)) is not None


def _refuse_unvaried(spec: Spec, name: str, standing: IndexOptions | None) -> None:
    """Raises UsageError for a change that would be none of the first configuration, or not the only one."""
    if spec.kind not in ON_OUR_INDEX:
        raise UsageError(f"--vary {name}: {spec.kind} has nothing that can be varied; {', '.join(ON_OUR_INDEX)} have")
    if name in INDEX_SETTINGS and standing is None:
        problem = f"--vary {name}: the index that is searched was made by claude-obsidian, and another one would differ in more"
        raise UsageError(f"{problem}; run index first, or vary k1 and b")


def _has(spec: Spec, name: str, value: str, standing: IndexOptions | None) -> bool:
    """Whether a configuration has this value already, said or by default; `standing` is None for an index of another format."""
    if name == "rerank":
        return _RERANK.get(value) == spec.kind
    if standing is None:
        return _is_same(spec.settings.get(name, ""), value)
    defaults: dict[str, object] = {
        "k1": DEFAULT_K1,
        "b": DEFAULT_B,
        "chunk-chars": standing.sizes.target,
        "chunk-max": standing.sizes.maximum,
        "overlap": standing.sizes.overlap,
        "prefix": standing.prefix,
        "stem": standing.stem or "none",
    }
    return _is_same(spec.settings.get(name, str(defaults[name])), value)


def _are_same(one: Spec, other: Spec) -> bool:
    """Whether two specs have equal settings; that one has a default which the other says is not looked at."""
    equal = one.kind == other.kind and one.settings.keys() == other.settings.keys()
    return equal and all(
        _is_same(value, other.settings[name]) if name in VARIED else value == other.settings[name]
        for name, value in one.settings.items()
    )


def _is_same(one: str, other: str) -> bool:
    """Whether two values are the same text or the same number."""
    number = number_of(one)
    return one == other or (number is not None and number == number_of(other))


def _with(spec: Spec, name: str, value: str) -> Spec:
    """The spec with one setting changed."""
    return _spec(spec.kind, {**spec.settings, name: value})


def _reranked(spec: Spec, value: str) -> Spec:
    if value not in _RERANK or spec.kind not in _RERANK.values():
        raise UsageError(f"--vary rerank={quoted(value)}: allowed are on and off, with --retriever hybrid or hybrid+rerank first")
    return _spec(_RERANK[value], {name: its for name, its in spec.settings.items() if name != RERANKER})


def _spec(kind: str, settings: Mapping[str, str]) -> Spec:
    said = ",".join(f"{name}={value}" if value else name for name, value in settings.items())
    return Spec(f"{kind}:{said}" if said else kind, kind, settings)
