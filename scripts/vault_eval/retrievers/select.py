"""From a spec to a searcher: one module a kind, found by its name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from vault_eval.retrievers.protocol import Retriever, RetrieverContext
from vault_eval.retrievers.spec import Spec, module_name


def needs_index(spec: Spec) -> bool:
    """Whether searchers of this kind answer from the index of the vault, and not from the notes or from elsewhere."""
    needs: bool = _module(spec).NEEDS_INDEX
    return needs


def open_retriever(spec: Spec, context: RetrieverContext) -> Retriever:
    """The searcher that a spec names. Raises UsageError for settings it does not have, IndexUnusableError without its index."""
    retriever: Retriever = _module(spec).open_retriever(spec, context)
    return retriever


def _module(spec: Spec) -> ModuleType:
    return import_module(f"{__package__}.{module_name(spec.kind)}")
