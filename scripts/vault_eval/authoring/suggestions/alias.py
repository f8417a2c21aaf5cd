"""Aliases: other names under which the owner expects to find a note."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_eval.authoring.suggestions import TOO_SHORT, Candidate, LeftOut, Material
from vault_eval.diagnosis.label_findings import is_telling
from vault_eval.model import Target

NAME = "aliases"
# A name is told apart by less than a question: two words, or four letters of a script without blanks.
_NAME = re.compile(r"[^\W_]+[\W_]+[^\W_]+|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]{4}")


def candidates(material: Material) -> Iterator[Candidate | LeftOut]:
    """Every alias; a search that indexes aliases finds it at once, so these are the easiest queries there are."""
    for note in material.notes.values():
        for alias in note.note.aliases:
            name = alias.replace("_", " ")  # as aliases are made of file names; nobody types it
            if "," in name or "/" in name:
                yield LeftOut("the alias is a path, or a list of several in one text")
            elif is_telling(name) or _NAME.search(name):
                yield Candidate(name, Target(note.page), f"alias of {note.page}", note.titles)
            else:
                yield TOO_SHORT
