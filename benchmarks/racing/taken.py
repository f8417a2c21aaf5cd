"""Everything that was measured, by size of the vault, work and round; and the rounds themselves."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from racing.places import Place
from racing.processes import Figures
from racing.works import Work


class Taken:
    """The figures of every process, and what they come to a round."""

    def __init__(self) -> None:
        self._all: dict[int, dict[str, list[list[Figures]]]] = defaultdict(lambda: defaultdict(list))

    def keep(self, notes: int, work: Work, number: int, figures: Figures) -> None:
        """Keep what one process of round `number` gave; rounds come in order."""
        rounds = self._all[notes][work.name]
        if len(rounds) <= number:
            rounds.append([])
        rounds[number].append(figures)

    def rounds(self, notes: int, work: Work, figure: str) -> list[float]:
        """The median of a figure in each round."""
        return [median(one[figure] for one in taken) for taken in self._all[notes][work.name]]

    def every(self, notes: int, name: str, figure: str) -> list[float]:
        """A figure of every process of one work."""
        return [one[figure] for taken in self._all[notes][name] for one in taken]

    def names(self, notes: int) -> Sequence[str]:
        """The works that were run for this size, in the order they were."""
        return list(self._all[notes])

    def next_smaller(self, notes: int) -> int | None:
        """The size before this one."""
        return max((size for size in self._all if size < notes), default=None)

    def as_json(self) -> Mapping[str, Mapping[str, Sequence[Sequence[Figures]]]]:
        """All of it, for whoever wants other figures than medians."""
        return {str(notes): dict(works) for notes, works in self._all.items()}


def race(plan: Mapping[Place, Sequence[Work]], rounds: int) -> Taken:
    """Every work once a round, or as often as it says, one after another and the sizes in turn within each round.

    What else the machine does falls so on all of them. Raises CommandFailedError.
    """
    taken = Taken()
    for place, works in plan.items():
        place.make()
        for work in works:
            work.ready(place)
    for number in range(rounds):
        for place, works in plan.items():
            for repeat in range(max(1, *(work.times for work in works))):
                for work in works:
                    if repeat < work.times or (work.times == number == repeat == 0):
                        taken.keep(place.notes, work, number, work.once(place, number * max(1, work.times) + repeat))
        print(f"round {number + 1} of {rounds}: load average {os.getloadavg()[0]:.2f}", file=sys.stderr, flush=True)
    return taken
