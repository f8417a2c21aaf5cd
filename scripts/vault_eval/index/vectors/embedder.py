"""What is asked of a model that turns texts into vectors, and how its answers are taken."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import fsum, isfinite, sqrt
from operator import mul
from typing import NamedTuple, Protocol

from vault_eval.errors import VaultEvalError


class EmbeddingFailedError(VaultEvalError):
    """A model gave no vector for a text, or one that cannot be used."""


class ModelIdentity(NamedTuple):
    """Which model it is: as a person names it, and the digests of all that decides its vectors, by part."""

    name: str
    digests: Mapping[str, str]


class Embedder(Protocol):
    """A model, ready to be used."""

    identity: ModelIdentity

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, all with the same number of dimensions. Raises EmbeddingFailedError."""
        ...


def unit_vectors(embedder: Embedder, texts: Sequence[str]) -> list[array[float]]:
    """The vectors of texts as 32-bit floats, each of length 1; a text that the model knows nothing of has all zeros.

    The same to the last bit whichever library the model uses. Raises EmbeddingFailedError for an answer of another shape.
    """
    vectors = embedder.embed([text.encode("utf-8", "replace").decode("utf-8") for text in texts])
    shapes = {len(vector) for vector in vectors}
    if len(vectors) != len(texts) or len(shapes) != 1 or 0 in shapes:
        found = f"{len(vectors)} vectors of {', '.join(map(str, sorted(shapes))) or 'no'} dimensions"
        raise EmbeddingFailedError(f"the model {embedder.identity.name} gave {found} for {len(texts)} texts")
    return [_unit(embedder, vector) for vector in vectors]


def _unit(embedder: Embedder, vector: Sequence[float]) -> array[float]:
    length = sqrt(fsum(map(mul, vector, vector)))
    if not isfinite(length):
        raise EmbeddingFailedError(f"the model {embedder.identity.name} gave a vector that holds no finite numbers")
    return array("f", [value / length for value in vector] if length else [0.0] * len(vector))
