"""Clauses that several causes end with."""

from __future__ import annotations

from vault_eval.diagnosis.records import Miss


def lacking_clause(miss: Miss) -> str:
    """`; its best section lacks 'neap'`, or nothing where it lacks none."""
    return f"; its best section lacks {', '.join(map(repr, miss.lacking))}" if miss.lacking else ""
