"""From a spec to a searcher: one module a kind, found by its name."""

from __future__ import annotations

from importlib import import_module

from vault_eval.retrievers.protocol import Retriever, RetrieverContext
from vault_eval.retrievers.spec import Spec, module_name


def open_retriever(spec: Spec, context: RetrieverContext) -> Retriever:
    """The searcher that a spec names. Raises UsageError for settings it does not have, IndexUnusableError without its index."""
    module = import_module(f"{__package__}.{module_name(spec.kind)}")
    retriever: Retriever = module.open_retriever(spec, context)
    return retriever
