"""Headings that are questions: the section below answers them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_eval.authoring.questions import is_question, stands_alone
from vault_eval.authoring.suggestions import NOT_ALONE, TOO_SHORT, Candidate, LeftOut, Material
from vault_eval.diagnosis.label_findings import is_telling
from vault_eval.model import Target

NAME = "headings that are questions"
# What stands before the words: `3.`, `二、`, `Chapter 2`, a sign or picture.
_NUMBER = re.compile(
    r"^(?:[^\w([{\"'«“‘]+|\d{1,3}[.):、]+|[一二三四五六七八九十]+、|(?:no|chapter|part)\.? *\d+)*\s*", re.IGNORECASE
)


def candidates(material: Material) -> Iterator[Candidate | LeftOut]:
    """Every heading that asks; a heading without text below it asks and does not answer."""
    for note in material.notes.values():
        lines = note.note.text.split("\n")
        for number, heading in enumerate(note.headings):
            query = _NUMBER.sub("", heading.text)
            if not is_question(query):
                continue
            following = note.headings[number + 1].first if number + 1 < len(note.headings) else len(lines)
            if not is_telling(query):
                yield TOO_SHORT
            elif not stands_alone(query):
                yield NOT_ALONE
            elif any(line.strip() for line in lines[heading.after : following]):
                place = Target(note.page, heading=heading.text)
                yield Candidate(query, place, f"heading in {note.page}:{heading.first + 1}", note.names)
            else:
                yield LeftOut("the question has no text below it")
