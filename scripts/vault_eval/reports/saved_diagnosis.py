"""The diagnoses of a saved report: why a page was missed, with its evidence, and what is wrong with labels."""

from __future__ import annotations

from vault_eval.diagnosis.causes import CAUSE_NAMES
from vault_eval.diagnosis.label_findings import FINDING_KINDS, LabelFinding, LabelFindings
from vault_eval.diagnosis.misses import Diagnosis, Rival
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.json_node import Node
from vault_eval.retrievers.protocol import Counterfactual, PageEvidence


def read_diagnosis(node: Node) -> Diagnosis:
    """Why one page was missed. Raises UsageError that names the place of the first value which is not as we write them."""
    return Diagnosis(
        page=node["page"].text(),
        cause=node["cause"].one_of(CAUSE_NAMES),
        detail=node["detail"].text(),
        missing_terms=node.optional("missing_terms", Node.texts, ()),
        unseen_terms=node.optional("unseen_terms", Node.texts, ()),
        evidence=node.optional("score", lambda _: _evidence(node), None),
        winner=node.optional("winner", Node.text, None),
        rivals=node.optional("rivals", lambda rivals: tuple(map(_rival, rivals.items())), ()),
        counterfactuals=node.optional("counterfactuals", lambda tried: tuple(map(_counterfactual, tried.items())), ()),
    )


def read_label_findings(node: Node) -> LabelFindings:
    """What is wrong with labels. Raises UsageError as `read_diagnosis`."""
    findings = tuple(
        LabelFinding(one["kind"].one_of(FINDING_KINDS), one["page"].text(), one["query"].or_none(Node.text))
        for one in node["findings"].items()
    )
    counts = {Node(kind, node.place, node.advice).one_of(FINDING_KINDS): one.count() for kind, one in node["counts"].members()}
    return LabelFindings(findings, counts)


def _rival(node: Node) -> Rival:
    return Rival(node["rank"].rank(), node["page"].text(), _evidence(node))


def _counterfactual(node: Node) -> Counterfactual:
    return Counterfactual(node["term"].text(), node["rank"].rank(), node["score"].number(), node["after_line"].count())


def _evidence(node: Node) -> PageEvidence:
    terms = tuple(map(_term, node["terms"].items()))
    rank, pool = node["exact_rank"].or_none(Node.rank), node["pool_needed"].or_none(Node.count)
    return PageEvidence(node["score"].number(), node["heading"].texts(), node["lines"].lines(), terms, rank, pool)


def _term(node: Node) -> TermEvidence:
    return TermEvidence(
        node["term"].text(),
        node["df"].count(),
        node["tf"].count(),
        node["contribution"].number(),
        node.optional("idf", Node.number, None),
        node.optional("tf_part", Node.number, None),
        node.optional("length_part", Node.number, None),
    )
