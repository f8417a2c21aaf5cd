"""The models that turn texts into vectors: how a person names them, and one module for each. Nothing is ever downloaded."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

from vault_eval import launcher
from vault_eval.errors import MissingPackageError, UsageError
from vault_eval.index.vectors.embedder import Embedder
from vault_eval.nearest import did_you_mean
from vault_eval.retrievers.spec import Spec
from vault_eval.vault.paths import quoted

# Kind of model -> what is named with it; None where there is nothing to name.
MODELS: dict[str, str | None] = {"hash": None, "wordllama": None, "model2vec": "a folder", "ollama": "a model"}
HASH = "hash"
_WRITE = "write hash, wordllama, model2vec=FOLDER or ollama=NAME[@PORT]"


class Model(NamedTuple):
    """A model as a person names it: its kind, and the folder or name that goes with it."""

    kind: str = HASH
    value: str = ""

    @property
    def text(self) -> str:
        """The form that `index --vectors` takes; a folder is absolute."""
        return f"{self.kind}={self.value}" if self.value else self.kind


def parse_model(text: str, where: str) -> Model:
    """The model that `text` names, such as `model2vec=FOLDER`; `where` is what it was said with. Raises UsageError."""
    kind, _, value = text.partition("=")
    if kind not in MODELS:
        raise UsageError(f"{where} names no model{did_you_mean(kind, MODELS)}; {_WRITE}")
    return _checked(kind, value, where)


def parse_embedder(text: str) -> Model:
    """The model that `index --vectors` names. Raises UsageError."""
    model = parse_model(text, f"--vectors {quoted(text)}")
    if model.kind == HASH:
        raise UsageError("--vectors hash: hash vectors are computed when they are asked for; nothing has to be made")
    return model


def model_of(spec: Spec) -> Model:
    """The one model among the settings of a spec, else `hash`. Raises UsageError for two, or one that is not named whole."""
    kinds = [kind for kind in MODELS if kind in spec.settings]
    where = f"--retriever {quoted(spec.text)}"
    if len(kinds) > 1:
        raise UsageError(f"{where} names the models {' and '.join(kinds)}; name one")
    kind = kinds[0] if kinds else HASH
    return _checked(kind, spec.settings.get(kind, ""), where)


def open_embedder(model: Model) -> Embedder:
    """A model that can be used. Raises UsageError where it is not there, MissingPackageError without its package."""
    opened: Embedder = import_module(f"{__name__}.{model.kind}").open_embedder(model)
    return opened


def refuse_without(package: str) -> None:
    """Raises MissingPackageError, with the line that installs it, where a package of the extra `vector` is not there."""
    launcher.refuse_without([package], command=f"the model {package}")


def cannot_be_loaded(model: Model, error: Exception) -> UsageError | MissingPackageError:
    """The error for a model, or a package of it, that is there and does not work."""
    if isinstance(error, ImportError):
        return MissingPackageError(
            f"the model {model.kind} cannot be loaded by {sys.executable}: {error}. Run: {launcher.install_command([model.kind])}"
        )
    return UsageError(f"the model {quoted(model.text)} cannot be loaded: {type(error).__name__}: {error}")


def _checked(kind: str, value: str, where: str) -> Model:
    wanted = MODELS[kind]
    if (wanted is not None) != bool(value):
        found = f"names no {wanted.removeprefix('a ')}" if wanted else f"takes nothing after {kind}"
        raise UsageError(f"{where}: {kind} {found}; {_WRITE}")
    return Model(kind, os.path.abspath(os.path.expanduser(value)) if kind == "model2vec" else value)
