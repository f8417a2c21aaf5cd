"""What a report says of one miss beyond its cause: each word's part in the scores, what one word more would do, ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_eval.diagnosis.misses import Diagnosis, Rival
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.reports import wording
from vault_eval.reports.document import QueryRow
from vault_eval.retrievers.protocol import PageEvidence

WORDS_SHOWN_MAX = 12


@dataclass(frozen=True, slots=True)
class WordPart:
    """What one query word adds to the score of one page; `parts` says how that comes about, empty where it is not told."""

    contribution: float
    parts: str


@dataclass(frozen=True, slots=True)
class ComparedWord:
    """One query word: how rare it is, and its part in the missed page's score and in that of each rival; None: not told."""

    word: str
    idf: str
    own: WordPart
    rivals: tuple[WordPart | None, ...]


@dataclass(frozen=True, slots=True)
class WordComparison:
    """A missed page against the pages that it lost to, word by word; `rest` counts words that are left out."""

    own_score: float
    rivals: tuple[Rival, ...]
    words: tuple[ComparedWord, ...]
    rest: int

    @property
    def most(self) -> float:
        """The largest part of any word in any of the scores."""
        return max(map(_weight, self.words), default=0.0)


def word_comparison(missed: Diagnosis, rivals: Sequence[Rival]) -> WordComparison | None:
    """None where nothing is known of the missed page's words, or none of them stands in it and no page is compared.

    `rivals` are those of the query, which only one of its missed pages carries.
    """
    found = missed.evidence
    if found is None or not (found.shares_a_term or rivals):
        return None
    terms = {term.term: term for term in found.terms}
    words = _weightiest([_compared(term, rivals) for term in terms.values()])
    return WordComparison(found.score, tuple(rivals), words, len(terms) - len(words))


def with_words(missed: Diagnosis) -> str | None:
    """`rank 3 with 'backup' added after line 9`, for each word that was tried, the best first; None where none was."""
    tried = sorted(wording.writable(missed.counterfactuals), key=lambda one: one.rank)
    if not tried:
        return None
    ranks = ", ".join(f"rank {one.rank:,} with {one.term!r} after line {one.after_line}" for one in tried)
    still = "" if tried[0].rank <= METRIC_CUTOFF_PAGES else f"; still not among the first {METRIC_CUTOFF_PAGES}"
    return f"with one word more: {ranks}{still}"


def tie_sentences(row: QueryRow) -> Iterator[str]:
    """Equal scores that the order of paths decided, and what a lot would have given on average."""
    for tie in row.ties:
        if tie.cutoff == METRIC_CUTOFF_PAGES or tie.expected is not None:
            said = f"ranks {tie.first}–{tie.last} have equal scores, which straddle place {tie.cutoff}"
            drawn = f": over all their orders recall@{tie.cutoff} is {tie.expected.recall:.3f} on average" if tie.expected else ""
            yield said + drawn


def _compared(term: TermEvidence, rivals: Sequence[Rival]) -> ComparedWord:
    idf = f"idf {term.idf:.2f}" if term.idf is not None else ""
    return ComparedWord(term.term, idf, _part(term), tuple(_part_in(rival.evidence, term.term) for rival in rivals))


def _weightiest(words: Sequence[ComparedWord]) -> tuple[ComparedWord, ...]:
    """Those that weigh most in any of the scores, in the order of the query."""
    heaviest = sorted(words, key=lambda word: -_weight(word))[:WORDS_SHOWN_MAX]
    return tuple(word for word in words if word in heaviest)


def _weight(word: ComparedWord) -> float:
    return max(part.contribution for part in (word.own, *word.rivals) if part is not None)


def _part_in(evidence: PageEvidence, word: str) -> WordPart | None:
    return next((_part(term) for term in evidence.terms if term.term == word), None)


def _part(term: TermEvidence) -> WordPart:
    if not term.tf or term.tf_part is None or term.length_part is None:
        return WordPart(term.contribution, "")
    return WordPart(term.contribution, f"tf {term.tf} ×{term.tf_part:.2f}, length ×{term.length_part:.2f}")
