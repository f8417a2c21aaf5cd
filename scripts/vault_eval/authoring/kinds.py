"""The eight kinds of queries that a good set holds, and how a label of each may be known. Guesses: a person decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from vault_eval.authoring.lint import Checked
from vault_eval.authoring.questions import is_question
from vault_eval.model import Label

# Letters beside digits, `_`, camelCase, or parts joined by a sign: what no dictionary holds.
_IDENTIFIER = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|\w_\w|[a-z][A-Z]|\w[.:/\\@]\w|\b[A-Z]{2,}-\d|#\d")
_QUESTION_MIN_WORDS = 6
# A synonym is asked for where at most so many of the query's terms stand in a page that answers.
_SHARED_MAX = Fraction(1, 2)


def _is_named(*words: str) -> Callable[[Label], bool]:
    """Whether a label's category or tags name a kind."""
    return lambda label: any(word in text.casefold() for text in (label.category or "", *label.tags) for word in words)


def _exact(label: Label, _checked: Checked) -> bool:
    return _IDENTIFIER.search(label.query) is not None


def _natural(label: Label, _checked: Checked) -> bool:
    return is_question(label.query) or len(label.query.split()) >= _QUESTION_MIN_WORDS


def _synonym(label: Label, checked: Checked) -> bool:
    terms = frozenset(checked.analyzer.terms(label.query))
    notes = [note for note in map(checked.note, label.pages) if note is not None]
    shared = [len(terms & checked.analyzer.counts(note.text).keys()) for note in notes]
    return bool(shared and terms) and Fraction(max(shared), len(terms)) <= _SHARED_MAX


def _unicode(label: Label, _checked: Checked) -> bool:
    """A letter beyond ASCII; signs such as `¿` and curly quotes are none."""
    return any(not letter.isascii() and letter.isalpha() for text in (label.query, *label.pages) for letter in text)


def _several(label: Label, _checked: Checked) -> bool:
    return len(label.pages) > 1


def _stale(label: Label, checked: Checked) -> bool:
    """A page edited since it was labelled; otherwise only its owner knows, and names it."""
    return _is_named("stale", "edited")(label) or any(one.query == label.id for one in checked.of("edited_since_labelled"))


def _conflicting(label: Label, _checked: Checked) -> bool:
    """That one note says otherwise than another only its owner knows, and names it: a grade of 0 says that a page does not help,
    and judged pools and imported judgments are full of it.
    """
    return _is_named("conflict", "contradict")(label)


def _absent(label: Label, _checked: Checked) -> bool:
    return not label.gold


KINDS: Mapping[str, Callable[[Label, Checked], bool]] = {
    "exact identifiers": _exact,
    "natural language": _natural,
    "synonyms": _synonym,
    "Unicode names": _unicode,
    "several pages": _several,
    "stale": _stale,
    "conflicting": _conflicting,
    "absent topics": _absent,
}
