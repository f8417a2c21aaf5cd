"""Clauses that several causes end with."""

from __future__ import annotations

from vault_eval.diagnosis.query_runs import in_own_words
from vault_eval.diagnosis.records import Miss


def lacking_clause(miss: Miss) -> str:
    """`; its best section lacks 'neap'`, or nothing where it lacks none."""
    lacking = in_own_words(miss.query, miss.lacking)
    return f"; its best section lacks {', '.join(map(repr, lacking))}" if lacking else ""
