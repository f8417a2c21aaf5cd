"""Whether a text asks something."""

from __future__ import annotations

import re

_MARK = re.compile(r"[?？؟]\s*$")
_HOW_TO = re.compile(r"how (?:to|do|does|can|i|we)\b", re.IGNORECASE)
# "Why provide this?" is answered where it stands, and asks nothing anywhere else.
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:it|its|this|these|those|they|them)\b|\b(?:that|here|there|above|below)\W*$|[这它]", re.IGNORECASE
)
_WORD = re.compile(r"\w+")
# Words that ask and join: without them, what is left is what a question is about.
ASKING_WORDS = frozenset(
    _WORD.findall(
        "a an the how to do does did can could i we you my your what which who when where why is are was be should will would "
        "in of on for with and or not need needs"
    )
)
_CONTENT_MIN_WORDS = 2


def is_question(text: str) -> bool:
    """Whether a text ends in a question mark of any script, or is a "how to …"."""
    return _MARK.search(text) is not None or _HOW_TO.match(text) is not None


def stands_alone(text: str) -> bool:
    """Whether a text says what it is about: two words or more beside those that ask, and none that points elsewhere.

    A text in a script without blanks is one word, and so is held only against the words that point.
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    about = [word for word in words if word not in ASKING_WORDS]
    return not _POINTS_ELSEWHERE.search(text) and (len(about) >= _CONTENT_MIN_WORDS or not text.isascii())
