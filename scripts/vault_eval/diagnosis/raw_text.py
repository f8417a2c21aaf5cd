"""Whether a note's raw text holds a query, or a word of it, that no term of the note does."""

from __future__ import annotations

import re
import unicodedata

from vault_eval.vault.note_text import body_of, frontmatter_block

# Shorter words begin too many others by chance.
_WORD_MIN_CHARACTERS = 4
_WORD = re.compile(r"\w[\w'’.@:‐‑-]*")
_NO_LETTER = re.compile(r"[^\w]|_")
# Letters that Unicode does not take apart, and that people type without their stroke.
_PLAIN = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})


def raw_text_match(query: str, text: str) -> str | None:
    """What of the query stands in a note's raw text and in which form, as a sentence; None where nothing does.

    Looked for in turn, in the body and then in the properties: the query as it stands; one of its words, of four letters or
    more, that begins or is a word of the text once case, accents, hyphens and apostrophes are left aside.
    """
    found = _match(query, body_of(text))
    if found is not None:
        return (
            f"{found}, which is another term to this index" if "only as" in found else f"{found}, but no term of it was indexed"
        )
    found = _match(query, frontmatter_block(text) or "")
    return None if found is None else f"{found}, in a property, and that is not indexed: say it in the text"


def _match(query: str, text: str) -> str | None:
    if query and _as_it_stands(query.casefold()).search(text.casefold()):
        return "the note has the query as it stands"
    written = {_bare(word): word for word in dict.fromkeys(_WORD.findall(text))}
    for word in _WORD.findall(query):
        bare = _bare(word)
        form = _form(bare, written) if len(bare) >= _WORD_MIN_CHARACTERS else None
        if form is not None:
            return f"the note has {word!r}" + ("" if form == word else f" only as {form!r}")
    return None


def _as_it_stands(query: str) -> re.Pattern[str]:
    """The query, not as a part of longer words."""
    before, after = (r"(?<!\w)" if query[0].isalnum() else ""), (r"(?!\w)" if query[-1].isalnum() else "")
    return re.compile(before + re.escape(query) + after)


def _form(bare: str, written: dict[str, str]) -> str | None:
    """The word of the text that is, or begins with, the bare one: the shortest, then the first by letters."""
    if bare in written:
        return written[bare]
    longer = sorted((one for one in written if one.startswith(bare)), key=lambda one: (len(one), one))
    return written[longer[0]] if longer else None


def _bare(word: str) -> str:
    if word.isascii():
        return word.lower() if word.isalnum() else _NO_LETTER.sub("", word.lower())
    folded = unicodedata.normalize("NFKD", word.casefold())
    return _NO_LETTER.sub("", "".join(sign for sign in folded if not unicodedata.combining(sign))).translate(_PLAIN)
