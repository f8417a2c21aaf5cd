"""Text to terms as this format counts them; what a query says must be cut as the notes were.

Text is brought to NFKC. A word is a run of letters, digits and `_` that may hold apostrophes and hyphens, in lower case. It is
parted where Chinese, Japanese or Korean script begins or ends: such a run gives every sequence of one, two and three of its
characters, anything else is one term without `'`, `_` and `-` at its ends, unless it is a single character or a stop word.
"""

from __future__ import annotations

import re
import unicodedata

# Bounds of the format: longer text was not indexed, and a longer query is refused.
TEXT_MAX_CHARACTERS = 8_000
TEXT_MAX_TERMS = 20_000

_RUN_SIZES = (1, 2, 3)
_STOP_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "he", "her", "him", "his", "i", "if"),
        *("in", "is", "it", "its", "of", "on", "or", "that", "the", "their", "them", "they", "this", "to", "was", "were"),
        *("will", "with", "you", "your"),
    )
)
# Hangul, Kana, Bopomofo and Han, as far as the format knows them.
_CJK = (
    "\u1100-\u11ff\u3040-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0002fa1f\U00030000-\U000323af"
)
_WORD = re.compile(r"\w[\w'-]*")
_SCRIPTS = re.compile(f"(?P<cjk>[{_CJK}]+)|[^{_CJK}]+")


class TextTooLongError(ValueError):
    """Text beyond the bounds of the format; `str(error)` is the whole sentence."""


def terms_of(text: str) -> list[str]:
    """The terms of a text in their order, repeats included. Raises TextTooLongError."""
    _refuse_longer(len(text), TEXT_MAX_CHARACTERS, "characters")
    normal = unicodedata.normalize("NFKC", text)
    _refuse_longer(len(normal), TEXT_MAX_CHARACTERS, "characters in NFKC")
    terms: list[str] = []
    for word in _WORD.findall(normal):
        for part in _SCRIPTS.finditer(word.lower()):
            terms += _runs(part[0]) if part["cjk"] else _plain(part[0])
        _refuse_longer(len(terms), TEXT_MAX_TERMS, "terms")
    return terms


def _runs(letters: str) -> list[str]:
    return [letters[start : start + size] for size in _RUN_SIZES for start in range(len(letters) - size + 1)]


def _plain(letters: str) -> list[str]:
    term = letters.strip("'_-")
    return [term] if len(term) > 1 and term not in _STOP_WORDS else []


def _refuse_longer(found: int, allowed: int, unit: str) -> None:
    if found > allowed:
        raise TextTooLongError(f"it has {found:,} {unit}, of which this kind of index takes {allowed:,}")
