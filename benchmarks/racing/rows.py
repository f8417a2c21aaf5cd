"""The table: what is held against what, and what it may come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from racing.peers import PRODUCT, PRODUCT_BUILD, QMD_ADD, QMD_SEARCH
from racing.places import QUERIES, Place
from racing.processes import MIB
from racing.taken import Taken
from racing.works import (
    BARE,
    BUILD,
    BY_NUMPY,
    CHANGED,
    COLD,
    ENGINES,
    EVALUATED,
    EXACT,
    EXACT_RANK,
    FEW,
    HTML,
    IR_MEASURES,
    METRICS,
    NUMPY,
    OURS,
    PYTREC_EVAL,
    RANX,
    SAME_AS_NUMPY,
    UNCHANGED,
    Work,
)

EVALUATION_FIXED_MIB = 40
TENFOLD = 10
Value = Callable[[Taken, Place], Sequence[float]]


class Bound(NamedTuple):
    """What a value may be at most, or must be at least."""

    limit: float
    is_least: bool = False

    def is_met(self, value: float) -> bool:
        """Whether the value lies on the right side."""
        return value >= self.limit if self.is_least else value <= self.limit

    def __str__(self) -> str:
        return f"at {'least' if self.is_least else 'most'} {self.limit:,.5g}"


def least(limit: float) -> Bound:
    """A bound from below."""
    return Bound(limit, is_least=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `value` gives a number a round, of which the median counts, or what `of_rounds` makes of them.

    `goals` are by the number of notes, `elsewhere` for any other number; a row that has goals is measured only where it has one.
    """

    name: str
    meaning: str
    works: tuple[Work, ...]
    value: Value
    goals: Mapping[int, Bound] = field(default_factory=dict)
    elsewhere: Bound | None = None
    of_rounds: Callable[[Sequence[float]], float] = median
    smallest_only: bool = False  # it has nothing to do with the vault

    def goal(self, notes: int) -> Bound | None:
        """The goal for a vault of this size."""
        return self.goals.get(notes, self.elsewhere)

    def is_measured_at(self, notes: int, sizes: Sequence[int]) -> bool:
        """Whether it says anything about a vault of this size."""
        if self.smallest_only and notes != sizes[0]:
            return False
        return self.goal(notes) is not None or not self.goals


def ratio(one: Work, other: Work, times: float = 1.0, figure: str = "seconds") -> Value:
    """How many times as much of a figure `one` has as `other`, pair by pair, multiplied by `times`."""

    def value(taken: Taken, place: Place) -> Sequence[float]:
        pairs = zip(taken.rounds(place.notes, one, figure), taken.rounds(place.notes, other, figure), strict=True)
        return [times * above / below for above, below in pairs]

    return value


def figure(work: Work, name: str) -> Value:
    """A figure as it is."""
    return lambda taken, place: taken.rounds(place.notes, work, name)


def tenfold(work: Work, name: str = "seconds") -> Value:
    """By what a figure is multiplied where the notes are ten times as many, against the next smaller vault: 10 ** exponent."""

    def value(taken: Taken, place: Place) -> Sequence[float]:
        smaller = taken.next_smaller(place.notes)
        if smaller is None:
            return []
        steps = math.log(place.notes / smaller)
        pairs = zip(taken.rounds(place.notes, work, name), taken.rounds(smaller, work, name), strict=True)
        return [TENFOLD ** (math.log(more / less) / steps) for more, less in pairs]

    return value


def _by_queries(name: str) -> Value:
    """The exponent of a figure in the number of queries, by least squares."""

    def value(taken: Taken, place: Place) -> Sequence[float]:
        works = {**FEW, QUERIES: EVALUATED}
        rounds = zip(*(taken.rounds(place.notes, work, name) for work in works.values()), strict=True)
        return [exponent(list(works), found) for found in rounds]

    return value


def exponent(sizes: Sequence[float], found: Sequence[float]) -> float:
    """The slope of log(found) over log(sizes), by least squares."""
    xs, ys = (list(map(math.log, values)) for values in (sizes, found))
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / sum((x - middle_x) ** 2 for x in xs)


def _evaluation_memory(taken: Taken, place: Place) -> Sequence[float]:
    allowed = 2 * place.index_bytes / MIB + EVALUATION_FIXED_MIB
    return [peak / allowed for peak in taken.rounds(place.notes, EVALUATED, "mib")]


ROWS = (
    Row(
        "numpy",
        "evaluate 1,000 queries / the same work, to the same report, searching by numpy",
        (EVALUATED, BY_NUMPY),
        ratio(EVALUATED, BY_NUMPY),
        {1_000: Bound(1.5), 10_000: Bound(2.0), 100_000: Bound(2.0)},
    ),
    Row(
        "same-report",
        "parts of the report that are not those of a search by numpy",
        (EVALUATED, BY_NUMPY),
        figure(BY_NUMPY, "different"),
        elsewhere=Bound(0),
        of_rounds=max,
    ),
    Row(
        "numpy-least",
        "evaluate 1,000 queries / a numpy program that ranks, hashes pages and writes means, no more",
        (EVALUATED, NUMPY),
        ratio(EVALUATED, NUMPY),
    ),
    Row(
        "same-as-numpy",
        "queries whose ranking or scores differ from the numpy program's",
        (EVALUATED, NUMPY, SAME_AS_NUMPY),
        figure(SAME_AS_NUMPY, "different"),
        elsewhere=Bound(0),
    ),
    Row(
        "cold",
        "one cold query / python -I -c pass",
        (COLD, BARE),
        ratio(COLD, BARE),
        {1_000: Bound(4), 10_000: Bound(4), 100_000: Bound(7)},
    ),
    Row(
        "product-cold",
        "retrieve.py of claude-obsidian / one cold query",
        (PRODUCT, COLD),
        ratio(PRODUCT, COLD),
        {1_000: least(30), 10_000: least(200)},
    ),
    Row(
        "product-evaluate",
        "1,000 retrieve.py of claude-obsidian / evaluate 1,000 queries",
        (PRODUCT, EVALUATED),
        ratio(PRODUCT, EVALUATED, times=QUERIES),
        {1_000: least(3_000), 10_000: least(10_000)},
    ),
    Row(
        "product-index",
        "contextual-prefix.py and bm25-index.py of claude-obsidian / index",
        (PRODUCT_BUILD, BUILD),
        ratio(PRODUCT_BUILD, BUILD),
        {1_000: least(50)},
    ),
    Row(
        "qmd-evaluate",
        "1,000 qmd search / evaluate 1,000 queries",
        (QMD_SEARCH, EVALUATED),
        ratio(QMD_SEARCH, EVALUATED, times=QUERIES),
        {1_000: least(150), 10_000: least(150)},
    ),
    Row("qmd-index", "index / qmd collection add", (BUILD, QMD_ADD), ratio(BUILD, QMD_ADD), {10_000: Bound(1.0)}),
    Row("unchanged", "index, nothing changed / index anew", (UNCHANGED, BUILD), ratio(UNCHANGED, BUILD), {10_000: Bound(0.05)}),
    Row("changed", "index, 10 notes changed / index anew", (CHANGED, BUILD), ratio(CHANGED, BUILD), {10_000: Bound(0.6)}),
    Row("growth-index", "ten times the notes: index, times as long", (BUILD,), tenfold(BUILD), elsewhere=Bound(15)),
    Row("growth-evaluate", "ten times the notes: evaluate, times as long", (EVALUATED,), tenfold(EVALUATED), elsewhere=Bound(8)),
    Row("growth-index-memory", "ten times the notes: index, times the memory", (BUILD,), tenfold(BUILD, "mib")),
    Row("growth-evaluate-memory", "ten times the notes: evaluate, times the memory", (EVALUATED,), tenfold(EVALUATED, "mib")),
    Row("growth-queries", "evaluate, seconds: exponent in the queries", (*FEW.values(), EVALUATED), _by_queries("seconds")),
    Row("growth-queries-memory", "evaluate, memory: exponent in the queries", (*FEW.values(), EVALUATED), _by_queries("mib")),
    Row(
        "memory-evaluate",
        f"evaluate, peak memory / (twice the index file + {EVALUATION_FIXED_MIB} MiB)",
        (EVALUATED,),
        _evaluation_memory,
        elsewhere=Bound(1.0),
        of_rounds=max,
    ),
    Row("memory-index", "index, peak memory in MiB", (BUILD,), figure(BUILD, "mib"), {100_000: Bound(1_536)}, of_rounds=max),
    Row(
        "exactness",
        "answers that are not the plain sum's, to the last bit",
        (EXACT,),
        figure(EXACT, "different"),
        elsewhere=Bound(0),
    ),
    Row("warm", "warm query, p95 in ms", (EVALUATED,), figure(EVALUATED, "warm_p95_ms"), {10_000: Bound(5)}),
    Row("exact-rank", "exact rank of a gold page, ms a query", (EXACT_RANK,), figure(EXACT_RANK, "rank_ms"), {10_000: Bound(25)}),
    Row(
        "metrics",
        "metrics of 1,000 queries at depth 1,000 / pytrec_eval, import included",
        (METRICS, PYTREC_EVAL),
        ratio(METRICS, PYTREC_EVAL, figure="within"),
        elsewhere=Bound(1.0),
        smallest_only=True,
    ),
    *(
        Row(
            f"metrics-{other.name}",
            f"the same metrics by {other.name} / ours, import included",
            (other, METRICS),
            ratio(other, METRICS, figure="within"),
            smallest_only=True,
        )
        for other in (IR_MEASURES, RANX)
    ),
    Row("html-seconds", "HTML report of 1,000 queries, seconds", (HTML,), figure(HTML, "seconds"), elsewhere=Bound(2)),
    Row("html-bytes", "HTML report of 1,000 queries, bytes", (HTML,), figure(HTML, "printed"), elsewhere=Bound(2_000_000)),
    *(
        Row(
            f"engine-{engine.name.split()[-1]}",
            f"{engine.name} / {OURS.name}, 1,000 queries",
            (engine, OURS),
            ratio(engine, OURS),
        )
        for engine in ENGINES
    ),
)


def chosen(names: Sequence[str]) -> Iterator[Row]:
    """The rows of these names, all where none is named."""
    return (row for row in ROWS if not names or row.name in names)
