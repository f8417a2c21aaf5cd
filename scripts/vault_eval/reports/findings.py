"""What a report says of one run's figures, in the order it is said: plain records that each rendering only lays out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum

from vault_eval.diagnosis.query_terms import STRATA, Stratum
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.metrics.catalogue import metrics_for
from vault_eval.metrics.latency import LatencySummary
from vault_eval.metrics.score import MetricValue
from vault_eval.reports import wording
from vault_eval.reports.document import Report, RunReport, RunTiming
from vault_eval.reports.miss_findings import answered_negatives
from vault_eval.reports.rows import recall_caps

HEADLINE_METRICS = ("recall@5", "mrr@10", "hit@5")
GROUP_METRICS = ("recall@5", "mrr@10")
_STRATA: dict[Stratum, str] = {"literal": "all of them", "partly": "some of them", "no shared term": "none of them"}
_NO_DATA = MetricValue(None, 0, "no data")
_EMPTIED_SHOWN_MAX = 3
_NO_MEANING = "hashed words, no meaning: it checks the plumbing"
_MODEL_SETTINGS = ("model", "rerank_model")
_NO_RESULT = "no_result_accuracy"
_PLACE_METRICS = ("section_hit", "page_hit")
_TIMES = {"warm": "warm (in this process)", "cold": "cold (a new process each)"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric as it is shown; `value` may be a status in words, `interval` a dash."""

    label: str
    value: str
    interval: str
    n: str
    meaning: str
    metric: MetricValue


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A category, and its figures in the order of `GROUP_METRICS`; `n`, `interval` and `first` are those of the first.

    Where no query of it expects a page, its no-result accuracy and a dash stand in their place.
    """

    name: str
    values: tuple[str, ...]
    n: str
    interval: str
    first: MetricValue


@dataclass(frozen=True, slots=True)
class Latency:
    """One set of times as it is shown, all in milliseconds."""

    name: str
    p50: str
    p95: str
    p95_note: str  # "(= slowest of 14)", or empty
    max: str
    n: str
    beside: str | None


def figures(run: RunReport) -> tuple[Figure, ...]:
    """Every metric of the run, in the order of tables."""
    meanings = {metric.name: metric.meaning for metric in metrics_for(run.depth)}
    return tuple(_figure(name, metric, meanings) for name, metric in _shown_metrics(run).items())


def headline(run: RunReport) -> tuple[Figure, ...]:
    """The few figures to look at first."""
    meanings = {metric.name: metric.meaning for metric in metrics_for(run.depth)}
    names = (*HEADLINE_METRICS, *((_NO_RESULT,) if run.counts.negative else ()))
    return tuple(_figure(name, run.metrics.get(name, _NO_DATA), meanings) for name in names)


def compared_labels(report: Report) -> tuple[str, ...]:
    """The heads of the table of several runs, the last one for n: section- and page-hit, whose n is another, where labels name
    such places.
    """
    return (*map(wording.metric_label, HEADLINE_METRICS), *(f"{wording.metric_label(name)} (n)" for name in _places(report)), "n")


def compared_values(report: Report, run: RunReport) -> tuple[str, ...]:
    """The figures of one run in the order of `compared_labels`."""
    shown = headline(run)[: len(HEADLINE_METRICS)]
    places = [_figure(name, run.metrics.get(name, _NO_DATA), {}) for name in _places(report)]
    return (*(one.value for one in shown), *(f"{one.value} ({one.n})" for one in places), shown[0].n)


def categories(run: RunReport) -> tuple[GroupFigures, ...]:
    """The figures by category; nothing where there are fewer than two to be compared."""
    if len(run.categories) < 2:
        return ()
    return tuple(_group(name, metrics) for name, metrics in run.categories.items())


def tags(run: RunReport) -> tuple[GroupFigures, ...]:
    """The figures by tag; a query counts under each of its tags."""
    return tuple(_group(name, metrics) for name, metrics in run.tags.items())


def strata(run: RunReport) -> tuple[GroupFigures, ...]:
    """The figures by how many of the query's words stand in the best section of an expected page."""
    return tuple(_group(_STRATA[name], run.trust.strata[name]) for name in STRATA if name in run.trust.strata)


def recall_curve(run: RunReport) -> Mapping[int, float]:
    """Cutoff, 1 to 10 -> mean recall there, from the rows; empty where that mean is not to be relied on."""
    if run.metrics.get(f"recall@{METRIC_CUTOFF_PAGES}", _NO_DATA).status != "ok":
        return {}
    rows = [row for row in run.rows if row.status == "scored" and row.expected]
    places = [[row.rank(page) for page in row.expected] for row in rows]
    return {
        cutoff: fsum(sum(rank is not None and rank <= cutoff for rank in ranks) / len(ranks) for ranks in places) / len(places)
        for cutoff in range(1, METRIC_CUTOFF_PAGES + 1)
        if places
    }


def notes(run: RunReport) -> tuple[str, ...]:
    """What must be known to read the figures: statuses in words, recall that cannot reach 1, ties, what was left out."""
    return (*_status_notes(run), *_ranking_notes(run), *_index_notes(run))


def index_sentence(run: RunReport) -> str | None:
    """What was searched; None where the searcher does not tell."""
    if run.index is None:
        return None
    pages, chunks = wording.counted(run.index.pages, "page"), wording.counted(run.index.chunks, "chunk")
    return f"index {run.index.format}, {pages}, {chunks}"


def settings_sentence(run: RunReport) -> str:
    """Every setting that decides the answers."""
    return ", ".join(f"{name} {wording.setting_text(value)}" for name, value in run.retriever.settings.items())


def meaning_sentence(run: RunReport) -> str | None:
    """Said of a run that knows no meaning although its name may promise some; None of any other."""
    models = [run.retriever.settings[name] for name in _MODEL_SETTINGS if name in run.retriever.settings]
    if not models:
        return None
    from vault_eval.retrievers.embeddings import HASH  # here: most runs have no model, and load nothing of any

    return _NO_MEANING if HASH in models else None


def without_meaning(report: Report) -> str | None:
    """The same beside several runs, with their names."""
    named = [run.retriever.name for run in report.runs if meaning_sentence(run) is not None]
    return f"{wording.some(named)}: {_NO_MEANING}" if named else None


def latencies(timing: RunTiming) -> tuple[Latency, ...]:
    """Warm and cold times, never mixed; only those that were measured."""
    shown = []
    if timing.warm is not None:
        shown.append(_latency(_TIMES["warm"], timing.warm, None))
    if timing.cold is not None:
        beside = wording.times_bare(timing.cold, timing.interpreter)
        shown.append(_latency(_TIMES["cold"], timing.cold, beside))
    return tuple(shown)


def not_timed(timing: RunTiming) -> tuple[tuple[str, str], ...]:
    """The kinds of time that a searcher cannot have, and why."""
    return tuple((_TIMES[kind], why) for kind, why in timing.not_timed.items())


def timing_of(report: Report, place: int) -> RunTiming:
    """The times of the run at `place`; empty where none were taken."""
    return report.timing.runs[place] if place < len(report.timing.runs) else RunTiming({}, None, {}, None, None)


def labels_sentence(report: Report) -> str:
    """Where the queries come from, and how many there are."""
    sources = ", ".join(source.name for source in report.label_sources)
    split = "" if report.split == "all" else f", split {report.split}"
    collection = "" if report.collection is None else f", collection {report.collection}"
    return f"{sources} ({wording.queries(report.label_queries)}{split}{collection})"


def _figure(name: str, metric: MetricValue, meanings: Mapping[str, str]) -> Figure:
    label = wording.metric_label(name)
    value, interval = wording.value_text(metric), wording.interval_text(metric)
    return Figure(label, value, interval, f"{metric.n:,}", meanings.get(name, ""), metric)


def _places(report: Report) -> tuple[str, ...]:
    return tuple(name for name in _PLACE_METRICS if any(run.metrics.get(name, _NO_DATA).n for run in report.runs))


def _group(name: str, metrics: Mapping[str, MetricValue]) -> GroupFigures:
    shown = [metrics.get(metric, _NO_DATA) for metric in GROUP_METRICS]
    empty = metrics.get(_NO_RESULT, _NO_DATA)
    if empty.n and all(one.status == "no data" for one in shown):
        said = f"{wording.metric_label(_NO_RESULT)} {wording.value_text(empty)}"
        values = (said, *(wording.NOTHING for _ in shown[1:]))
        return GroupFigures(name, values, f"{empty.n:,}", wording.interval_text(empty), shown[0])
    values = tuple(map(wording.value_text, shown))
    return GroupFigures(name, values, f"{shown[0].n:,}", wording.interval_text(shown[0]), shown[0])


def _shown_metrics(run: RunReport) -> Mapping[str, MetricValue]:
    """All metrics but those for which the labels were not made: most have no dev and holdout, and name no place in a page."""
    unasked = {one.name for one in metrics_for(run.depth) if one.across is not None or one.over in ("section", "page", "place")}
    return {name: one for name, one in run.metrics.items() if one.status != "no data" or name not in unasked}


def _status_notes(run: RunReport) -> Iterator[str]:
    present = {metric.status for metric in _shown_metrics(run).values()}
    yield from (note for status, note in wording.STATUS_NOTES.items() if status in present)


def _ranking_notes(run: RunReport) -> Iterator[str]:
    over = {cutoff: number for cutoff, number in run.over_cutoff.items() if number}
    if over:
        caps = recall_caps(run)
        reached = {cutoff: f"over the places there are, recall is {wording.score_text(caps[cutoff])}" for cutoff in over}
        shown = [f"{wording.queries(number)} at cutoff {cutoff} ({reached[cutoff]})" for cutoff, number in over.items()]
        yield f"more gold pages than places, so that recall cannot reach 1: {', '.join(shown)}"
    counts = (
        (sum(bool(row.ties) for row in run.rows), "equal scores straddle a cutoff, and paths decide which pages fall inside"),
        (sum(row.pool_exhausted for row in run.rows), f"the searcher's candidates ran out before {run.depth} pages were found"),
    )
    yield from (f"in {wording.queries(number)} {what}" for number, what in counts if number)
    answered = answered_negatives(run)
    if answered:
        yield f"{len(answered)} of {run.counts.negative} negative queries found something: {wording.some(answered)}"
    removed = sum(row.label_hits_removed for row in run.rows)
    if removed:
        yield f"{wording.counted(removed, 'hit')} on a label note taken out of the rankings"
    unnamed = run.retriever.settings.get("labels_without_ranking")
    if isinstance(unnamed, int) and unnamed:
        yield f"the run holds no ranking for {wording.queries(unnamed)}, which count as answered with nothing"
    outside = sum(row.outside_vault for row in run.rows)
    if outside:
        yield f"{wording.counted(outside, 'answer')} left out, since no note of the vault has that path"


def _index_notes(run: RunReport) -> Iterator[str]:
    index = run.index
    counts = (
        (run.skipped_stale, "chunk", "left out of answers over all queries, since the page changed after it was indexed"),
        (run.stale_label_only, "page", "kept although the label property changed after it was indexed"),
        (index.skipped_malformed if index else 0, "malformed record", "of the index left out"),
        (index.skipped_undecodable if index else 0, "record", "of the index left out: the page is not UTF-8"),
    )
    yield from (f"{wording.counted(number, noun)} {what}" for number, noun, what in counts if number)
    emptied = [row.id for row in run.rows if row.status == "negative" and not row.ranking and row.stale_chunks]
    if emptied:
        named = ", ".join(emptied[:_EMPTIED_SHOWN_MAX])
        yield f"no-result accuracy is flattered by stale pages: {named} found nothing only since they were left out"


def _latency(name: str, summary: LatencySummary, beside: str | None) -> Latency:
    p50, p95, slowest = map(wording.milliseconds, (summary.p50, summary.p95, summary.max))
    return Latency(name, p50, p95, wording.p95_note(summary), slowest, f"{summary.n:,}", beside)
