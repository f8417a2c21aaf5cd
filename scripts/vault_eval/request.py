"""What a person asks to be measured, as one record."""

from __future__ import annotations

from dataclasses import dataclass

from vault_eval.limits import COLD_SAMPLES_DEFAULT_QUERIES, DEPTH_DEFAULT_PAGES


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
    product_root: str | None = None  # the checkout of another product, for the searcher of that name
    allow_remote: bool = False  # whether a searcher may ask other machines
    no_rerank: bool = False  # whether rerankers answer with what they were given
