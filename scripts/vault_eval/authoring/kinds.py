"""The eight kinds of queries that a good set holds, and how a label of each may be known. Guesses: a person decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from vault_eval.authoring.judged_labels import ORIGIN
from vault_eval.authoring.lint import Checked
from vault_eval.authoring.questions import is_question
from vault_eval.model import Label
from vault_eval.vault.targets import parse_target

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
    """One page preferred to another by its grade: by hand, since a judged pool grades whatever it holds."""
    if label.origin == ORIGIN:
        return _is_named("conflict", "contradict")(label)
    preferred = any(grade == 0 and parse_target(target).page not in label.pages for target, grade in label.grades.items())
    return preferred or len(set(label.grades.values())) > 1 or _is_named("conflict", "contradict")(label)


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
