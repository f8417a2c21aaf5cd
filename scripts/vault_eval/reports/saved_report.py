"""A saved `report.json` back as the records it was written from; it may be damaged or hostile, so every value is checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

from vault_eval import strict_json
from vault_eval.diagnosis.causes import CAUSE_NAMES
from vault_eval.diagnosis.label_findings import FINDING_KINDS, FindingKind, LabelFinding, LabelFindings
from vault_eval.diagnosis.misses import Diagnosis, Rival
from vault_eval.diagnosis.query_terms import STRATA, QueryTerms, Stratum
from vault_eval.errors import UsageError, VaultEvalError
from vault_eval.limits import REPORT_MAX_BYTES
from vault_eval.metrics.judged_query import Grain, JudgedPlace
from vault_eval.metrics.latency import LatencySummary
from vault_eval.metrics.score import MetricValue, Status
from vault_eval.metrics.ties import TieExpectation
from vault_eval.model import IndexDescription, LabelSource, RankedPage, RetrieverDescription
from vault_eval.reports import document
from vault_eval.reports.document import CUTOFFS, QueryRow, Report, RowStatus, RunReport, RunTiming, snapshot_digest
from vault_eval.retrievers.protocol import Counterfactual, PageEvidence, TermEvidence
from vault_eval.significance.intervals import Interval
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted
from vault_eval.vault.reader import read_outside

REPORT_NAME = "report.json"
PAGES_NAME = "pages.json"
ROW_STATUSES: tuple[RowStatus, ...] = get_args(RowStatus)
GRAINS: tuple[Grain, ...] = get_args(Grain)
METRIC_STATUSES: tuple[Status, ...] = get_args(Status)
T = TypeVar("T")
_ROWS = re.compile(rb'^"queries": (\[\n(?:\{.*\n)+\])', re.MULTILINE)


def read_report(path: str) -> Report:
    """The report saved at `path`, a file or the folder that holds `report.json`.

    Raises FileRefusedError where it cannot be read, UsageError that names the place of the first value that is not as
    `vault-eval.report.v1` says.
    """
    file = report_file(path)
    return _report(_node(read_outside(file, REPORT_MAX_BYTES), file))


@dataclass(frozen=True, slots=True)
class SavedFigures:
    """A saved report whose runs have no rows, and the JSON text of the rows of each run, not looked at yet."""

    report: Report
    rows: tuple[bytes, ...]


def saved_figures(data: bytes, file: str) -> SavedFigures:
    """The report in the bytes of `file` without its rows, which are nearly all of it; errors as of `read_report`.

    Of a file that is not laid out line by line as we write it, there is no text of the rows.
    """
    # Text in JSON holds no line break, so that no query and no note can look like these lines.
    report = _report(_node(_ROWS.sub(b'"queries": []', data), file))
    runs = tuple(replace(run, rows=()) for run in report.runs)
    return SavedFigures(replace(report, runs=runs), tuple(found[1] for found in _ROWS.finditer(data)))


def read_pages(path: str, snapshot_sha256: str) -> Mapping[str, str] | None:
    """The page digests kept beside a saved report; None where there are none, or those of another snapshot."""
    file = os.path.join(os.path.dirname(report_file(path)), PAGES_NAME)
    try:
        pages = {page: digest.text() for page, digest in _node(read_outside(file, REPORT_MAX_BYTES), file)["pages"].members()}
    except VaultEvalError:
        return None
    return pages if snapshot_digest(pages) == snapshot_sha256 else None


def report_file(path: str) -> str:
    """The file of a report named by its folder or by itself."""
    return os.path.join(path, REPORT_NAME) if os.path.isdir(path) else path


def _node(data: bytes, file: str) -> _Node:
    try:
        return _Node(strict_json.loads(data.decode("utf-8")), file)
    except ValueError as error:
        raise UsageError(f"{file!r} is no saved report: {error}; name a report.json") from None


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON value and where it stands; each method gives it as one type or raises UsageError that says what was found."""

    value: JsonValue
    place: str

    def __getitem__(self, key: str) -> _Node:
        if not isinstance(self.value, dict) or key not in self.value:
            raise self.refused(f"an object with the key {key!r}")
        return _Node(self.value[key], f"{self.place}: {key if key.isprintable() else quoted(key)}")

    def get(self, key: str) -> _Node | None:
        return self[key] if isinstance(self.value, dict) and key in self.value else None

    def refused(self, allowed: str) -> UsageError:
        return UsageError(f"{self.place}: found {str(self.value)[:60]!r}, allowed is {allowed}; this is no whole report")

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.refused("text")
        return self.value

    def one_of(self, allowed: tuple[str, ...]) -> str:
        if self.value not in allowed:
            raise self.refused(", ".join(allowed))
        return self.text()

    def whole(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.refused("a whole number")
        return self.value

    def number(self) -> float:
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            raise self.refused("a number")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def items(self) -> Iterator[_Node]:
        if not isinstance(self.value, list):
            raise self.refused("a list")
        return (_Node(item, f"{self.place}[{place}]") for place, item in enumerate(self.value))

    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self.items())

    def members(self) -> Iterator[tuple[str, _Node]]:
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        return ((key, self[key]) for key in self.value)

    def or_none(self, read: Callable[[_Node], T]) -> T | None:
        return None if self.value is None else read(self)


def _report(top: _Node) -> Report:
    top["schema"].one_of((document.SCHEMA,))
    vault, labels, covered, timing = top["vault"], top["labels"], top["coverage"], top["timing"]
    fixture = top.get("fixture")
    return Report(
        tool_version=top["tool"]["version"].text(),
        vault_name=vault["name"].text(),
        vault_pages=vault["pages"].whole(),
        snapshot_sha256=vault["snapshot_sha256"].text(),
        page_digests={},
        label_sources=tuple(
            LabelSource(one["name"].text(), one["sha256"].text(), one["format"].text()) for one in labels["sources"].items()
        ),
        label_queries=labels["queries"].whole(),
        split=labels["split"].text(),
        unavailable=top["scope"]["unavailable"].texts(),
        warnings=top["warnings"].texts(),
        coverage=document.Coverage(*(covered[name].whole() for name in ("gold_pages", "exist", "in_scope", "indexed", "fresh"))),
        runs=_runs(top["runs"]),
        timing=document.Timing(
            timing["started"].text(),
            {name: node.text() for name, node in timing["environment"].members()},
            tuple(_timing(one) for one in timing["runs"].items()),
        ),
        fixture=_fixture(fixture) if fixture is not None else None,
        label_findings=_label_findings(top["label_findings"]),
    )


def _runs(node: _Node) -> tuple[RunReport, ...]:
    runs = tuple(_run(run) for run in node.items())
    if not runs:
        raise node.refused("at least one run")
    return runs


def _fixture(node: _Node) -> document.Fixture:
    files = tuple(document.FixtureFile(one["path"].text(), one["sha256"].text()) for one in node["files"].items())
    return document.Fixture(files, node["stale_page"].text())


def _run(node: _Node) -> RunReport:
    index = node["index"].or_none(lambda one: one)
    names = ("queries", "scored", "negative", "missing_gold", "missing_pages", "skipped", "other_collection", "error")
    groups = node["groups"]
    return RunReport(
        retriever=_retriever(node["retriever"]),
        index=_index(index) if index is not None else None,
        skipped_stale=index["skipped_stale"].whole() if index is not None else 0,
        stale_label_only=index["stale_label_only"].whole() if index is not None else 0,
        depth=node["depth"].whole(),
        counts=document.Counts(*(node["counts"][name].whole() for name in names)),
        metrics=_metrics(node["metrics"]),
        over_cutoff={cutoff: node["more_gold_than_cutoff"][str(cutoff)].whole() for cutoff in CUTOFFS},
        categories={name: _metrics(metrics) for name, metrics in groups["category"].members()},
        tags={name: _metrics(metrics) for name, metrics in groups["tag"].members()},
        worst_misses=node["worst_misses"].texts(),
        rows=tuple(_row(row) for row in node["queries"].items()),
        trust=_trust(node["trust"]),
    )


def _retriever(node: _Node) -> RetrieverDescription:
    settings: dict[str, str | int | float | bool | None] = {}
    for name, setting in node.members():
        if name != "name":
            if isinstance(setting.value, (list, dict)):
                raise setting.refused("text, a number, true, false or null")
            settings[name] = setting.value
    return RetrieverDescription(node["name"].text(), settings)


def _index(node: _Node) -> IndexDescription:
    return IndexDescription(
        format=node["format"].text(),
        sha256=node["sha256"].text(),
        pages=node["pages"].whole(),
        chunks=node["chunks"].whole(),
        skipped_malformed=node["skipped_malformed"].whole(),
        skipped_undecodable=node["skipped_undecodable"].whole(),
    )


def _metrics(node: _Node) -> Mapping[str, MetricValue]:
    return {name: _metric(metric) for name, metric in node.members()}


def _metric(node: _Node) -> MetricValue:
    status = next(one for one in METRIC_STATUSES if one == node["status"].one_of(METRIC_STATUSES))
    interval = node["interval"].or_none(lambda one: Interval(one["low"].number(), one["high"].number(), one["method"].text()))
    return MetricValue(node["value"].or_none(_Node.number), node["n"].whole(), status, interval)


def _row(node: _Node) -> QueryRow:
    found, grades = node["diagnostics"], node.get("grades")
    diagnosed = tuple(_diagnosis(one) for one in node["diagnosis"].items())
    reasons = {one.page: one.detail for one in diagnosed}
    return QueryRow(
        id=node["id"].text(),
        query=node["query"].text(),
        category=node["category"].or_none(_Node.text),
        tags=node["tags"].texts(),
        status=next(one for one in ROW_STATUSES if one == node["status"].one_of(ROW_STATUSES)),
        skip_reason=node["skip_reason"].or_none(_Node.text),
        error=node["error"].or_none(_Node.text),
        expected=node["expected"].texts(),
        missing={page: reasons.get(page, "") for page in node["missing"].texts()},
        not_indexed=node["not_indexed"].texts(),
        ranking=tuple(_ranked(one) for one in node["ranking"].items()),
        recall={cutoff: node["recall"][str(cutoff)].or_none(_Node.number) for cutoff in CUTOFFS},
        rr=node["rr"].or_none(_Node.number),
        usable_gold=found["usable_gold"].or_none(_Node.texts),
        raw_gold=found["raw_gold"].or_none(_Node.texts),
        pool_chunks=found["pool_chunks"].or_none(_Node.whole),
        stale_chunks=found["stale_chunks"].whole(),
        stale_pages=found["stale_pages"].texts(),
        pool_exhausted=found["pool_exhausted"].flag(),
        label_hits_removed=found["label_hits_removed"].whole(),
        outside_vault=found["outside_vault"].whole(),
        diagnosis=diagnosed,
        places=tuple(map(_place, node["places"].items())),
        ties=tuple(
            document.TieGroup(
                one["cutoff"].whole(), one["first_rank"].whole(), one["last_rank"].whole(), _expected(one.get("expected"))
            )
            for one in node["ties"].items()
        ),
        split=node["split"].or_none(_Node.text),
        grades={page: grade.whole() for page, grade in grades.members()} if grades is not None else {},
        terms=QueryTerms(found["stratum"].or_none(_stratum), found["query_coverage"].or_none(_Node.number)),
    )


def _expected(node: _Node | None) -> TieExpectation | None:
    return None if node is None else TieExpectation(node["hit"].number(), node["recall"].number(), node["rr"].number())


def _stratum(node: _Node) -> Stratum:
    return next(name for name in STRATA if name == node.one_of(STRATA))


def _trust(node: _Node) -> document.Trust:
    return document.Trust(
        {_stratum(_Node(name, node.place)): _metrics(metrics) for name, metrics in node["strata"].members()},
        tuple(document.Unjudged(one["id"].text(), one["pages"].texts()) for one in node["unjudged"].items()),
        node["unjudged_queries"].whole(),
        node["threshold"].or_none(_Node.number),
    )


def _finding_kind(node: _Node) -> FindingKind:
    return next(kind for kind in FINDING_KINDS if kind == node.one_of(FINDING_KINDS))


def _label_findings(node: _Node) -> LabelFindings:
    found = tuple(
        LabelFinding(_finding_kind(one["kind"]), one["page"].text(), one["query"].or_none(_Node.text))
        for one in node["findings"].items()
    )
    return LabelFindings(found, {_finding_kind(_Node(kind, node.place)): one.whole() for kind, one in node["counts"].members()})


def _place(node: _Node) -> JudgedPlace:
    grain = next(one for one in GRAINS if one == node["grain"].one_of(GRAINS))
    return JudgedPlace(node["target"].text(), node["page"].text(), grain, node["hit"].or_none(_Node.flag))


def _ranked(node: _Node) -> RankedPage:
    lines = node["lines"].or_none(_lines)
    return RankedPage(
        node["rank"].whole(), node["page"].text(), node["score"].or_none(_Node.number), node["heading"].texts(), lines
    )


def _lines(node: _Node) -> tuple[int, int]:
    numbers = [item.whole() for item in node.items()]
    if len(numbers) != 2:
        raise node.refused("a first and a last line")
    return numbers[0], numbers[1]


def _diagnosis(node: _Node) -> Diagnosis:
    missing, unseen, winner, score = (node.get(name) for name in ("missing_terms", "unseen_terms", "winner", "score"))
    rivals, imagined = node.get("rivals"), node.get("counterfactuals")
    return Diagnosis(
        page=node["page"].text(),
        cause=next(name for name in CAUSE_NAMES if name == node["cause"].one_of(CAUSE_NAMES)),
        detail=node["detail"].text(),
        missing_terms=missing.texts() if missing is not None else (),
        unseen_terms=unseen.texts() if unseen is not None else (),
        evidence=_evidence(node) if score is not None else None,
        winner=winner.text() if winner is not None else None,
        rivals=tuple(_rival(one) for one in rivals.items()) if rivals is not None else (),
        counterfactuals=tuple(_counterfactual(one) for one in imagined.items()) if imagined is not None else (),
    )


def _rival(node: _Node) -> Rival:
    return Rival(node["rank"].whole(), node["page"].text(), _evidence(node))


def _counterfactual(node: _Node) -> Counterfactual:
    return Counterfactual(node["term"].text(), node["rank"].whole(), node["score"].number(), node["after_line"].whole())


def _evidence(node: _Node) -> PageEvidence:
    terms = tuple(map(_term, node["terms"].items()))
    rank, pool = node["exact_rank"].or_none(_Node.whole), node["pool_needed"].or_none(_Node.whole)
    return PageEvidence(node["score"].number(), node["heading"].texts(), _lines(node["lines"]), terms, rank, pool)


def _term(node: _Node) -> TermEvidence:
    idf, tf_part, length_part = (node.get(name) for name in ("idf", "tf_part", "length_part"))
    return TermEvidence(
        node["term"].text(),
        node["df"].whole(),
        node["tf"].whole(),
        node["contribution"].number(),
        idf.number() if idf is not None else None,
        tf_part.number() if tf_part is not None else None,
        length_part.number() if length_part is not None else None,
    )


def _timing(node: _Node) -> RunTiming:
    rows = dict(node["queries"].members())
    warm = {name: row["warm_ms"].or_none(_Node.number) for name, row in rows.items()}
    cold = {name: row["cold_ms"].or_none(_Node.number) for name, row in rows.items()}
    block, not_timed = node["cold"].or_none(lambda one: one), node.get("not_timed")
    return RunTiming(
        {name: value for name, value in warm.items() if value is not None},
        _latency(node["warm"]),
        {name: value for name, value in cold.items() if value is not None},
        _latency(block) if block is not None else None,
        _latency(block["interpreter"]) if block is not None else None,
        {kind: why.text() for kind, why in not_timed.members()} if not_timed is not None else {},
    )


def _latency(node: _Node) -> LatencySummary | None:
    n = node["n"].whole()
    return LatencySummary(n, *(node[name].number() for name in ("p50", "p95", "mean", "max"))) if n else None
