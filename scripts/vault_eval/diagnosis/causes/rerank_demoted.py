"""Reranking moved the gold page below the cut."""

from __future__ import annotations

from vault_eval.diagnosis.records import Cause, Diagnosis, Miss


def find(miss: Miss) -> Diagnosis | None:  # noqa: ARG001 - every cause is asked the same way
    """Never holds: no searcher reranks yet, so none tells a rank from before. It keeps the place of this cause in the list."""
    return None


CAUSE = Cause(
    name="rerank_demoted",
    position=10,
    meaning="reranking moved the gold page below the cut",
    remedy="compare with --no-rerank",
    find=find,
)
