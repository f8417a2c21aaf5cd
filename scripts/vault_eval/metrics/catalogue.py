"""Every metric there is: one file in `definitions/` each, so that adding a metric is adding a file."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from vault_eval.limits import DEPTH_DEFAULT_PAGES
from vault_eval.metrics.metric import Metric


def metrics_for(depth: int = DEPTH_DEFAULT_PAGES) -> tuple[Metric, ...]:
    """All metrics of a run of this depth, in the order of tables.

    A file of `definitions/` defines `metrics(depth) -> tuple[Metric, ...]` and nothing has to name it.
    """
    definitions = import_module("vault_eval.metrics.definitions")
    names = sorted(module.name for module in iter_modules(definitions.__path__))
    modules = [import_module(f"{definitions.__name__}.{name}") for name in names]
    found: list[Metric] = [metric for module in modules for metric in module.metrics(depth)]
    return tuple(sorted(found, key=lambda metric: metric.position))


def mean_metrics(depth: int = DEPTH_DEFAULT_PAGES) -> tuple[Metric, ...]:
    """Those that are a mean of one value a query: only they can be paired. Of every one that is a quality more is better."""
    return tuple(metric for metric in metrics_for(depth) if metric.across is None)
