"""`ollama=NAME[@PORT]`: embeddings from an Ollama on this machine, asked only where it is named (0.3 or newer)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vault_eval import strict_json
from vault_eval.errors import UsageError
from vault_eval.index.vectors.embedder import EmbeddingFailedError, ModelIdentity
from vault_eval.limits import OLLAMA_ANSWER_MAX_BYTES, OLLAMA_MAX_SECONDS
from vault_eval.retrievers.bounded_http import HttpFailedError, address_of, fetch_bounded
from vault_eval.retrievers.embeddings import Model
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

# No name is looked up: what is sent cannot leave this machine.
_HOST = "127.0.0.1"
_DEFAULT_PORT = 11_434
_PORT_MAX = 65_535
# A processor takes about a second for so many.
_TEXTS_ASKED_AT_ONCE = 16


class Served(NamedTuple):
    """A model by the name that Ollama has for it, the port where it is asked, and the seconds an answer may take."""

    name: str
    port: int
    max_seconds: float


def open_embedder(model: Model, max_seconds: float = OLLAMA_MAX_SECONDS) -> OllamaEmbedder:
    """The model as the running Ollama has it. Raises UsageError where Ollama does not answer or lacks the model."""
    name, _, port = model.value.partition("@")
    if not name or ("@" in model.value and not (port.isdecimal() and port.isascii() and 0 < int(port[:6]) <= _PORT_MAX)):
        raise UsageError(f"{quoted(model.text)}: write ollama=NAME, or ollama=NAME@PORT with a port from 1 to {_PORT_MAX:,}")
    served = Served(name, int(port or _DEFAULT_PORT), max_seconds)
    try:
        return OllamaEmbedder(ModelIdentity(model.text, {name: _digest(served)}), served)
    except EmbeddingFailedError as error:
        raise UsageError(f"{error}; start Ollama, name another model, or leave this searcher out") from None


class OllamaEmbedder:
    """A model of a running Ollama, which keeps it loaded between questions."""

    def __init__(self, identity: ModelIdentity, served: Served) -> None:
        self.identity = identity
        self._served = served

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of texts; Ollama cuts a text that is longer than the model takes. Raises EmbeddingFailedError."""
        starts = range(0, len(texts), _TEXTS_ASKED_AT_ONCE)
        return [vector for start in starts for vector in self._embed(texts[start : start + _TEXTS_ASKED_AT_ONCE])]

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        answer = _asked(self._served, "/api/embed", {"model": self._served.name, "input": list(texts)})
        vectors = answer.get("embeddings")
        if not isinstance(vectors, list):
            raise _failed(self._served, "its answer has no embeddings")
        return [_numbers(vector, self._served) for vector in vectors]


def _digest(served: Served) -> str:
    """The digest of the model; a name without a tag means `latest`, as it does for Ollama."""
    wanted = served.name if ":" in served.name else f"{served.name}:latest"
    models = _asked(served, "/api/tags").get("models")
    for one in models if isinstance(models, list) else []:
        if isinstance(one, dict) and one.get("name") == wanted and isinstance(digest := one.get("digest"), str):
            return digest
    raise _failed(served, f"it has no model {quoted(wanted)}: `ollama pull` fetches it, which this program never does")


def _asked(served: Served, path: str, question: dict[str, object] | None = None) -> dict[str, JsonValue]:
    """The answer, a JSON object; POST where there is something to say. Raises EmbeddingFailedError for anything else."""
    try:
        data = fetch_bounded(
            address_of(f"http://{_HOST}:{served.port}{path}"),
            body=None if question is None else strict_json.encode(strict_json.dumps(question)),
            headers={"Content-Type": "application/json"},
            timeout_seconds=served.max_seconds,
            max_bytes=OLLAMA_ANSWER_MAX_BYTES,
            allow_remote=False,
        )
        answer = strict_json.loads(data.decode("utf-8"))
    except HttpFailedError as error:
        raise _failed(served, str(error)) from None
    except ValueError as error:
        raise _failed(served, f"its answer to {path} cannot be read: {error}") from None
    if not isinstance(answer, dict):
        raise _failed(served, f"its answer to {path} is no JSON object")
    return answer


def _numbers(vector: JsonValue, served: Served) -> list[float]:
    if not isinstance(vector, list):
        raise _failed(served, "an embedding is no list of numbers")
    numbers = [float(number) for number in vector if isinstance(number, (int, float)) and not isinstance(number, bool)]
    if len(numbers) != len(vector):
        raise _failed(served, "an embedding is no list of numbers")
    return numbers


def _failed(served: Served, problem: str) -> EmbeddingFailedError:
    return EmbeddingFailedError(f"Ollama did not embed with {quoted(served.name)}: {problem}")
