"""`claude-obsidian`: that product's own `scripts/retrieve.py --no-rerank --explain`, one process a query.

Settings: `bm25-top`, the chunks that it considers (default 20, as it has it, or the depth where that is more), and `timeout`
in seconds. With `--no-rerank` it writes nothing and asks no network.
"""

from __future__ import annotations

import os
from dataclasses import replace

from vault_eval.errors import IndexUnusableError, UsageError
from vault_eval.index.freshness import Freshness
from vault_eval.index.vault_meta.places import FOLDER_NAME
from vault_eval.limits import (
    CANDIDATE_POOL_MIN_CHUNKS,
    EXTERNAL_QUERY_DEFAULT_SECONDS,
    EXTERNAL_QUERY_MAX_SECONDS,
)
from vault_eval.model import Candidates, IndexDescription, Ranking, RetrieverDescription
from vault_eval.retrievers.answers import AnswerError
from vault_eval.retrievers.bounded_process import ProcessFailedError
from vault_eval.retrievers.claude_obsidian_program import Answer, Product, answer_of
from vault_eval.retrievers.external_results import ranking_of
from vault_eval.retrievers.keyword_vault_meta import KeywordVaultMeta, open_on_vault_meta
from vault_eval.retrievers.protocol import PageEvidence, RetrieverContext
from vault_eval.retrievers.spec import Spec, number_setting, refuse_unknown_settings, whole_setting
from vault_eval.retrievers.without_index import WithoutIndex
from vault_eval.vault.paths import quoted

NEEDS_INDEX = True

# What the product takes for --top and --bm25-top.
POOL_MAX_CHUNKS = 1_000


def open_retriever(spec: Spec, context: RetrieverContext) -> ClaudeObsidian:
    """The product, asked once to see that it answers.

    Raises UsageError without a checkout that can be run, or for other settings; IndexUnusableError where it has no index.
    """
    refuse_unknown_settings(spec, ("bm25-top", "timeout"))
    pool = whole_setting(spec, "bm25-top", CANDIDATE_POOL_MIN_CHUNKS, 1, POOL_MAX_CHUNKS)
    timeout = number_setting(spec, "timeout", EXTERNAL_QUERY_DEFAULT_SECONDS, 1, EXTERNAL_QUERY_MAX_SECONDS)
    if context.product_root is None:
        raise UsageError(f"--retriever {quoted(spec.text)} needs --product-root DIR, a checkout of claude-obsidian")
    product = Product(os.path.abspath(context.product_root), context.vault.root, timeout)
    product.refuse_unready()
    fixed_pool = pool if "bm25-top" in spec.settings else None
    try:
        folder = os.path.join(context.vault.root, FOLDER_NAME)
        native = open_on_vault_meta(Spec(spec.text, spec.kind, {}), context, folder)
    except IndexUnusableError:
        return ClaudeObsidian(spec.text, product, context, fixed_pool)
    return ExplainedClaudeObsidian(spec.text, product, context, fixed_pool, native)


class ClaudeObsidian(WithoutIndex):
    """Asks the product; besides pages and scores it tells how many chunks it considered, and dropped as stale."""

    why_no_warm = "it is a new process for every query"

    def __init__(self, name: str, product: Product, context: RetrieverContext, fixed_pool: int | None) -> None:
        self._name = name
        self._product = product
        self._version = product.version()
        self._vault = context.vault
        self._fixed_pool = fixed_pool
        self._pages = frozenset((*context.vault.names, *(one.path for one in context.vault.listing.excluded)))

    def describe(self) -> RetrieverDescription:
        """The product's version, the options that it is asked with, and what bounds an answer."""
        pool = f"{CANDIDATE_POOL_MIN_CHUNKS}, or the depth" if self._fixed_pool is None else self._fixed_pool
        settings = {"version": self._version, "bm25-top": pool, "rerank": False, "timeout_s": self._product.timeout_seconds}
        return RetrieverDescription(self._name, settings)

    def search(self, query: str, depth: int) -> Ranking:
        """The pages that the product printed, in its order; a process that failed is an error with what it said."""
        pool = min(self._fixed_pool or max(CANDIDATE_POOL_MIN_CHUNKS, depth), POOL_MAX_CHUNKS)
        try:
            answer = answer_of(self._product.ask(query, pool))
        except ProcessFailedError as failure:
            return Ranking((), error=str(failure))
        except AnswerError as failure:
            return Ranking((), error=f"claude-obsidian {failure}")
        ranking = ranking_of(answer.found, self._pages, self._vault.root, pool)
        for ranked in ranking.pages[:depth]:
            self._vault.pages.digest(ranked.page)  # read, so that a change of it during the run is found
        considered = self._considered(query, ranking, answer, pool, depth) if ranking.error is None else None
        return replace(ranking, pages=ranking.pages[:depth], candidates=considered)

    def _considered(self, query: str, ranking: Ranking, answer: Answer, pool: int, depth: int) -> Candidates | None:
        """The pool, whose fresh pages are all in the answer; None where the stale ones in it are not known."""
        usable = tuple(ranked.page for ranked in ranking.pages)
        stale = self._stale_pages(query, pool, usable) if answer.stale_chunks else ()
        if stale is None:
            return None
        return Candidates(
            usable=usable,
            raw=usable + stale,
            chunks=answer.chunks,
            stale_chunks=answer.stale_chunks,
            stale_pages=stale,
            label_only_pages=(),
            exhausted=answer.chunks == pool and len(usable) < depth,
            scores=tuple(ranked.score for ranked in ranking.pages if ranked.score is not None),
        )

    def _stale_pages(self, query: str, pool: int, usable: tuple[str, ...]) -> tuple[str, ...] | None:  # noqa: ARG002
        """The pages that the product dropped, which it only counts."""
        return None


class ExplainedClaudeObsidian(ClaudeObsidian):
    """The product with its index read natively beside it: what it found is the product's, why it missed the rest is ours.

    A diagnosis holds these term scores against the product's own scores before it believes them.
    """

    def __init__(
        self, name: str, product: Product, context: RetrieverContext, fixed_pool: int | None, native: KeywordVaultMeta
    ) -> None:
        super().__init__(name, product, context, fixed_pool)
        self._native = native

    def describe(self) -> RetrieverDescription:
        """As the product alone, and what is told of how its index was made."""
        alone = super().describe()
        return replace(alone, settings={**alone.settings, **self._native.describe().settings})

    def index(self) -> IndexDescription:
        """The product's index."""
        return self._native.index()

    def bound_digest(self) -> str | None:
        """The digest of the product's index as it is now."""
        return self._native.bound_digest()

    def freshness(self) -> Freshness:
        """How the product's index stands to the notes."""
        return self._native.freshness()

    def evidence(self, query: str, page: str, *, exact_rank: bool) -> PageEvidence | None:
        """How the page's best chunk stands to the query, by the formula of the index."""
        return self._native.evidence(query, page, exact_rank=exact_rank)

    def is_stale(self, page: str) -> bool:
        """Whether the page's bytes are no longer those that were indexed."""
        return self._native.is_stale(page)

    def drops_label_only(self, page: str) -> bool:
        """Whether the page is left out though nothing but the label property was added."""
        return self._native.drops_label_only(page)

    def close(self) -> None:
        """Release the index."""
        self._native.close()

    def _stale_pages(self, query: str, pool: int, usable: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(page for page in self._native.pages_among(query, pool) if page not in usable)
