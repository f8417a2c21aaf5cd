"""Retrieval metrics as values: pure arithmetic over judged queries, no files, no clock, no randomness."""

from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.score import MetricValue, ScoreTable, aggregate

__all__ = ["JudgedQuery", "MetricValue", "ScoreTable", "aggregate", "metrics_for"]
