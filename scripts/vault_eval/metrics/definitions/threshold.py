"""What refusing to answer below a top score would cost and save: the threshold is chosen on `dev`, measured on `holdout`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf

from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.definitions.recall import recall
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.metric import Across, Metric

DEV, HOLDOUT = "dev", "holdout"


def chosen_threshold(queries: Sequence[JudgedQuery]) -> float | None:
    """The top score t of a `dev` query for which (scored with top >= t) / scored - (negative with top >= t) / negative is
    largest (Youden, Cancer 1950), the lowest such t; None without both kinds in both splits, or where scores are hidden.
    """
    kinds = _kinds(queries)
    if not kinds or _is_hidden(kinds):
        return None
    scored, negative = (sorted(_top(query) for query in kind) for kind in kinds[:2])
    candidates = sorted({score for score in (*scored, *negative) if score > -inf})
    return max(candidates, key=lambda t: (_share(scored, t) - _share(negative, t), -t), default=None)


def false_answers(queries: Sequence[JudgedQuery]) -> Across:
    """1 for each negative of `holdout` whose top score reaches the threshold, else 0."""
    threshold = chosen_threshold(queries)
    if threshold is None:
        return _nothing(queries)
    values = tuple(float(_top(query) >= threshold) for query in _of(queries, HOLDOUT, negative=True))
    return Across(values, len(values))


def recall_lost(queries: Sequence[JudgedQuery]) -> Across:
    """Recall@10 of each scored query of `holdout` whose top score stays below the threshold, else 0."""
    threshold = chosen_threshold(queries)
    if threshold is None:
        return _nothing(queries)
    scored = _of(queries, HOLDOUT, negative=False)
    values = tuple((recall(one, METRIC_CUTOFF_PAGES) or 0.0) if _top(one) < threshold else 0.0 for one in scored)
    return Across(values, len(values))


def metrics(depth: int) -> tuple[Metric, ...]:  # noqa: ARG001 - the catalogue asks every file the same way
    """The false-answer rate, and the recall that is lost with it."""
    return (
        Metric(
            "false_answer_rate",
            "share of the holdout queries without an answer whose top score reaches the threshold chosen on dev",
            None,
            720,
            binary=True,
            over="negative",
            needs="the score of a page",
            across=false_answers,
            is_cost=True,
        ),
        Metric(
            "answerable_recall_lost",
            "recall@10 of the holdout queries with an answer that the same threshold would refuse",
            None,
            721,
            needs="the score of a page",
            across=recall_lost,
            is_cost=True,
        ),
    )


def _kinds(queries: Sequence[JudgedQuery]) -> list[list[JudgedQuery]]:
    """Scored and negative of `dev`, then of `holdout`; nothing where one of these four is empty."""
    kinds = [_of(queries, split, negative=negative) for split in (DEV, HOLDOUT) for negative in (False, True)]
    return kinds if all(kinds) else []


def _is_hidden(kinds: Sequence[Sequence[JudgedQuery]]) -> bool:
    return any(query.hides_scores for kind in kinds for query in kind)


def _of(queries: Sequence[JudgedQuery], split: str, *, negative: bool) -> list[JudgedQuery]:
    return [query for query in queries if query.split == split and (query.is_negative if negative else query.is_scored)]


def _top(query: JudgedQuery) -> float:
    return -inf if query.top_score is None else query.top_score


def _share(ascending: Sequence[float], threshold: float) -> float:
    return (len(ascending) - bisect_left(ascending, threshold)) / len(ascending)


def _nothing(queries: Sequence[JudgedQuery]) -> Across:
    return Across((), 0, is_hidden=_is_hidden(_kinds(queries)))
