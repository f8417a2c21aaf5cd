"""Whether a page is still what a chunk was cut from."""

from __future__ import annotations

from enum import Enum

from vault_eval.errors import UnreadableFileError
from vault_eval.vault.note_text import body_digest, decode_utf8
from vault_eval.vault.page_digests import PageDigests
from vault_eval.vault.refusal import FileRefusedError


class PageState(Enum):
    """FRESH pages alone are results. LABEL_ONLY: nothing but the label property was added, which this format cannot tell."""

    FRESH = "fresh"
    LABEL_ONLY = "label-only"
    STALE = "stale"
    UNDECODABLE = "undecodable"


def page_state(pages: PageDigests, page: str, sha256: str | None) -> PageState:
    """How a page's bytes now stand to the digest they had; the format's own digest of bytes that are no UTF-8 proves nothing."""
    if sha256 is not None and pages.digest(page) == sha256:
        return PageState.FRESH
    try:
        data = pages.read(page)
        decode_utf8(data)
    except FileRefusedError:
        return PageState.STALE
    except UnreadableFileError:
        return PageState.UNDECODABLE
    return PageState.LABEL_ONLY if body_digest(data) == sha256 else PageState.STALE
