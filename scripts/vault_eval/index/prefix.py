"""What a chunk says about where it stands: the words of title, aliases, tags and heading path that are indexed with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from vault_eval.limits import CHUNK_TARGET_CHARACTERS
from vault_eval.vault.paths import folded, page_title

if TYPE_CHECKING:
    from vault_eval.vault.note import Note

PrefixKind: TypeAlias = Literal["synthetic", "none"]


def page_prefix(page: str, note: Note, kind: PrefixKind) -> str:
    """The lines that all chunks of a page share; file name and frontmatter title once where they are the same.

    Bounded, so that a note with a thousand aliases stays a note.
    """
    if kind == "none":
        return ""
    name = page_title(page)
    title = [note.title] if note.title is not None and folded(note.title) != folded(name) else []
    lines = [name, *title, *note.aliases, *note.tags]
    return "\n".join(dict.fromkeys(lines))[:CHUNK_TARGET_CHARACTERS]


def heading_prefix(heading: Sequence[str], kind: PrefixKind) -> str:
    """The heading path of one chunk, outermost first."""
    return "" if kind == "none" else "\n".join(heading)[:CHUNK_TARGET_CHARACTERS]
