"""`http:URL`: a server that answers a query with JSON; `http:omnisearch`, `http:opensearch http://localhost:9200/INDEX`.

`{query}` and `{depth}` in the address are filled in. Settings stand before it: `timeout=SECONDS`, `prefix=TEXT` (taken off
every path), `authorization=NAME`, the environment variable that holds the Authorization header, and those of a preset.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from vault_eval import strict_json
from vault_eval.errors import UsageError
from vault_eval.limits import EXTERNAL_ANSWER_MAX_BYTES
from vault_eval.model import Ranking, RetrieverDescription
from vault_eval.retrievers.answers import AnswerError, found_in_json, json_of
from vault_eval.retrievers.bounded_http import HttpFailedError, address_of, fetch_bounded, refuse_elsewhere
from vault_eval.retrievers.external_results import FoundPage, ranking_of
from vault_eval.retrievers.presets import HttpPreset, Question, Settings, omnisearch, opensearch
from vault_eval.retrievers.protocol import RetrieverContext
from vault_eval.retrievers.spec import Spec
from vault_eval.retrievers.spec_words import DEPTH, QUERY, Bounds, bounds_of, option_of, words_of
from vault_eval.retrievers.without_index import WithoutIndex
from vault_eval.strict_json import JsonValue
from vault_eval.vault.paths import quoted

NEEDS_INDEX = False
PRESETS = {"omnisearch": omnisearch.HTTP, "opensearch": opensearch.HTTP}
_AUTHORIZATION = "authorization"
# A searcher whose notes are indexed in pieces needs more results than pages; so many times more are asked for at a time.
_GROWTH = 4


def _ask_url(url: str, query: str, size: int, settings: Settings) -> Question:  # noqa: ARG001 - a bare address has none
    parts = url.split(QUERY)
    return Question(quote(query, safe="").join(part.replace(DEPTH, str(size)) for part in parts))


def _read_json(value: JsonValue, settings: Settings, vault_names: frozenset[str]) -> list[FoundPage]:  # noqa: ARG001 - as above
    return found_in_json(value)


_BARE = HttpPreset(url=None, ask=_ask_url, read=_read_json, settings={})


def open_retriever(spec: Spec, context: RetrieverContext) -> HttpSearch:
    """The server of a spec, not yet asked. Raises UsageError for an address that cannot be, and settings that it lacks."""
    spec, words = words_of(spec)
    preset = PRESETS.get(words[0], _BARE)
    bounds = bounds_of(spec, (_AUTHORIZATION, *preset.settings))
    url = _url(preset, words if preset is _BARE else words[1:], option_of(spec), allow_remote=context.allow_remote)
    return HttpSearch(spec, preset, url, bounds, _headers(spec), context)


class HttpSearch(WithoutIndex):
    """Asks one server over a connection of its own a query; it must be on this machine unless more is allowed."""

    why_no_cold = "the server runs already"

    def __init__(
        self, spec: Spec, preset: HttpPreset, url: str, bounds: Bounds, headers: Mapping[str, str], context: RetrieverContext
    ) -> None:
        self._name = spec.text
        self._preset = preset
        self._url = url
        self._bounds = bounds
        self._headers = headers
        self._settings = {setting: spec.settings.get(setting, value) for setting, value in preset.settings.items()}
        self._root = context.vault.root
        self._pages = frozenset(context.vault.names)
        self._vault_names = frozenset(os.path.basename(os.path.abspath(path)) for path in (self._root, context.vault.named))
        self._allow_remote = context.allow_remote

    def describe(self) -> RetrieverDescription:
        """The address, the preset's settings, and what bounds an answer; never the Authorization header."""
        settings = {
            "address": self._url,
            "measures": self._preset.measures or None,
            **self._settings,
            "authorization": "sent" if "Authorization" in self._headers else "none",
            "prefix": self._bounds.prefix or None,
            "timeout_s": self._bounds.timeout_seconds,
        }
        return RetrieverDescription(self._name, settings)

    def search(self, query: str, depth: int) -> Ranking:
        """What the server answered, in its order; asked for more results while they name too few pages.

        `error` where it cannot be reached, fails, takes too long, or answers what cannot be read.
        """
        size = depth
        while True:
            try:
                found = self._found(query, size)
            except HttpFailedError as error:
                return Ranking((), error=str(error))
            except AnswerError as error:
                return Ranking((), error=f"{quoted(self._url)} {error}")
            ranking = ranking_of(found, self._pages, self._root, depth, prefix=self._bounds.prefix)
            is_cut = size <= len(found) and size < self._preset.results_max
            if ranking.error or len(ranking.pages) >= depth or not is_cut:
                return ranking
            size = min(size * _GROWTH, self._preset.results_max)

    def _found(self, query: str, size: int) -> list[FoundPage]:
        question = self._preset.ask(self._url, query, size, self._settings)
        data = fetch_bounded(
            address_of(question.url),
            body=None if question.body is None else strict_json.encode(strict_json.dumps(question.body)),
            headers=self._headers,
            timeout_seconds=self._bounds.timeout_seconds,
            max_bytes=EXTERNAL_ANSWER_MAX_BYTES,
            allow_remote=self._allow_remote,
        )
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise AnswerError("gave an answer that is not UTF-8") from None
        return self._preset.read(json_of(text), self._settings, self._vault_names)


def _url(preset: HttpPreset, words: Sequence[str], option: str, *, allow_remote: bool) -> str:
    url = words[0] if words else preset.url
    if url is None or len(words) > 1:
        raise UsageError(f"{option}: write one address, such as http://localhost:9200/notes")
    if preset is _BARE and QUERY not in url:
        raise UsageError(f"{option}: the address has no {QUERY}; write it where the query belongs")
    try:
        address = address_of(url)
        if any(address.target.count(name) != url.count(name) for name in (QUERY, DEPTH)):  # a query must not choose who is asked
            raise HttpFailedError(f"{QUERY} and {DEPTH} stand in the path or after the ?, and nowhere else in an address")
        if not allow_remote:
            refuse_elsewhere(address)
    except HttpFailedError as error:
        raise UsageError(f"{option}: {error}") from None
    return url if preset is _BARE else url.rstrip("/")


def _headers(spec: Spec) -> dict[str, str]:
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    variable = spec.settings.get(_AUTHORIZATION)
    if variable is not None:
        secret = os.environ.get(variable, "").strip()
        if not secret:
            raise UsageError(f"{option_of(spec)}: the environment variable {quoted(variable)} is not set")
        if not (secret.isascii() and secret.isprintable()):  # else it would be refused later by a message that quotes it
            raise UsageError(f"{option_of(spec)}: the environment variable {quoted(variable)} holds no usable header")
        headers["Authorization"] = secret
    return headers
