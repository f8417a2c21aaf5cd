"""The file of one model's vectors beside the index they belong to.

    magic 8 bytes | length of the header u32 | SHA-256 of the header 32 bytes | header JSON | digests | vectors

Both parts begin at a multiple of 64 bytes: the SHA-256 of the text of every chunk, so that vectors of unchanged text are used
again, and the unit vectors as little-endian 32-bit floats. The header names the index, the model and the SHA-256 of all that
follows it.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from array import array
from collections.abc import Mapping
from contextlib import suppress

from vault_eval import strict_json
from vault_eval.atomic_file import write_atomically
from vault_eval.digests import DIGEST_BYTES, sha256_hex
from vault_eval.errors import IndexUnusableError
from vault_eval.index.layout import HEAD, aligned
from vault_eval.index.store import counted, json_object, mapped, read_header
from vault_eval.index.vectors.embedder import ModelIdentity
from vault_eval.strict_json import JsonValue

VECTORS_FORMAT = "vault-eval.vectors.v1"
_MAGIC = b"VAULTVEC"
_FLOAT_BYTES = 4
_NAME_DIGITS = 16
_OWN_NAME = re.compile(r"vectors-[0-9a-f]{16}\.bin")


def vectors_path(folder: str, model: str) -> str:
    """Where the vectors of a model lie; `model` is its name as `--vectors` takes it."""
    return os.path.join(folder, f"vectors-{sha256_hex(model.encode('utf-8', 'surrogatepass'))[:_NAME_DIGITS]}.bin")


def models_left_behind(folder: str, index_sha256: str) -> list[str]:
    """The names of the models whose vectors in `folder` belong to another state of the index, sorted."""
    names = []
    for name in os.listdir(folder):
        if _OWN_NAME.fullmatch(name):
            with suppress(IndexUnusableError), VectorFile(os.path.join(folder, name)) as file:
                names += [file.model.name] if file.index_sha256 != index_sha256 else []
    return sorted(names)


def write_vectors(
    path: str, index_sha256: str, model: ModelIdentity, dims: int, text_digests: bytearray, rows: array[float]
) -> None:
    """Write the file whole or not at all. Raises VaultEvalError with the reason."""
    content = _padded(bytes(text_digests)), memoryview(rows).cast("B")
    facts = {
        "format": VECTORS_FORMAT,
        "index": index_sha256,
        "model": {"name": model.name, "digests": dict(model.digests)},
        "chunks": len(text_digests) // DIGEST_BYTES,
        "dims": dims,
        "sha256": _digest(*content),
    }
    header = strict_json.encode(strict_json.dumps(facts))
    head = HEAD.pack(_MAGIC, len(header), hashlib.sha256(header).digest()) + header
    write_atomically(path, [_padded(head), *content])


class VectorFile:
    """An open file of vectors, all its bytes held against its header. Close it, or use it in a `with`."""

    def __init__(self, path: str) -> None:
        """Raises IndexUnusableError for a file that is missing, damaged or of another version."""
        self.path = path
        if not os.path.lexists(path):
            raise IndexUnusableError("there are no vectors of this model beside the index")
        self._map = mapped(path)
        self._views: list[memoryview[int] | memoryview[float]] = []
        try:
            self._read(read_header(self._map, path, _MAGIC, VECTORS_FORMAT))
        except (ValueError, struct.error, KeyError, TypeError) as error:
            self.close()
            raise IndexUnusableError(f"the vectors in {path!r} are corrupt: {error}") from None
        except IndexUnusableError:
            self.close()
            raise

    def __enter__(self) -> VectorFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the file."""
        for view in reversed(self._views):
            view.release()
        self._views.clear()
        self._map.close()

    def text_digest(self, chunk: int) -> bytes:
        """The SHA-256 of the text that a chunk's vector was made from."""
        return bytes(self.text_digests[DIGEST_BYTES * chunk : DIGEST_BYTES * (chunk + 1)])

    def row(self, chunk: int) -> memoryview[float]:
        """The vector of a chunk."""
        return self.rows[self.dims * chunk : self.dims * (chunk + 1)]

    def is_as_opened(self) -> bool:
        """Whether the file at this path still holds the same vectors."""
        try:
            with VectorFile(self.path) as now:
                return now.sha256 == self.sha256
        except IndexUnusableError:
            return False

    def _read(self, header: Mapping[str, JsonValue]) -> None:
        model = json_object(header["model"])
        digests = {name: str(digest) for name, digest in json_object(model["digests"]).items()}
        self.model = ModelIdentity(str(model["name"]), digests)
        self.index_sha256, self.sha256 = str(header["index"]), str(header["sha256"])
        self.chunks, self.dims = counted(header["chunks"]), counted(header["dims"])
        header_end = HEAD.size + HEAD.unpack_from(self._map, 0)[1]
        start = aligned(header_end)
        middle = start + DIGEST_BYTES * self.chunks
        second = aligned(middle)
        end = second + _FLOAT_BYTES * self.dims * self.chunks
        if end != len(self._map) or any(self._map[header_end:start]):
            raise ValueError(f"it has {len(self._map)} bytes where {end} belong")
        whole = memoryview(self._map)
        self._views = [whole]
        content, self.text_digests, numbers = whole[start:], whole[start:middle], whole[second:]
        self.rows: memoryview[float] = numbers.cast("f")
        self._views += [content, self.text_digests, numbers, self.rows]
        if _digest(content) != self.sha256:
            raise ValueError("its bytes do not have the digest in its header")


def _digest(*parts: bytes | memoryview[int]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _padded(part: bytes) -> bytes:
    return part + bytes(aligned(len(part)) - len(part))
