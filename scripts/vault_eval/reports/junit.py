"""Gates as JUnit XML, which every CI service reads: one test case a gate and configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from vault_eval.comparison.gates import GateResult
from vault_eval.reports.escaping import visible

SUITE = "vault-eval"
# XML 1.0 has no form for these two; all others that it lacks are shown by `visible`.
_NO_XML = re.compile("[\ufffe\uffff]")


def junit(results: Sequence[GateResult], started: str) -> str:
    """The gates as a JUnit document ended by LF; `started` is UTC, ISO 8601, without gates an empty suite.

    A gate that failed is a `failure`, an undecided one an `error`, since a skipped test would count as passed. A missed query
    is neither: only the limits that somebody set decide.
    """
    failures, errors = (sum(one.outcome == outcome for one in results) for outcome in ("failed", "undecided"))
    counts = f'tests="{len(results)}" failures="{failures}" errors="{errors}" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="{SUITE}" {counts}>',
        f'  <testsuite name="gates" {counts} timestamp={_attribute(started.removesuffix("Z"))} time="0">',
        *(line for one in results for line in _case(one)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(result: GateResult) -> Iterator[str]:
    element = {"passed": None, "failed": "failure", "undecided": "error"}[result.outcome]
    start = f'    <testcase classname="{SUITE}.gates" name={_attribute(result.gate)} time="0"'
    if element is None:
        yield f"{start}/>"
        return
    yield f"{start}>"
    yield f'      <{element} type="{result.outcome}" message={_attribute(result.detail)}>{_text(result.sentence)}</{element}>'
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_shown(text))


def _text(text: str) -> str:
    return escape(_shown(text))


def _shown(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
