"""The note says what was asked, but in words that the index cuts differently."""

from __future__ import annotations

from vault_eval.diagnosis.raw_text import raw_text_match
from vault_eval.diagnosis.records import Cause, Diagnosis, Miss
from vault_eval.vault.note_text import without_properties


def find(miss: Miss) -> Diagnosis | None:
    """Holds where no query term stands in any chunk of the page, yet its raw text holds the query or a word of it."""
    if miss.evidence is None or miss.evidence.shares_a_term:
        return None
    text = without_properties(miss.pages.text(miss.page) or "", miss.pages.label_properties)
    detail = raw_text_match(miss.query, text)
    return None if detail is None else miss.diagnosis(CAUSE.name, detail)


CAUSE = Cause(
    name="tokenizer_gap",
    position=6,
    meaning="the note's text holds words of the query, but no term of it",
    remedy="write the word as people ask it, or index with --stem for the language of the notes",
    find=find,
    detail_says_all=True,
    wants_words=True,
)
