"""A run of another tool, in whichever of the formats it is."""

from __future__ import annotations

import re

from vault_eval.interop import elasticsearch, ranx, trec
from vault_eval.interop.records import ForeignRun

_ANSWER = re.compile(r'\{\s*"(metric_score|details|failures)"\s*:')


def read_run(text: str, name: str) -> ForeignRun:
    """The rankings of a run; `name` is how messages call it.

    JSON that begins as the answer of `_rank_eval` does is that, other JSON is of ranx, and everything else TREC.
    Raises UsageError as the format does.
    """
    start = text.lstrip()
    if not start.startswith("{"):
        return trec.read_run(text, name)
    return elasticsearch.read_run(text, name) if _ANSWER.match(start) else ranx.read_run(text, name)
