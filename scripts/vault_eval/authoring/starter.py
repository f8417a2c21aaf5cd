"""A first label file or label note: one example of each kind, none of which counts before it is replaced."""

from __future__ import annotations

from collections.abc import Mapping

from vault_eval.authoring.kinds import KINDS
from vault_eval.labels.rules import PLAIN_SCHEMA
from vault_eval.labels.write import label_entry, native_json
from vault_eval.model import Label, LabelSet
from vault_eval.strict_json import dumps

_SKIP = "an example: write your own query and pages, then remove skip_reason"
# What somebody might look for, and the words that make it one of its kind.
_EXAMPLES: Mapping[str, str] = {
    "exact identifiers": "an error code, an address or a part number, such as pump_valve_7b",
    "natural language": "a whole question, as you would ask a person?",
    "synonyms": "what you call it, where the note uses other words",
    "Unicode names": "a name in another language or script you write in, such as Łódź",
    "several pages": "a question that two or three notes answer together",
    "stale": "something in a note that you edited since the last index",
    "conflicting": "something on which an old note says otherwise than the new one",
    "absent topics": "something you never wrote about, with an empty list",
}
_BODY = """
# Labels for vault-eval

Each entry of `queries` above is one thing you looked for, in the words you had in mind, with the notes that should come.
An empty `expected_pages` says that none should. Write the need first, before you look at what a search returns. Notes can be
named by path or as `"[[Note]]"`, a section as `Note.md#Heading`. This note is never a search result.

Measure with `--queries note:PATH/OF/THIS/NOTE.md`; `labels check` says what is doubtful or absent.
"""


def starter_file() -> str:
    """The text of a first label file in JSON."""
    return native_json(LabelSet(_examples(), ()))


def starter_note() -> str:
    """The text of a first label note."""
    rows = ["---", f"schema: {PLAIN_SCHEMA}", "queries:"]
    for label in _examples():
        fields = [f"{key}: {dumps(value)}" for key, value in label_entry(label).items()]
        rows += [("  - " if number == 0 else "    ") + field for number, field in enumerate(fields)]
    return "\n".join([*rows, "---", _BODY.lstrip("\n")])


def _examples() -> tuple[Label, ...]:
    return tuple(
        Label(
            id=f"example-{kind.replace(' ', '-').casefold()}",
            query=_EXAMPLES[kind],
            gold=(),
            source="",
            place="",
            category=kind,
            skip_reason=_SKIP,
        )
        for kind in KINDS
    )
