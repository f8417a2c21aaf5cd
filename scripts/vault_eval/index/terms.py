"""Text to terms, the same for notes and for queries.

Text is brought to NFKC, invisible characters are dropped, hyphens and apostrophes unified; an apostrophe ends a word. A word
is a run of letters, digits, marks and `_`; words joined by one of `. - @ :` are one identifier, which counts whole and in its
parts, and so do camelCase and letters of two scripts side by side. Data URIs are no text. Scripts written without blanks
(Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar) are cut into runs of one to three characters. Letters are case-folded, dotted
and dotless i are one letter. No word is left out, however common or short.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby, pairwise

from vault_eval import launcher
from vault_eval.errors import MissingPackageError, UsageError
from vault_eval.nearest import did_you_mean

# Combining marks (Mn, Mc) of Unicode 15.1, with the letters and gaps between them: Python's \w does not match marks, so that
# a Hindi word would fall into letters. A test holds this list against `unicodedata`.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963"
    "\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ece\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84"
    "\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3\u17dd\u180b-\u180d\u180f-\u193b"
    "\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff"
    "\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099-\u309a\ua66f\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c"
    "\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef"
    "\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U000101fd-\U0001037a\U00010a01-\U00010a3f"
    "\U00010ae5-\U00010ae6\U00010d24-\U00010eac\U00010efd-\U00010f50\U00010f82-\U00010f85\U00011000-\U00011046"
    "\U00011070-\U000110ba\U000110c2\U00011100-\U00011134\U00011145-\U00011173\U00011180-\U000111c0\U000111c9-\U000111cc"
    "\U000111ce-\U000111cf\U0001122c-\U00011237\U0001123e-\U00011241\U000112df-\U00011446\U0001145e-\U000114c3"
    "\U000115af-\U000115c0\U000115dc-\U00011640\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a"
    "\U00011930-\U00011943\U000119d1-\U000119e0\U000119e4-\U00011a3e\U00011a47-\U00011a99\U00011c2f-\U00011c3f"
    "\U00011c92-\U00011ef6\U00011f00-\U00011f42\U00013440-\U00013455\U00016af0-\U00016af4\U00016b30-\U00016b36"
    "\U00016f4f-\U00016f92\U00016fe4-\U00016ff1\U0001bc9d-\U0001bc9e\U0001cf00-\U0001cf46\U0001d165-\U0001d169"
    "\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244"
    "\U0001da00-\U0001da36\U0001da3b-\U0001da6c\U0001da75\U0001da84\U0001da9b-\U0001e136\U0001e2ae-\U0001e2ef"
    "\U0001e4ec-\U0001e94a\U000e0100-\U000e01ef"
)
# Scripts whose words are not set apart by blanks.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"
    "\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED_FIRST, _UNSPACED_LAST = _UNSPACED[::3], _UNSPACED[2::3]  # of each range, "a-b"
_GRAM_MAX_CHARACTERS = 3
# A longer identifier is a blob; cut on both sides, it still meets itself, and its humps are noise.
_TERM_MAX_CHARACTERS = 128
# Distinct words kept with their terms: most vaults of 10,000 notes have fewer; beyond it, the memory is worth more.
_CACHED_WORDS_MAX = 300_000
_CACHED_WORD_MAX_CHARACTERS = 24

# Soft hyphen, joiners, direction marks, byte-order mark, and variation selectors, which choose a glyph and not a letter.
_INVISIBLE = dict.fromkeys(
    [
        *(0x00AD, 0x034F, 0x061C, 0xFEFF),
        *range(0x180B, 0x1810),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    ]
)
# Apostrophes that Unicode takes for letters would glue what others part.
_UNIFIED = {
    **dict.fromkeys([0x2010, 0x2011, 0x2012, 0x2013, 0x2212, 0xFE58, 0xFE63, 0xFF0D], "-"),
    **dict.fromkeys([0x02BB, 0x02BC], "'"),
}
_ASCII_WORD = re.compile(r"[A-Za-z0-9_]+(?:[.\-@:][A-Za-z0-9_]+)*")
_CAMEL_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Latin letters beside letters of another script that is written with blanks; where it is not, runs are cut before.
_LATIN = "A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_OTHER = "\u0370-\u1dff\u1f00-\U0010ffff"
_JOINTS = re.compile(r"[_.\-@:]+")


class Analyzer:
    """Turns text into terms; holds nothing but a bounded memory of words already taken apart.

    `stem` names a Snowball language, which needs the package `snowballstemmer`; None leaves words as they are.
    """

    def __init__(self, stem: str | None = None) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._stem: Callable[[str], str] | None = _stemmer(stem) if stem else None
        self._word: re.Pattern[str] | None = None
        self._run: re.Pattern[str] | None = None

    def terms(self, text: str) -> list[str]:
        """All terms of `text` in reading order, repeats included."""
        return [term for word in self.words(text) for term in self._known_terms(word)]

    def counts(self, text: str) -> dict[str, int]:
        """How often each term stands in `text`."""
        return Counter(self.terms(text))

    def words(self, text: str) -> list[str]:
        """All words and identifiers of `text` in reading order, each for `terms_of`."""
        text = without_data_uris(text)
        if text.isascii():
            return _ASCII_WORD.findall(text)
        text = unicodedata.normalize("NFKC", text.translate(_UNIFIED)).translate(_INVISIBLE).translate(_UNIFIED)
        if self._word is None:
            # Compiled on first use only: an English query process does not pay for it.
            word = rf"\w[\w{MARKS}]*"
            self._word = re.compile(rf"{word}(?:[.\-@:]{word})*")
            # The list of marks holds letters between them; (?!\w) keeps those of other scripts out of the run. The scripts
            # stand there once: taking such a set apart is most of what compiling costs.
            self._run = re.compile(rf"((?:[{_UNSPACED}](?:(?!\w)[{MARKS}])*)+)")
        return self._word.findall(text)

    def _known_terms(self, word: str) -> tuple[str, ...]:
        found = self._known.get(word)
        if found is None:
            found = tuple(self.terms_of(word))
            # A long word is a sentence without blanks: it will hardly come again, and its grams are many.
            if len(word) <= _CACHED_WORD_MAX_CHARACTERS:
                if len(self._known) >= _CACHED_WORDS_MAX:
                    self._known.clear()
                self._known[word] = found
        return found

    def terms_of(self, word: str) -> list[str]:
        """The terms of one word of `words`, repeats included."""
        if word.isascii() or self._run is None:
            return self._identifier(word)
        terms: list[str] = []
        for run in filter(None, self._run.split(word)):
            terms += _grams(_folded(run)) if _is_unspaced(run[0]) else self._identifier(run)
        return terms

    def _identifier(self, word: str) -> list[str]:
        """The whole first, then its parts at joints, then those at humps and scripts; a plain word is one term."""
        parts = [part for part in _JOINTS.split(word) if part]
        terms = [self._term(word)] if len(parts) > 1 else []
        terms += [self._term(part) for part in parts]
        for part in parts:
            if not (part.isascii() and part.islower()) and len(part) <= _TERM_MAX_CHARACTERS:
                humps = _humps(part)
                if len(humps) > 1:
                    terms += [self._term(hump) for hump in humps]
        return terms

    def _term(self, word: str) -> str:
        folded = _folded(word[:_TERM_MAX_CHARACTERS])
        return self._stem(folded) if self._stem is not None else folded


def without_data_uris(text: str) -> str:
    """`text` with blanks in place of data URIs, every other character where it was."""
    if "data:" not in text.lower():
        return text
    return _data_uri().sub(lambda found: " " * len(found[0]), text)


# These are compiled where they are first needed: most cold queries need none of them.
@cache
def _data_uri() -> re.Pattern[str]:
    """RFC 2397. Without `;base64` only the types that are written so: `data:a/b,c` may be prose."""
    return re.compile(
        r"(?<!\w)data:(?:(?:[\w.+-]+/[\w.+-]+)?(?:;[\w.=+-]+)*;base64"
        r"|(?:application|audio|font|image|model|text|video)/[\w.+-]+(?:;[\w.=+-]+)*),[^\s()<>\[\]\"'`|]*",
        re.IGNORECASE,
    )


@cache
def _script_border() -> re.Pattern[str]:
    return re.compile(rf"(?<=[{_LATIN}])(?=[^\W\d_{_LATIN}])|(?<=[{_OTHER}])(?<![\d_])(?=[{_LATIN}])")


def _folded(word: str) -> str:
    """Case-folded, in NFC; İ, I, i and ı are one letter, whatever the language of the note."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", folded.replace("i\u0307", "i").replace("\u0131", "i"))


def _humps(word: str) -> list[str]:
    if word.isascii():
        return _CAMEL_BORDER.split(word)
    runs = _script_border().split(word)
    return runs if word.islower() else [hump for run in runs for hump in _cased_humps(run)]


def _cased_humps(word: str) -> list[str]:
    """Humps by the case of letters, not by their range."""
    shape = "".join("a" if letter.islower() else "A" if letter.isupper() else "0" if letter.isdigit() else "." for letter in word)
    borders = [0, *(found.start() for found in _CAMEL_BORDER.finditer(shape)), len(word)]
    return [word[start:end] for start, end in pairwise(borders)]


def _grams(run: str) -> list[str]:
    last = len(run)
    return [run[start : start + size] for size in range(1, _GRAM_MAX_CHARACTERS + 1) for start in range(last - size + 1)]


def word_places(text: str) -> Iterator[tuple[int, int]]:
    """First and past-the-last place of each word of `text` as it stands, in reading order.

    Identifiers are in parts; scripts written without blanks are cut off and give their runs of one to three characters.
    """
    for word in _word_as_it_stands().finditer(text):
        if not _is_unspaced(word[0]):
            yield word.span()
            continue
        for is_unspaced, letters in groupby(range(*word.span()), lambda place: _is_unspaced(text[place])):
            places = list(letters)
            first, end = places[0], places[-1] + 1
            sizes = range(1, _GRAM_MAX_CHARACTERS + 1) if is_unspaced else (end - first,)
            yield from ((start, start + size) for size in sizes for start in range(first, end - size + 1))


def is_run(term: str) -> bool:
    """Whether a term was cut from a script without blanks, and so is no word of its own."""
    return bool(term) and _is_unspaced(term[0])


def _is_unspaced(letter: str) -> bool:
    place = bisect_right(_UNSPACED_FIRST, letter) - 1
    return place >= 0 and letter <= _UNSPACED_LAST[place]


@cache
def _word_as_it_stands() -> re.Pattern[str]:
    inside = "".join(map(chr, _INVISIBLE))
    return re.compile(rf"\w[\w{MARKS}{inside}]*")


def _stemmer(language: str) -> Callable[[str], str]:
    try:
        import snowballstemmer
    except ImportError:
        raise MissingPackageError(
            f"stemming needs the package snowballstemmer, which this Python ({sys.executable}) lacks. "
            f"Leave words as they are with index --stem none, or run: {launcher.install_command(['stem'])}"
        ) from None
    if language not in snowballstemmer.algorithms():
        known = ("none", *sorted(snowballstemmer.algorithms()))
        raise UsageError(f"--stem {language!r}{did_you_mean(language, known)}: allowed are {', '.join(known)}")
    stem: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem
