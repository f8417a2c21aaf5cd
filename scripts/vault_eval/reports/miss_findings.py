"""What a report says of misses and of queries left out: the worst, their causes, what to do, what came instead."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from vault_eval.diagnosis.causes import CAUSE_NAMES, CAUSES, CauseName
from vault_eval.diagnosis.misses import Diagnosis
from vault_eval.diagnosis.query_runs import in_own_words
from vault_eval.limits import METRIC_CUTOFF_PAGES
from vault_eval.model import RankedPage
from vault_eval.reports import wording
from vault_eval.reports.document import QueryRow, RowStatus, RunReport

NEXT_STEPS_MAX = 3
EDITS_SHOWN_MAX = 2
FIRST_LOOKED_AT_PAGES = 5  # most people look no further down
QUERIES_NAMED_MAX = 3
ID_SHOWN_MAX_CHARACTERS = 60
_NOTHING_LEFT = "nothing was missed: harder questions would show where the limits are"


@dataclass(frozen=True, slots=True)
class CauseCount:
    """How many queries and pages were missed for one cause."""

    name: CauseName
    queries: int
    pages: int
    meaning: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A word to be added to the best section of a page, and the ranks that as many queries would then have."""

    page: str
    term: str
    ranks: tuple[int, ...]  # ascending, each within the first ten

    @property
    def sentence(self) -> str:
        """What to add where, and what that would bring, in words."""
        ranks = sorted(set(self.ranks))
        where = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {ranks[0]} to {ranks[-1]}"
        return f"add {self.term!r} to {self.page}: would bring {wording.queries(len(self.ranks))} to {where}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A query that is in no mean, and one reason for it; `page` is set for missing gold."""

    id: str
    page: str | None
    reason: str


def missed_rows(run: RunReport) -> tuple[QueryRow, ...]:
    """The queries with a gold page that is not among the first ten."""
    return tuple(row for row in run.rows if row.misses(METRIC_CUTOFF_PAGES))


def worst_rows(run: RunReport) -> tuple[QueryRow, ...]:
    """The rows of the worst misses, worst first."""
    rows = {row.id: row for row in run.rows}
    return tuple(rows[one] for one in run.worst_misses if one in rows)


def causes(run: RunReport) -> tuple[CauseCount, ...]:
    """The causes of misses that occurred, most queries first; missing gold is no miss and not among them."""
    return tuple(one for one in _cause_counts(run) if one.name != "label_invalid")


def next_steps(run: RunReport) -> tuple[str, ...]:
    """The remedies that would help most queries, each with the causes it mends and, where ranks were worked out, the words
    that would bring most queries among the first ten; then what is no miss and not well either. Never empty, bounded.
    """
    failed = wording.queries(run.counts.error)
    mend = (f"mend the searcher: it failed on {failed}, and what it said is listed",) if run.counts.error else ()
    steps = (*mend, *_remedies(run))
    if not steps and not run.counts.scored:
        steps = ("add labels that expect a page: without them there is nothing to score",)
    return (*steps, *_low_ranks(run), *_false_answers(run)) or (_NOTHING_LEFT,)


def answered_negatives(run: RunReport) -> tuple[str, ...]:
    """The ids of the queries that found something although no page is expected."""
    return tuple(row.id for row in run.rows if row.status == "negative" and row.ranking)


def _remedies(run: RunReport) -> Iterator[str]:
    by_remedy: dict[str, list[CauseCount]] = {}
    for one in _cause_counts(run):
        by_remedy.setdefault(one.remedy, []).append(one)
    # A page found in another section than its label names is no miss of recall, and comes after all that are.
    ordered = sorted(by_remedy.items(), key=lambda entry: -sum(one.queries for one in entry[1] if one.name != "section_only"))
    yield from (_next_step(run, remedy, mended) for remedy, mended in ordered[:NEXT_STEPS_MAX])


def _low_ranks(run: RunReport) -> Iterator[str]:
    """The queries with an expected page that is found so far down that few would see it, the lowest first."""
    low = [(max(found), row.id) for row in run.rows if (found := _ranks_below(row))]
    low.sort(key=lambda one: -one[0])  # in the order of the labels where ranks are equal
    if low:
        named = _some_of([f"{wording.cut(name, ID_SHOWN_MAX_CHARACTERS)} at rank {rank}" for rank, name in low])
        which = f"{wording.queries(len(low))} with an expected page found below the first {FIRST_LOOKED_AT_PAGES}"
        yield f"judge what stands above, or make the note say more of what it is about: {which} ({named})"


def _ranks_below(row: QueryRow) -> list[int]:
    """The ranks of expected pages that count as found and are not among those looked at first."""
    ranks = [row.rank(page) for page in row.expected] if row.status == "scored" else []
    return [rank for rank in ranks if rank is not None and FIRST_LOOKED_AT_PAGES < rank <= METRIC_CUTOFF_PAGES]


def _false_answers(run: RunReport) -> Iterator[str]:
    answered = answered_negatives(run)
    if answered:
        named = _some_of([wording.cut(name, ID_SHOWN_MAX_CHARACTERS) for name in answered])
        found = f"{wording.queries(len(answered))} without an expected page found something ({named})"
        yield f"add what was found to the label, if it does answer: {found}{_told_apart(run)}"


def _told_apart(run: RunReport) -> str:
    metric = run.metrics.get("no_result_auroc")
    if metric is None or metric.status != "ok":
        return ""
    figure = f"{wording.metric_label('no_result_auroc')} {wording.value_text(metric)}"
    how_well = f"{figure}: 1 is wholly, 0.5 not at all"
    return f"; if not, a lowest score for answers helps as far as scores tell such queries apart ({how_well})"


def _some_of(named: Sequence[str]) -> str:
    rest = len(named) - QUERIES_NAMED_MAX
    return ", ".join(named[:QUERIES_NAMED_MAX]) + (f" and {rest:,} more" if rest > 0 else "")


def best_edits(run: RunReport, names: Container[CauseName]) -> tuple[Edit, ...]:
    """The words that would each bring queries missed for these causes among the first ten: most queries first, then the best
    ranks. Only the worst misses have had them worked out.
    """
    ranks: dict[tuple[str, str], list[int]] = {}
    for row in run.rows:
        for one in row.diagnosis:
            for would in wording.writable(one.counterfactuals) if one.cause in names else ():
                if would.rank <= METRIC_CUTOFF_PAGES:
                    ranks.setdefault((one.page, would.term), []).append(would.rank)
    edits = [Edit(page, term, tuple(sorted(found))) for (page, term), found in ranks.items()]
    return tuple(sorted(edits, key=lambda edit: (-len(edit.ranks), edit.ranks, edit.page)))


def came_first(row: QueryRow) -> RankedPage | None:
    """The best page that was not expected."""
    return next((ranked for ranked in row.ranking if ranked.page not in row.expected), None)


def instead(row: QueryRow) -> str:
    """What was found in place of the missed pages, in words; the page is that of `came_first`."""
    if not row.ranking:
        return "nothing was found"
    first = came_first(row)
    return "nothing but expected pages was found" if first is None else f"{first.page} at rank {first.rank}"


def evidence(diagnosis: Diagnosis) -> str | None:
    """Where the query's words stand in the missed page, and what each adds to its score; None where none is known to."""
    found = diagnosis.evidence
    if found is None or not found.shares_a_term:
        return None
    place = f"lines {found.lines[0]}–{found.lines[1]}" + (f", {wording.heading_text(found.heading)}" if found.heading else "")
    terms = [f"{term.term} {term.contribution:.3f}" for term in found.terms if term.tf]
    return f"its best section ({place}) scores {found.score:.3f}: {wording.some(terms)}"


def lacking(row: QueryRow, diagnosis: Diagnosis) -> str | None:
    """What of the query the missed page's best section lacks, as the query says it; None where it lacks nothing."""
    if not diagnosis.missing_terms:
        return None
    missing, unseen = (in_own_words(row.query, terms) for terms in (diagnosis.missing_terms, diagnosis.unseen_terms))
    nowhere = f"; in no note at all: {wording.some(unseen)}" if unseen else ""
    return f"{wording.some(missing)}{nowhere}"


def missing_gold(run: RunReport) -> tuple[Listed, ...]:
    """Each gold page that does not exist, why, and what it may have become."""
    return tuple(Listed(row.id, page, reason) for row in run.rows for page, reason in row.missing.items())


def skipped(run: RunReport) -> tuple[Listed, ...]:
    """The queries that their label says to skip."""
    return tuple(Listed(row.id, None, row.skip_reason or "no reason given") for row in _with_status(run, "skipped"))


def errors(run: RunReport) -> tuple[Listed, ...]:
    """The queries that the searcher failed on."""
    return tuple(Listed(row.id, None, row.error or "no reason given") for row in _with_status(run, "error"))


def _cause_counts(run: RunReport) -> list[CauseCount]:
    pages: dict[CauseName, int] = dict.fromkeys(CAUSE_NAMES, 0)
    asked: dict[CauseName, int] = dict.fromkeys(CAUSE_NAMES, 0)
    for row in run.rows:
        for one in row.diagnosis:
            pages[one.cause] += 1
        for name in {one.cause for one in row.diagnosis}:
            asked[name] += 1
    found = [
        CauseCount(name, asked[name], pages[name], CAUSES[name].meaning, CAUSES[name].remedy)
        for name in CAUSE_NAMES
        if asked[name]
    ]
    return sorted(found, key=lambda one: -one.queries)


def _causes_mended(mended: Sequence[CauseCount]) -> str:
    return ", ".join(f"{wording.queries(one.queries)} ({one.meaning})" for one in mended)


def _next_step(run: RunReport, remedy: str, mended: Sequence[CauseCount]) -> str:
    edits = best_edits(run, frozenset(one.name for one in mended))
    shown = "".join(f"; {edit.sentence}" for edit in edits[:EDITS_SHOWN_MAX])
    return f"{remedy}: {_causes_mended(mended)}{shown}"


def _with_status(run: RunReport, status: RowStatus) -> Iterator[QueryRow]:
    return (row for row in run.rows if row.status == status)
