"""The chunk records: which page each chunk of the index is of. What cannot be trusted is skipped, and counted by its reason."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from vault_eval import strict_json
from vault_eval.digests import sha256_hex
from vault_eval.index.vault_meta.document import IndexedChunk
from vault_eval.index.vault_meta.places import FOLDER_NAME, VaultMetaFolder
from vault_eval.limits import VAULT_META_RECORD_MAX_BYTES
from vault_eval.vault.paths import is_markdown, page_name, page_problem
from vault_eval.vault.refusal import FileRefusedError

PAGES_FOLDER = "wiki/"  # the only notes that the format covers

_RECORDS_FOLDER = f"{FOLDER_NAME}/chunks/"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")

Skip: TypeAlias = Literal["malformed", "undecodable"]


class ChunkRecord(NamedTuple):
    """What its record says of one chunk; `page_sha256` is None where the record is no longer the one that was indexed."""

    page: str
    number: int
    page_sha256: str | None
    prefix_source: str
    text: str


def read_record(folder: VaultMetaFolder, chunk: IndexedChunk) -> ChunkRecord | Skip:
    """The record of one chunk, or why it is skipped.

    `undecodable`: it is not UTF-8. `malformed`: its path or that of its page leads elsewhere, it is absent, a link, too large, no
    JSON object, lacks a value, contradicts the name of the chunk, or its text does not have its own digest.
    """
    path = _with_slashes(chunk.path)
    if page_problem(path) is not None or not path.startswith(_RECORDS_FOLDER):
        return "malformed"
    try:
        data = folder.read(path.removeprefix(f"{FOLDER_NAME}/"), VAULT_META_RECORD_MAX_BYTES)
        value = strict_json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return "undecodable"
    except (FileRefusedError, strict_json.StrictJsonError):
        return "malformed"
    record = _record(value, chunk) if isinstance(value, dict) else None
    return record or "malformed"


def _record(value: Mapping[str, strict_json.JsonValue], chunk: IndexedChunk) -> ChunkRecord | None:
    """The record where nothing in it contradicts the chunk."""
    address, number, path, text, told = (
        value.get(key) for key in ("page_address", "chunk_index", "page_path", "raw_text", "body_hash")
    )
    page_hash, source = value.get("page_body_hash"), value.get("prefix_source")
    if not (isinstance(address, str) and type(number) is int and isinstance(path, str) and isinstance(text, str)):
        return None
    page_digest = _DIGEST.fullmatch(page_hash) if isinstance(page_hash, str) else None
    page = page_name(_with_slashes(path))
    if page_problem(page) is not None or not (page.startswith(PAGES_FOLDER) and is_markdown(page)) or page_digest is None:
        return None
    if f"{address}:{number}" != chunk.id or told != _digest_of(text):
        return None
    is_the_one = (chunk.text_sha256, chunk.page_sha256) == (told, page_hash)
    named = source if isinstance(source, str) else ""
    return ChunkRecord(page, number, page_digest[1] if is_the_one else None, named, text)


def _digest_of(text: str) -> str:
    return "sha256:" + sha256_hex(text.encode("utf-8", "surrogatepass"))


def _with_slashes(path: str) -> str:
    # On Windows the format writes the separators of that system.
    return path.replace(os.sep, "/")
