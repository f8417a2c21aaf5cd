"""The closed list of causes of a miss: each with its meaning, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

CauseName: TypeAlias = Literal[
    "label_invalid",
    "out_of_scope",
    "not_indexed",
    "stale_label_only",
    "stale",
    "section_only",
    "tokenizer_gap",
    "vocabulary_mismatch",
    "tie_lost",
    "pool_cut",
    "rerank_demoted",
    "outranked",
    "unexplained",
]
CAUSE_NAMES: tuple[CauseName, ...] = get_args(CauseName)


@dataclass(frozen=True, slots=True)
class Cause:
    """What a cause says of a missed gold page, and the smallest thing that would mend it, in words for a person."""

    meaning: str
    remedy: str


CAUSES: dict[CauseName, Cause] = {
    "label_invalid": Cause("the gold page does not exist", "correct the path in the label, or remove the label"),
    "out_of_scope": Cause("the gold page is excluded from searching", "take it out of the excluded files, or skip the label"),
    "not_indexed": Cause("the gold page is not in the index", "run index again"),
    "stale_label_only": Cause("only the label property changed since indexing", "run index again"),
    "stale": Cause("the gold page changed since it was indexed", "run index again"),
    "section_only": Cause("the page was found, but not the section that the label names", "check the label's heading"),
    "tokenizer_gap": Cause("the page's text holds the query, but no term of it", "tell us: the words are cut differently"),
    "vocabulary_mismatch": Cause("no query word stands on the gold page", "add the words people ask with, or an alias"),
    "tie_lost": Cause("another page has the same score and comes first by path", "make the note say more of what it is about"),
    "pool_cut": Cause("the gold page was not among the candidates", "make the note say more of what it is about"),
    "rerank_demoted": Cause("reranking moved the gold page below the cut", "compare with --no-rerank"),
    "outranked": Cause("other pages match the query better", "make the note say more of what it is about, or judge the winner"),
    "unexplained": Cause("this searcher tells only the rank", "look at the note and at what was found instead"),
}
