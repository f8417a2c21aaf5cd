"""`model2vec=FOLDER`: static embeddings from a folder that the owner names, as model2vec saves one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vault_eval.errors import UsageError
from vault_eval.index.seal import file_sha256
from vault_eval.index.vectors.embedder import ModelIdentity
from vault_eval.retrievers.embeddings import Model, cannot_be_loaded, refuse_without
from vault_eval.vault.paths import quoted

if TYPE_CHECKING:
    from model2vec import StaticModel

# What a model is made of; pickles are none of it, and are never read.
_PARTS = (".safetensors", ".json")
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def open_embedder(model: Model) -> Model2VecEmbedder:
    """The model in the folder. Raises UsageError where there is none, MissingPackageError without the package."""
    if not os.path.isdir(model.value):
        raise UsageError(
            f"model2vec={quoted(model.value)}: there is no such folder; download the model yourself and name its folder"
        )
    refuse_without("model2vec")
    try:
        with _offline():
            from model2vec import StaticModel

            identity = ModelIdentity(model.text, _digests(model.value))
            return Model2VecEmbedder(identity, StaticModel.from_pretrained(model.value))
    except Exception as error:  # noqa: BLE001 - whatever a model's own loader meets
        raise cannot_be_loaded(model, error) from None


class Model2VecEmbedder:
    """The loaded model."""

    def __init__(self, identity: ModelIdentity, loaded: StaticModel) -> None:
        self.identity = identity
        self._loaded = loaded

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of texts, cut where the model's own settings say so."""
        vectors: list[list[float]] = self._loaded.encode(list(texts), use_multiprocessing=False).tolist()
        return vectors


@contextmanager
def _offline() -> Iterator[None]:
    """The package takes a folder that vanishes for the name of a model to download: it is told that there is no network.

    Programs that are measured afterwards find the environment as it was.
    """
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(_OFFLINE)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})


def _digests(folder: str) -> dict[str, str]:
    """The SHA-256 of every part of the model, by its path below the folder, sorted."""
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(_PARTS))
    return {os.path.relpath(path, folder).replace(os.sep, "/"): file_sha256(path) for path in sorted(paths)}
