"""Whether a regular expression is found in a path, in a time that is bounded: with `re` alone, some take one of years.

`re` tries one way of matching after the other. It is asked where it has few to try; elsewhere all places that a part of the
pattern may lead to are followed at once, a set of places being a whole number with one bit a place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

if sys.version_info >= (3, 11):
    from re import _parser
else:
    import sre_parse as _parser

_Part: TypeAlias = "tuple[Any, Any]"  # what kind of part it is, and what that kind needs: as the parser of `re` gives it

# So many ways through a text, `re` tries in some milliseconds.
_WAYS_MAX = 1_000_000
_LENGTHS = (4096, 1024, 512, 256, 128, 64, 32, 16)
# Each level may double the time; what people write has two.
_NESTED_MAX = 4
_LEVELS_MAX = 50  # groups in groups are walked by calls in calls
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
_ASSERTIONS = ("ASSERT", "ASSERT_NOT")
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_PLACES = {"AT_BEGINNING": "^", "AT_BEGINNING_STRING": r"\A", "AT_BOUNDARY": r"\b", "AT_NON_BOUNDARY": r"\B"}
_PLACES |= {"AT_END": "$", "AT_END_STRING": r"\Z"}


class PathPattern:
    """A pattern as `re` takes it, letter case aside, without references to groups and the constructs that Obsidian has not."""

    def __init__(self, text: str) -> None:
        """Raises re.error for a pattern that is not understood, OverflowError or RecursionError for one beyond all measure."""
        self._pattern = re.compile(text, re.IGNORECASE)
        self._parts = _parser.parse(text, re.IGNORECASE).data
        _refuse_others(self._parts)
        self._quick_length = next((length for length in _LENGTHS if _is_quick(self._parts, length)), 0)

    def is_found_in(self, text: str) -> bool:
        """Whether it matches anywhere in the text."""
        if len(text) <= self._quick_length:
            return self._pattern.search(text) is not None
        return self.is_followed_through(text)

    def is_followed_through(self, text: str) -> bool:
        """The same, by all ways at once."""
        walk = _Walk(text, self._pattern.flags)
        return walk.onward(self._parts, walk.everywhere, back=False) != 0


class _Walk:
    """Sets of places in one text: bit n stands for the place before its character n."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags
        self.everywhere = (2 << len(text)) - 1
        self._found: dict[str, int] = {}
        self._asserted: dict[int, int] = {}

    def onward(self, parts: Sequence[_Part], places: int, *, back: bool) -> int:
        """Where one can be after the parts, from any of the places; `back` reads both text and parts from behind."""
        for kind, value in reversed(parts) if back else parts:
            if not places:
                break
            places = self._after(str(kind), value, places, back=back)
        return places

    def _after(self, kind: str, value: Any, places: int, *, back: bool) -> int:  # noqa: ANN401 - the parser's own
        if kind in _REPEATS:
            least, most, parts = value
            return self._repeated(parts, range(least), range(least, most), places, back=back)
        if kind == "SUBPATTERN":
            return self.onward(value[-1], places, back=back)
        if kind == "BRANCH":
            reached = 0
            for parts in value[1]:
                reached |= self.onward(parts, places, back=back)
            return reached
        if kind in _ASSERTIONS:
            holds = self._where_asserted(*value)
            return places & (holds if kind == "ASSERT" else ~holds)
        if kind == "AT":
            return places & self._where(_PLACES[str(value)])
        where = self._where(_one_character(kind, value))
        return places >> 1 & where if back else (places & where) << 1

    def _repeated(self, parts: Sequence[_Part], at_least: range, further: range, places: int, *, back: bool) -> int:
        """Places are followed on once: those that were there after fewer times have as many left."""
        for _ in at_least:
            before, places = places, self.onward(parts, places, back=back)
            if places in (0, before):
                break
        reached = new = places
        for _ in further:
            new = self.onward(parts, new, back=back) & ~reached
            if not new:
                break
            reached |= new
        return reached

    def _where_asserted(self, direction: int, parts: Sequence[_Part]) -> int:
        """The places before which, or with a negative direction after which, the parts are found."""
        if id(parts) not in self._asserted:
            self._asserted[id(parts)] = self.onward(parts, self.everywhere, back=direction > 0)
        return self._asserted[id(parts)]

    def _where(self, pattern: str) -> int:
        """The places before which a pattern of at most one character is found."""
        if pattern not in self._found:
            self._found[pattern] = sum(1 << found.start() for found in re.finditer(pattern, self._text, self._flags))
        return self._found[pattern]


def _one_character(kind: str, value: Any) -> str:  # noqa: ANN401 - the parser's own
    """The pattern of a part that stands for one character."""
    if kind == "ANY":
        return "."
    if kind == "IN":
        return f"[{''.join(_one_character(str(each), what) for each, what in value)}]"
    if kind == "NEGATE":
        return "^"
    if kind == "RANGE":
        return "-".join(re.escape(chr(code)) for code in value)
    if kind == "CATEGORY":
        return _CATEGORIES[str(value)]
    sign = re.escape(chr(value))
    return sign if kind == "LITERAL" else f"[^{sign}]"


def _refuse_others(parts: Sequence[_Part], repeats: int = 0, levels: int = 0) -> None:
    """Raises re.error for a part that `_Walk` does not follow, and for what is nested too deep."""
    if repeats > _NESTED_MAX or levels > _LEVELS_MAX:
        raise re.error(f"more than {_NESTED_MAX} repetitions, or {_LEVELS_MAX} groups, are nested in each other")
    for kind, value in parts:
        name = str(kind)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"):
            continue
        if name not in ("SUBPATTERN", "BRANCH", *_REPEATS, *_ASSERTIONS) or (name == "SUBPATTERN" and any(value[1:3])):
            raise re.error("references to groups, flags inside and atomic groups are not supported")
        for each in value[1] if name == "BRANCH" else [value[-1]]:
            _refuse_others(each, repeats + (name in _REPEATS), levels + 1)


def _is_quick(parts: Sequence[_Part], length: int) -> bool:
    """Whether `re` has few ways to try in any text of that length."""
    is_anchored = bool(parts) and str(parts[0][1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING")
    return _ways(parts, length) * (1 if is_anchored else length) <= _WAYS_MAX


def _ways(parts: Sequence[_Part], length: int) -> int:
    """In how many ways the parts may match from one place of a text of that length; no more than is too many."""
    product = 1
    for kind, value in parts:
        name = str(kind)
        if name == "BRANCH":
            product *= sum(_ways(each, length) for each in value[1])
        elif name in _REPEATS:
            least, most, inner = value[0], min(value[1], length), _ways(value[2], length)
            often = max(1, most - least + 1)
            product *= often if inner == 1 else often * inner ** min(most, 20)
        elif name == "SUBPATTERN" or name in _ASSERTIONS:
            product *= _ways(value[-1], length)
        product = min(product, _WAYS_MAX + 1)
    return product
