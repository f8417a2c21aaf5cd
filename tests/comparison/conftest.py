"""Sides made by hand: queries with one gold page each, whose reciprocal rank decides the ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from vault_eval.comparison.records import ComparedQuery, Side
from vault_eval.model import LabelSource

MakeSide = Callable[..., Side]


def one_query(name: str, rr: float | None, **changes: object) -> ComparedQuery:
    """A query whose gold page stands at rank 1 / rr of ten, nowhere for 0; a negative that found nothing for None."""
    rank = round(1 / rr) if rr else 0
    values = {} if rr is None else {"mrr@10": rr, "hit@1": float(rr == 1), "recall@5": float(0 < rank <= 5)}
    query = ComparedQuery(
        id=name,
        query=f"text of {name}",
        gold=() if rr is None else (f"{name}.md",),
        status="negative" if rr is None else "scored",
        values=values,
        ranking=() if rr is None else tuple(f"{name}.md" if place == rank else f"p{place}.md" for place in range(1, 11)),
    )
    return replace(query, **changes)  # type: ignore[arg-type]


def one_side(queries: Sequence[ComparedQuery] | Sequence[float | None], **changes: object) -> Side:
    """A side of these queries; of numbers, one query q0, q1, ... with each as reciprocal rank."""
    made = [one if isinstance(one, ComparedQuery) else one_query(f"q{place}", one) for place, one in enumerate(queries)]
    side = Side(
        name="keyword",
        settings={"k1": 1.5},
        queries=tuple(made),
        label_sources=(LabelSource("labels.json", "l" * 64, "v1"),),
        depth=10,
        vault_name="Vault",
        snapshot_sha256="s" * 64,
        index_sha256="i" * 64,
        page_digests={"a.md": "1", "b.md": "2"},
    )
    return replace(side, **changes)  # type: ignore[arg-type]


@pytest.fixture
def query() -> Callable[..., ComparedQuery]:
    return one_query


@pytest.fixture
def side() -> MakeSide:
    return one_side
