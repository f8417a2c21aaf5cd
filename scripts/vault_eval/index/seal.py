"""Which index file is valid for a vault: `seal.json` names it by its SHA-256, and is renamed into place last.

A build that is killed leaves the old seal and with it the old index; a file that no seal names is never read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence

from vault_eval import strict_json
from vault_eval.atomic_file import make_private_folder, write_atomically
from vault_eval.digests import sha256_hex
from vault_eval.errors import IndexUnusableError
from vault_eval.index.layout import FORMAT
from vault_eval.index.store import IndexFile, cannot_be_opened
from vault_eval.vault.opening import FileState, file_state
from vault_eval.vault.paths import quoted

SEAL_FORMAT = "vault-eval.seal.v1"
SEAL_NAME = "seal.json"

_SEAL_MAX_BYTES = 65_536
_READ_BYTES = 1 << 20
_LEFT_BEHIND = re.compile(r"index-[0-9a-f]{16}\.bin|\.[0-9a-f]{16}\.tmp")
# No build takes a day: what is older was left by one that was killed.
_ABANDONED_NS = 24 * 3600 * 1_000_000_000


def read_seal(folder: str, vault: str) -> tuple[str, str]:
    """Path and SHA-256 of the index file in `folder`. Raises IndexUnusableError: missing, damaged, other version or vault."""
    seal = _seal(folder)
    found = seal.get("index_format")
    if seal.get("format") != SEAL_FORMAT or found != FORMAT:
        shown = "nothing" if found is None else quoted(str(found))
        raise IndexUnusableError(f"the index in {folder!r} is of another version: {shown} where {FORMAT!r} is read")
    name, sha256 = seal.get("file"), seal.get("sha256")
    content = {key: value for key, value in seal.items() if key != "seal"}
    if not (isinstance(name, str) and isinstance(sha256, str) and seal.get("seal") == _seal_digest(content)):
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: {SEAL_NAME} does not have its own digest")
    if seal.get("vault") != vault:
        raise IndexUnusableError(f"the index in {folder!r} belongs to another vault, or the vault was moved")
    return os.path.join(folder, os.path.basename(name)), sha256


def sealed_state(folder: str, vault: str) -> tuple[str, FileState] | None:
    """The index file that is valid now, and what tells one state of it from the next without reading it; None where none is."""
    try:
        path, _ = read_seal(folder, vault)
        return path, file_state(os.stat(path))
    except (IndexUnusableError, OSError):
        return None


def open_index(
    folder: str, vault: str, *, verify: bool, known: Callable[[str], str | None] = lambda _path: None
) -> tuple[IndexFile, str]:
    """The index of a vault and its SHA-256; with `verify` all its bytes are read and held against the seal.

    `known` gives the digest of a file that was read already. Raises IndexUnusableError; creates nothing.
    """
    path, sha256 = read_seal(folder, vault)
    if not os.path.exists(path):
        # A build that just finished may have replaced it: the seal names the new one.
        path, sha256 = read_seal(folder, vault)
    if verify and (known(path) or _digest_of(path)) != sha256:
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: its bytes do not have the digest in {SEAL_NAME}")
    return IndexFile(path), sha256


def install(folder: str, vault: str, parts: Sequence[bytes | memoryview[int]], started_ns: int) -> tuple[str, str]:
    """Write the file under the name of its digest, then the seal that makes it valid, then remove what is of no use."""
    make_private_folder(folder)
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    sha256 = digest.hexdigest()
    name = f"index-{sha256[:16]}.bin"
    path = os.path.join(folder, name)
    write_atomically(path, parts)
    before = _sealed_name(folder, vault)
    write_atomically(os.path.join(folder, SEAL_NAME), [seal_text(vault, name, sha256).encode()])
    _remove_others(folder, before, _sealed_name(folder, vault), started_ns)
    return sha256, path


def _sealed_name(folder: str, vault: str) -> str | None:
    try:
        return os.path.basename(read_seal(folder, vault)[0])
    except IndexUnusableError:
        return None


def _remove_others(folder: str, before: str | None, sealed: str | None, started_ns: int) -> None:
    """Remove the index that was replaced, and what killed builds left; never a file that another build may be writing now."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            is_ours = _LEFT_BEHIND.fullmatch(entry.name) is not None and entry.name != sealed
            if is_ours and (entry.name == before or entry.stat().st_mtime_ns < started_ns - _ABANDONED_NS):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def file_sha256(path: str) -> str:
    """The SHA-256 of a file's bytes, read in pieces: hashing the map would make the whole file resident."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def seal_text(vault: str, index_name: str, index_sha256: str) -> str:
    """The seal that makes an index file valid for one vault; `vault` is the vault's id."""
    content = {"format": SEAL_FORMAT, "index_format": FORMAT, "vault": vault, "file": index_name, "sha256": index_sha256}
    return strict_json.dumps({**content, "seal": _seal_digest(content)}, spread=1) + "\n"


def _seal(folder: str) -> Mapping[str, object]:
    try:
        with open(os.path.join(folder, SEAL_NAME), "rb") as file:
            seal = strict_json.loads(file.read(_SEAL_MAX_BYTES).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise IndexUnusableError(f"there is no index in {folder!r}") from None
    except (OSError, ValueError) as error:
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: {SEAL_NAME} cannot be read ({error})") from None
    if not isinstance(seal, dict):
        raise IndexUnusableError(f"the index in {folder!r} is corrupt: {SEAL_NAME} is no seal")
    return seal


def _seal_digest(content: Mapping[str, object]) -> str:
    return sha256_hex(strict_json.encode(strict_json.dumps(content)))


def _digest_of(path: str) -> str:
    try:
        return file_sha256(path)
    except (OSError, ValueError) as error:
        raise cannot_be_opened(path, error) from None
