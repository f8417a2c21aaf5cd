"""The text of a file that is named in the message where it is none."""

from __future__ import annotations

from collections.abc import Callable

from vault_eval.errors import UnreadableFileError
from vault_eval.vault.note_text import decode


def text_of(name: str, data: bytes, decoded: Callable[[bytes], str] = decode) -> str:
    """The text of a file's bytes, as a note or as `decoded` reads them. Raises UnreadableFileError that names the file."""
    try:
        return decoded(data)
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{name!r}: {error}") from None
