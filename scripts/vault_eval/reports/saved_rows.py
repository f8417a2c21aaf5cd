"""The rows of a saved report: what was expected of each query, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from vault_eval.diagnosis.query_terms import STRATA, QueryTerms, Stratum
from vault_eval.json_node import Node
from vault_eval.labels.grades import GRADES
from vault_eval.metrics.judged_query import Grain, JudgedPlace
from vault_eval.metrics.metric import CUTOFFS
from vault_eval.metrics.ties import TieExpectation
from vault_eval.model import RankedPage
from vault_eval.reports.document import QueryRow, RowStatus, TieGroup
from vault_eval.reports.saved_diagnosis import read_diagnosis

ROW_STATUSES: tuple[RowStatus, ...] = get_args(RowStatus)
GRAINS: tuple[Grain, ...] = get_args(Grain)
RANKING = "the ranks from 1 upwards, each with a page of its own"


def read_row(node: Node) -> QueryRow:
    """One row. Raises UsageError that names the place of the first value which is not as we write rows."""
    found = node["diagnostics"]
    diagnosed = tuple(read_diagnosis(one) for one in node["diagnosis"].items())
    reasons = {one.page: one.detail for one in diagnosed}
    return QueryRow(
        id=node["id"].text(),
        query=node["query"].text(),
        category=node["category"].or_none(Node.text),
        tags=node["tags"].texts(),
        status=node["status"].one_of(ROW_STATUSES),
        skip_reason=node["skip_reason"].or_none(Node.text),
        error=node["error"].or_none(Node.text),
        expected=node["expected"].texts(),
        missing={page: reasons.get(page, "") for page in node["missing"].texts()},
        not_indexed=node["not_indexed"].texts(),
        ranking=_ranking(node["ranking"]),
        recall={cutoff: node["recall"][str(cutoff)].or_none(Node.share) for cutoff in CUTOFFS},
        rr=node["rr"].or_none(Node.share),
        usable_gold=found["usable_gold"].or_none(Node.texts),
        raw_gold=found["raw_gold"].or_none(Node.texts),
        pool_chunks=found["pool_chunks"].or_none(Node.count),
        stale_chunks=found["stale_chunks"].count(),
        stale_pages=found["stale_pages"].texts(),
        pool_exhausted=found["pool_exhausted"].flag(),
        label_hits_removed=found["label_hits_removed"].count(),
        outside_vault=found["outside_vault"].count(),
        diagnosis=diagnosed,
        places=tuple(map(_place, node["places"].items())),
        ties=tuple(map(_tie, node["ties"].items())),
        split=node["split"].or_none(Node.text),
        grades=read_grades(node),
        terms=QueryTerms(found["stratum"].or_none(_stratum), found["query_coverage"].or_none(Node.share)),
    )


def read_grades(node: Node) -> Mapping[str, int]:
    """Page -> grade of one row, none where its label does not grade. Raises UsageError as `read_row`."""
    absent: Mapping[str, int] = {}
    return node.optional("grades", _grades, absent)


def _grades(node: Node) -> Mapping[str, int]:
    return {page: _grade(grade) for page, grade in node.members()}


def _grade(node: Node) -> int:
    grade = node.whole()
    if grade not in GRADES:
        raise node.refused(", ".join(map(str, GRADES)))
    return grade


def _stratum(node: Node) -> Stratum:
    return node.one_of(STRATA)


def _ranking(node: Node) -> tuple[RankedPage, ...]:
    ranking = tuple(map(_ranked, node.items()))
    if [one.rank for one in ranking] != [*range(1, len(ranking) + 1)]:
        raise node.refused(RANKING)
    return ranking


def _ranked(node: Node) -> RankedPage:
    lines = node["lines"].or_none(Node.lines)
    return RankedPage(
        node["rank"].rank(), node["page"].text(), node["score"].or_none(Node.number), node["heading"].texts(), lines
    )


def _place(node: Node) -> JudgedPlace:
    grain = node["grain"].one_of(GRAINS)
    return JudgedPlace(node["target"].text(), node["page"].text(), grain, node["hit"].or_none(Node.flag))


def _tie(node: Node) -> TieGroup:
    expected = node.optional("expected", _expected, None)
    return TieGroup(node["cutoff"].rank(), node["first_rank"].rank(), node["last_rank"].rank(), expected)


def _expected(node: Node) -> TieExpectation | None:
    return TieExpectation(node["hit"].share(), node["recall"].share(), node["rr"].share())
