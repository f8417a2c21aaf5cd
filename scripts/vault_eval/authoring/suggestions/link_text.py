"""`[[Recovery|how to resume interrupted writes]]`: what somebody called a note when they needed it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from vault_eval.authoring.note_links import linked_target, links
from vault_eval.authoring.questions import stands_alone
from vault_eval.authoring.suggestions import NOT_ALONE, TOO_SHORT, Candidate, LeftOut, Material, ReadNote
from vault_eval.diagnosis.label_findings import is_telling
from vault_eval.index.markdown_blocks import readable
from vault_eval.model import Target

NAME = "link texts"
# "…, which [[Styling|may need updating]]" is a piece of its sentence.
_PIECE = re.compile(
    r"(?:am|are|be|been|can|could|did|does|had|has|have|is|may|might|must|should|was|were|will|would)\b", re.IGNORECASE
)


def candidates(material: Material) -> Iterator[Candidate | LeftOut]:
    """Every link with a text of its own, wiki or Markdown; to a heading where the note has that heading."""
    for note in material.notes.values():
        folder = note.page.rpartition("/")[0]
        for link in links(note.note.text, note.note.body_line):
            target = linked_target(link, folder, material.pages)
            if target is None or target.page not in material.notes:
                yield LeftOut("the link leads to no note, or to several")
            elif target.page == note.page:
                yield LeftOut("the link leads to its own note")
            elif not is_telling(link.text):
                yield TOO_SHORT
            elif _PIECE.match(link.text) or not stands_alone(link.text):
                yield NOT_ALONE
            else:
                aim = material.notes[target.page]
                place = _with_real_heading(target, aim)
                names = (*aim.names, place.heading or "")
                yield Candidate(readable(link.text), place, f"link text in {note.page}:{link.line}", names)


def _with_real_heading(target: Target, note: ReadNote) -> Target:
    wanted = (target.heading or "").casefold()
    heading = next((heading.text for heading in note.headings if heading.text.casefold() == wanted), None)
    return replace(target, heading=heading, block=None)
