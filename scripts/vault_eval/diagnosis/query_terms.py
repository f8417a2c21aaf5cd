"""How much of a query's words stand where they are wanted: in the gold pages, and in the page that came first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, log
from typing import Literal, TypeAlias, get_args

from vault_eval.index.term_evidence import TermEvidence
from vault_eval.retrievers.protocol import Explains, PageEvidence

Stratum: TypeAlias = Literal["literal", "partly", "no shared term"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """`stratum` says how many terms the best section of a gold page holds, None where no gold page can be looked into.

    `coverage` is the IDF-weighted share of the query's distinct terms that the best section of the first page holds, 0 where
    nothing came back, None where it was not asked for or cannot be told.
    """

    stratum: Stratum | None = None
    coverage: float | None = None


def query_terms(
    query: str, gold: Sequence[str], first: str | None, searcher: Explains, chunks: int, *, with_coverage: bool
) -> QueryTerms:
    """What stands where; `first` is the page at rank 1 and `chunks` the size of the index, from which IDF follows."""
    top = searcher.evidence(query, first, exact_rank=False) if first is not None and (with_coverage or first in gold) else None
    looked = [top if page == first else searcher.evidence(query, page, exact_rank=False) for page in gold]
    coverage = (idf_coverage(top.terms, chunks) if top is not None else 0.0) if with_coverage else None
    return QueryTerms(_stratum([one for one in looked if one is not None]), coverage)


def idf_coverage(terms: Sequence[TermEvidence], chunks: int) -> float:
    """Sum of idf over the distinct terms held / over all, with idf = ln(1 + (N - df + .5) / (df + .5)), the largest for df 0."""
    by_term = {term.term: (log(1.0 + (chunks - term.df + 0.5) / (term.df + 0.5)), term.tf > 0) for term in terms}
    total = fsum(idf for idf, _ in by_term.values())
    return fsum(idf for idf, is_held in by_term.values() if is_held) / total if total else 0.0


def _stratum(gold: Sequence[PageEvidence]) -> Stratum | None:
    """That of the gold page which holds most of the query."""
    if not gold:
        return None
    if any(one.terms and all(term.tf for term in one.terms) for one in gold):
        return "literal"
    return "partly" if any(one.shares_a_term for one in gold) else "no shared term"
