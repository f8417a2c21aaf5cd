"""What trec_eval and ir_measures call our metrics, and where they are imported."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

import pytest

# Ours: that of trec_eval, that of ir_measures. trec_eval cuts no reciprocal rank: it is asked about rankings of ten pages at most.
_NAMES = {
    "recall@1": ("recall_1", "R@1"),
    "recall@5": ("recall_5", "R@5"),
    "recall@10": ("recall_10", "R@10"),
    "mrr@10": ("recip_rank", "RR@10"),
    "ndcg@10": ("ndcg_cut_10", "nDCG@10"),
    "ap@10": ("map_cut_10", "AP@10"),
    "hit@1": ("success_1", "Success@1"),
    "hit@5": ("success_5", "Success@5"),
    "hit@10": ("success_10", "Success@10"),
}
METRICS = tuple(_NAMES)
TREC_NAMES = {ours: trec for ours, (trec, _) in _NAMES.items()}
TREC_ASKED = {"recall.1,5,10", "recip_rank", "ndcg_cut.10", "map_cut.10", "success.1,5,10"}
IR_NAMES = {ours: ir for ours, (_, ir) in _NAMES.items()}


def oracle(name: str) -> ModuleType:
    """The package; the test is skipped where it is absent, unless REQUIRE_ORACLES=1 makes that a failure."""
    if os.environ.get("REQUIRE_ORACLES") == "1":
        return import_module(name)
    module: ModuleType = pytest.importorskip(name, reason=f"{name} is not installed; REQUIRE_ORACLES=1 would fail here")
    return module
