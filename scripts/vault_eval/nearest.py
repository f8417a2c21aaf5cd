"""The names that somebody may have meant, where the one that was written is none."""

from __future__ import annotations

from collections.abc import Iterable

# Twice the letters that two names share in the same order, of the letters of both: what difflib takes for a slip.
_ALIKE = 0.6


def nearest(name: str, known: Iterable[str], *, most: int = 1, alike: float = _ALIKE) -> list[str]:
    """The names among `known` that are like `name` in any letter case, the nearest first, `most` of them.

    `alike` is how near they must be, from 0 to 1: the ratio of difflib.
    """
    from difflib import get_close_matches  # here: what is written without a mistake needs none of it

    by_folded: dict[str, str] = {}
    for one in known:
        by_folded.setdefault(one.casefold(), one)
    return [by_folded[near] for near in get_close_matches(name.casefold(), by_folded, most, alike)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean NAME?)`, to follow a name that is none of `known`; empty where none of them is near."""
    return "".join(f" (did you mean {near}?)" for near in nearest(name, known))
