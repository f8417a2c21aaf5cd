"""Small hand-made reports: rows are written out, figures follow from them by the project's own arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from vault_eval.diagnosis.misses import Diagnosis, Rival
from vault_eval.index.term_evidence import TermEvidence
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.definitions.mrr import reciprocal_rank
from vault_eval.metrics.definitions.recall import recall
from vault_eval.metrics.judged_query import JudgedQuery
from vault_eval.metrics.latency import summary
from vault_eval.metrics.metric import CUTOFFS
from vault_eval.metrics.score import ScoreTable
from vault_eval.model import IndexDescription, LabelSource, RankedPage, RetrieverDescription
from vault_eval.reports.document import Counts, Coverage, QueryRow, Report, RunReport, RunTiming, Timing
from vault_eval.reports.rows import worst_misses
from vault_eval.retrievers.protocol import Counterfactual, PageEvidence
from vault_eval.significance.intervals import mean_interval


def _ranking(pages: Sequence[str]) -> tuple[RankedPage, ...]:
    return tuple(RankedPage(rank, page, 12.0 - rank, ("Tides", f"Part {rank}")) for rank, page in enumerate(pages, start=1))


def build_row(name: str, query: str, expected: Sequence[str], found: Sequence[str], **changes: object) -> QueryRow:
    """A row; scored where pages are expected, negative where none are, unless `changes` say otherwise."""
    judged = JudgedQuery(tuple(expected), tuple(found), {}, tuple(found), tuple(found))
    scored = changes.get("status", "scored") == "scored" and bool(expected)
    row = QueryRow(
        id=name,
        query=query,
        category=None,
        tags=(),
        status="scored" if expected else "negative",
        skip_reason=None,
        error=None,
        expected=tuple(expected),
        missing={},
        not_indexed=(),
        ranking=_ranking(found),
        recall={cutoff: recall(judged, cutoff) if scored else None for cutoff in CUTOFFS},
        rr=reciprocal_rank(judged, 10) if scored else None,
        usable_gold=None,
        raw_gold=None,
        pool_chunks=20,
        stale_chunks=0,
        stale_pages=(),
        pool_exhausted=False,
        label_hits_removed=0,
        diagnosis=(),
        ties=(),
    )
    return replace(row, **changes)


def build_run(rows: Sequence[QueryRow], *, depth: int = 10, name: str = "keyword", **changes: object) -> RunReport:
    """A run whose figures follow from its rows."""
    answered = [row for row in rows if row.is_answered]
    ranked = [tuple(one.page for one in row.ranking) for row in answered]
    judged = [JudgedQuery(row.expected, pages, {}, pages, pages) for row, pages in zip(answered, ranked, strict=True)]
    table = ScoreTable.of(metrics_for(depth), judged)
    errors = sum(row.status == "error" for row in rows)
    names = sorted({row.category for row in rows if row.category})
    groups = {
        one: table.aggregate([place for place, row in enumerate(answered) if row.category == one], interval=mean_interval)
        for one in names
    }
    status = [row.status for row in rows]
    run = RunReport(
        retriever=RetrieverDescription(name, {"k1": 1.5, "stem": None, "positions": True}),
        index=IndexDescription("vault-eval.index.v1", "ab" * 32, 9, 31),
        skipped_stale=0,
        stale_label_only=0,
        depth=depth,
        counts=Counts(
            queries=len(rows),
            scored=status.count("scored"),
            negative=status.count("negative"),
            missing_gold=status.count("missing-gold"),
            missing_pages=len({page for row in rows for page in row.missing}),
            skipped=status.count("skipped"),
            other_collection=0,
            error=errors,
        ),
        metrics=table.aggregate(interval=mean_interval, errors=errors),
        over_cutoff={cutoff: sum(len(query.relevant) > cutoff for query in judged) for cutoff in CUTOFFS},
        categories=groups,
        tags={},
        worst_misses=worst_misses(rows),
        rows=tuple(rows),
    )
    return replace(run, **changes)


def build_report(*runs: RunReport, **changes: object) -> Report:
    """A report on these runs; no query was timed unless `changes` say otherwise."""
    queries = runs[0].counts.queries if runs else 0
    report = Report(
        tool_version="1.2.3",
        vault_name="Harbour notes",
        vault_pages=9,
        snapshot_sha256="0123456789abcdef" * 4,
        page_digests={},
        label_sources=(LabelSource("questions.json", "cd" * 32, "native"),),
        label_queries=queries,
        split="all",
        unavailable=(),
        warnings=(),
        coverage=Coverage(3, 2, 2, 2, 2),
        runs=runs,
        timing=Timing("2026-03-01T09:30:00Z", {"python": "3.12.1"}, tuple(RunTiming({}, None, {}, None, None) for _ in runs)),
    )
    return replace(report, **changes)


def outranked(page: str) -> Diagnosis:
    """A gold page at rank 14 whose best section holds one of two query words, against the page that holds both.

    tide: idf 2 x tf part 1.25 x length part 0.5 = 1.25, and 2 x 1 x 1 = 2; neap: 0, and 3 x 1 x 1 = 3.
    """
    terms = (TermEvidence("tide", 4, 2, 1.25, 2.0, 1.25, 0.5), TermEvidence("neap", 1, 0, 0.0, 3.0, 0.0, 1.0))
    both = (TermEvidence("tide", 4, 1, 2.0, 2.0, 1.0, 1.0), TermEvidence("neap", 1, 1, 3.0, 3.0, 1.0, 1.0))
    return Diagnosis(
        page,
        "outranked",
        "it is at rank 14; its best section lacks 'neap'",
        ("neap",),
        (),
        PageEvidence(1.25, ("Tides", "Spring"), (3, 9), terms, 14, 40),
        "Sea/B.md",
        (Rival(1, "Sea/B.md", PageEvidence(5.0, ("Tides",), (1, 4), both)),),
        (Counterfactual("neap", 3, 2.75, 9),),
    )


def build_small_report() -> Report:
    """Five queries: one found, one missed, one negative, one with missing gold, one skipped. recall@5 = (1 + 0) / 2."""
    rows = (
        build_row("first-tide", "when is the first tide", ["Sea/Tides.md"], ["Sea/Tides.md", "Sea/B.md"], category="plain"),
        build_row(
            "neap",
            "neap tide | height",
            ["Sea/Neap_tides.md"],
            ["Sea/B.md", "Sea/Tides.md"],
            category="other words",
            diagnosis=(outranked("Sea/Neap_tides.md"),),
        ),
        build_row("no-whales", "are there whales", [], [], category="unanswerable"),
        build_row(
            "gone",
            "who has the keys",
            ["Keys.md"],
            [],
            status="missing-gold",
            missing={"Keys.md": "no note of that name is in the vault; 'Old/Keys.md' has the same content: was it renamed?"},
            diagnosis=(Diagnosis("Keys.md", "label_invalid", "no note of that name is in the vault"),),
        ),
        build_row("later", "winter moorings", ["Moorings.md"], [], status="skipped", skip_reason="not written yet"),
    )
    warm = {"first-tide": 0.125, "neap": 0.25, "no-whales": 0.0625}
    cold = {"first-tide": 60.0, "neap": 90.0, "no-whales": 75.0}
    timing = RunTiming(warm, summary(warm.values()), cold, summary(cold.values()), summary([15.0, 15.0, 15.0]))
    return build_report(
        build_run(rows),
        warnings=("2 notes were added since the index was built and are not in it; run index again: 'A.md', 'B.md'",),
        timing=Timing("2026-03-01T09:30:00Z", {"python": "3.12.1"}, (timing,)),
    )


@pytest.fixture
def small_report() -> Report:
    return build_small_report()


@pytest.fixture
def make_row():
    return build_row


@pytest.fixture
def make_run():
    return build_run


@pytest.fixture
def make_report():
    return build_report


# id, category, rank of the first expected page before and after: the mean rises while `history` falls.
PAIRED = (
    ("tide", "plain", 3, 1),
    ("neap", "plain", None, 2),
    ("berth", "plain", 2, 1),
    ("lock", "plain", 5, 1),
    ("pilot", "plain", 4, 1),
    ("mast", "plain", 1, 1),
    ("sail", "plain", 1, 1),
    ("logbook", "history", 1, 2),
    ("charter", "history", 2, 4),
)


def build_side(place: int, *, name: str = "keyword", **changes: object) -> Report:
    """One of two reports on the same labels: `place` 0 is before, 1 after; one label has lost its gold in the second."""
    rows = [
        build_row(
            one[0],
            f"what of the {one[0]}",
            [f"{one[0]}.md"],
            _pages(f"{one[0]}.md", one[2 + place]),
            category=one[1],
        )
        for one in PAIRED
    ]
    gone = {"status": "missing-gold", "missing": {"Keys.md": "no note of that name is in the vault"}} if place else {}
    rows += [
        build_row("whales", "are there whales", [], []),
        build_row("keys", "who has the keys", ["Keys.md"], ["Keys.md"], **gone),
    ]
    settings = {"k1": 1.5 - place, "stem": None}
    run = build_run(rows, retriever=RetrieverDescription(name, settings))
    timing = Timing(f"2026-03-0{1 + place}T09:30:00Z", {"python": "3.12.1"}, (RunTiming({}, None, {}, None, None),))
    return build_report(run, timing=timing, **changes)


def _pages(gold: str, rank: int | None) -> list[str]:
    others = [f"Other {number}.md" for number in range(1, 7)]
    return others if rank is None else [*others[: rank - 1], gold, *others[rank - 1 :]]


@pytest.fixture
def make_side():
    return build_side
