"""One spelling of SHA-256: lower-case hexadecimal over bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

DIGEST_BYTES = 32


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of `data` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_lines(lines: Iterable[str]) -> str:
    """The SHA-256 of the lines in UTF-8, each ended by LF.

    Lone surrogates (from file names that are not UTF-8) are kept by `surrogatepass`.
    """
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
