"""`hybrid`: keywords and vectors fused by reciprocal rank. Settings: a model (default `hash`), `pool` (50), `k1`, `b`."""

from __future__ import annotations

from vault_eval.retrievers.fused import FusedSearch, open_fused
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec

NEEDS_INDEX = True


def open_retriever(spec: Spec, context: RetrieverContext) -> FusedSearch:
    """The fused search, which starts with both halves. Raises IndexUnusableError, UsageError, MissingPackageError."""
    return open_fused(spec, context)
