"""`wordllama`: the embedder whose weights lie inside its package (256 dimensions, mean of the vectors of tokens)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_eval.index.seal import file_sha256
from vault_eval.index.vectors.embedder import ModelIdentity
from vault_eval.retrievers.embeddings import Model, cannot_be_loaded, refuse_without

if TYPE_CHECKING:
    from wordllama import WordLlamaInference

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


def open_embedder(model: Model) -> WordLlamaEmbedder:
    """The model, loaded from its package's own folder and from nowhere else. Raises MissingPackageError, UsageError."""
    refuse_without("wordllama")
    try:
        import wordllama

        package = os.path.dirname(wordllama.__file__)
        digests = {name: file_sha256(os.path.join(package, *name.split("/"))) for name in (_WEIGHTS, _TOKENIZER)}
        # It looks for its tokenizer only in a cache folder, which here is the package itself, and would download what it lacks.
        loaded = wordllama.WordLlama.load("l2_supercat", cache_dir=package, dim=256, disable_download=True)
    except Exception as error:  # noqa: BLE001 - whatever a model's own loader meets
        raise cannot_be_loaded(model, error) from None
    return WordLlamaEmbedder(ModelIdentity(model.text, digests), loaded)


class WordLlamaEmbedder:
    """The loaded model."""

    def __init__(self, identity: ModelIdentity, loaded: WordLlamaInference) -> None:
        self.identity = identity
        self._loaded = loaded

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The mean of the vectors of each text's tokens."""
        vectors: list[list[float]] = self._loaded.embed(list(texts)).tolist()
        return vectors
