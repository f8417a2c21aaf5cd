"""`keyword` on an index that claude-obsidian made: that product's own analysis and scoring, its stale pages left out as it does.

Settings: `k1` and `b`, by default those in the index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest

from vault_eval.index.freshness import Freshness
from vault_eval.index.search import Hit
from vault_eval.index.vault_meta.analysis import TextTooLongError, terms_of
from vault_eval.index.vault_meta.coverage import freshness
from vault_eval.index.vault_meta.document import FORMAT
from vault_eval.index.vault_meta.page_state import PageState
from vault_eval.index.vault_meta.scoring import Scorer
from vault_eval.index.vault_meta.store import VaultMetaIndex, open_vault_meta
from vault_eval.limits import CANDIDATE_POOL_MIN_CHUNKS
from vault_eval.model import Candidates, IndexDescription, RankedPage, Ranking, RetrieverDescription
from vault_eval.retrievers.protocol import PageEvidence, RetrieverContext
from vault_eval.retrievers.spec import K1_MAX, Spec, number_setting, refuse_unknown_settings
from vault_eval.vault.note_text import readable_text
from vault_eval.vault.snapshot import VaultSnapshot

_SETTINGS_MAX = {"k1": K1_MAX, "b": 1.0}


def open_on_vault_meta(spec: Spec, context: RetrieverContext, folder: str) -> KeywordVaultMeta:
    """The searcher of the index in `folder`, a result of `vault_meta_folder`. Raises IndexUnusableError, UsageError."""
    refuse_unknown_settings(spec, tuple(_SETTINGS_MAX))
    given = {name: number_setting(spec, name, 0.0, 0.0, _SETTINGS_MAX[name]) for name in spec.settings}
    index = open_vault_meta(folder, context.vault)
    scorer = Scorer(index.document, given.get("k1", index.document.k1), given.get("b", index.document.b))
    return KeywordVaultMeta(spec.text, index, scorer, context.vault)


class KeywordVaultMeta:
    """Searches one open index; which of its pages are fresh was settled when it was opened."""

    why_no_cold = "its owner waits for claude-obsidian, which --product-root measures, and not for this reading of its index"

    def __init__(self, name: str, index: VaultMetaIndex, scorer: Scorer, vault: VaultSnapshot) -> None:
        self._name = name
        self._index = index
        self._scorer = scorer
        self._vault = vault
        self._places = index.path_order()
        self._asked: tuple[str, list[str], Mapping[int, float]] = ("", [], {})  # the last query, its terms, its matches

    def describe(self) -> RetrieverDescription:
        """Name, BM25 parameters, and what is told of how the index was made."""
        parameters = {"k1": self._scorer.bm25.k1, "b": self._scorer.bm25.b}
        return RetrieverDescription(self._name, {**parameters, **self._index.provenance()})

    def index(self) -> IndexDescription:
        """The index that is searched, with what was skipped of it."""
        chunks = len(self._index.document.chunks)
        skipped = self._index.skipped_malformed, self._index.skipped_undecodable
        return IndexDescription(FORMAT, self._index.sha256, len(self._index.pages), chunks, *skipped)

    def bound_digest(self) -> str | None:
        """The digest of the index as it is now."""
        return self._index.digest_now()

    def freshness(self) -> Freshness:
        """How the index stands to the notes."""
        return freshness(self._index, self._vault)

    def close(self) -> None:
        """Release the index."""
        self._index.close()

    def search(self, query: str, depth: int) -> Ranking:
        """The best `depth` fresh pages, in the order of their first chunk; too long a query for this format is an error."""
        try:
            _, matches = self._ask(query)
        except TextTooLongError as error:
            return Ranking((), error=f"the query cannot be answered: {error}")
        size = CANDIDATE_POOL_MIN_CHUNKS
        while True:
            hits = self._best(matches, size)
            fresh = self._first_of_pages(hits, fresh_only=True)
            if len(hits) < size or len(fresh) >= depth:
                return self._ranking(hits, fresh, depth)
            size *= 2

    def pages_among(self, query: str, chunks: int) -> tuple[str, ...]:
        """The distinct pages of the best `chunks`, stale ones among them. Raises TextTooLongError."""
        return tuple(self._first_of_pages(self._best(self._ask(query)[1], chunks), fresh_only=False))

    def is_stale(self, page: str) -> bool:
        """Whether the page's bytes are no longer those that were indexed, or its records no longer those of the index."""
        return self._index.state(page) is PageState.STALE

    def drops_label_only(self, page: str) -> bool:
        """Whether the page is left out though nothing but the label property was added."""
        return self._index.state(page) is PageState.LABEL_ONLY

    def evidence(self, query: str, page: str, *, exact_rank: bool) -> PageEvidence | None:
        """How the page's best chunk stands to the query.

        Headings are not told; lines are those of the page where the chunk's text does not stand in it as it is.
        """
        chunks = self._index.pages.get(page)
        if not chunks:
            return None
        terms, matches = self._ask(query)
        usable = [*filter(self._is_fresh, chunks)] or chunks
        best = min(usable, key=lambda chunk: (-matches.get(chunk, 0.0), self._places[chunk]))
        score = self._scorer.score(terms, best)
        told = tuple(self._scorer.term_scores(terms, best))
        rank, pool = self._exact_rank(matches, best) if exact_rank and score else (None, None)
        return PageEvidence(score, (), self._lines(page, best), told, rank, pool)

    def _ask(self, query: str) -> tuple[list[str], Mapping[int, float]]:
        """The terms of a query, and the score of every chunk that holds one and is of a page. Raises TextTooLongError."""
        if self._asked[0] != query:
            terms, records = terms_of(query), self._index.records
            matches = {chunk: score for chunk, score in self._scorer.matches(terms).items() if records[chunk] is not None}
            self._asked = (query, terms, matches)
        return self._asked[1:]

    def _best(self, matches: Mapping[int, float], n: int) -> list[Hit]:
        places = self._places
        ordered = nsmallest(n, ((-score, places[chunk], chunk) for chunk, score in matches.items()))
        return [Hit(chunk, -score) for score, _, chunk in ordered]

    def _first_of_pages(self, hits: Sequence[Hit], *, fresh_only: bool) -> dict[str, Hit]:
        """The distinct pages of chunks, each with its first one."""
        first: dict[str, Hit] = {}
        for hit in hits:
            record = self._index.records[hit.chunk]
            if record is not None and (self._is_fresh(hit.chunk) or not fresh_only):
                first.setdefault(record.page, hit)
        return first

    def _ranking(self, hits: Sequence[Hit], fresh: Mapping[str, Hit], depth: int) -> Ranking:
        ranked = (RankedPage(rank, page, hit.score) for rank, (page, hit) in enumerate([*fresh.items()][:depth], 1))
        raw = tuple(self._first_of_pages(hits, fresh_only=False))
        candidates = Candidates(
            usable=tuple(fresh),
            raw=raw,
            chunks=len(hits),
            stale_chunks=sum(not self._is_fresh(hit.chunk) for hit in hits),
            stale_pages=tuple(page for page in raw if page not in fresh),
            label_only_pages=(),  # they are stale to this format
            exhausted=False,
            scores=tuple(hit.score for hit in fresh.values()),
        )
        return Ranking(tuple(ranked), candidates)

    def _exact_rank(self, matches: Mapping[int, float], best: int) -> tuple[int, int]:
        """Rank among fresh pages, and place among all chunks, of the page whose best chunk is `best`."""
        own = (-matches[best], self._places[best])
        ahead = [Hit(chunk, score) for chunk, score in matches.items() if (-score, self._places[chunk]) < own]
        return 1 + len(self._first_of_pages(ahead, fresh_only=True)), len(ahead) + 1

    def _is_fresh(self, chunk: int) -> bool:
        return self._index.states[chunk] is PageState.FRESH

    def _lines(self, page: str, chunk: int) -> tuple[int, int]:
        """First and last line of the chunk, where its text stands in the page as it is; else those of the whole page."""
        record = self._index.records[chunk]
        text = readable_text(self._vault.read, page) or ""
        sought = record.text.replace("\r\n", "\n") if record is not None else ""
        at = text.find(sought)
        if at < 0:
            return 1, text.count("\n") + 1
        first = text.count("\n", 0, at) + 1
        return first, first + sought.count("\n")
