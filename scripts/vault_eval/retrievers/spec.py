"""A searcher as a person names it, such as `keyword:k1=1.2,b=0.5`: the text, its kind, and what follows the colon."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vault_eval.errors import UsageError
from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1
from vault_eval.nearest import did_you_mean
from vault_eval.strict_number import number_of
from vault_eval.vault.paths import quoted

K1_MAX = 100.0
# What every searcher should be held against, since it costs nothing: if one of these is as good, the labels are easy.
FREE_BASELINES = ("title", "grep", "random")
# Searchers whose module may not have their name, and modules of this package that are no searchers.
_MODULES = {"random": "random_pages", "hybrid+rerank": "hybrid_rerank"}
_MACHINERY = (
    "__init__",
    "answers",
    "bounded_http",
    "bounded_process",
    "chunk_vectors",
    "claude_obsidian_program",
    "external_results",
    "fused",
    "index_variant",
    "keyword_vault_meta",
    "mcp_server",
    "native_index",
    "protocol",
    "select",
    "spec",
    "spec_words",
    "without_index",
)
# Of these, everything after the colon is one text, commas and all: a program with its arguments, an address, a file.
TEXT_KINDS = ("command", "http", "mcp", "run")
# Settings that name another index of the same notes; their values are those of the options of `index`.
INDEX_SETTINGS = ("chunk-chars", "chunk-max", "overlap", "prefix", "stem")
KEYWORD, CLAUDE_OBSIDIAN, RUN = "keyword", "claude-obsidian", "run"
# Searchers of the index that `index` builds, which have these settings; `keyword` can search one of claude-obsidian too.
ON_OUR_INDEX = (KEYWORD, "vector", "hybrid", "hybrid+rerank")


class Spec(NamedTuple):
    """A searcher as the person names it. No dataclass: importing those would cost a cold query a fifth of its time."""

    text: str
    kind: str
    settings: Mapping[str, str]  # name -> value; a bare word such as `wordllama` has the value ""
    rest: str = ""  # what follows the colon, as it was written; of a TEXT_KIND that is all there is


def parse_specs(texts: Sequence[str]) -> tuple[Spec, ...]:
    """The specs of all `--retriever` options; commas part both specs and settings: `keyword:k1=1.2,b=0.5,keyword`.

    Raises UsageError for an unknown kind, what is no setting, and the same configuration twice.
    """
    specs: list[Spec] = []
    for spec in (_spec(text) for option in texts for text in _split(option)):
        if any(_same(spec, other) for other in specs):
            raise UsageError(f"--retriever {quoted(spec.text)} is given twice; give each configuration once")
        specs.append(spec)
    return tuple(specs)


def kinds() -> tuple[str, ...]:
    """The names of all searchers there are: a module of this package each."""
    modules = (name[:-3] for name in os.listdir(os.path.dirname(os.path.abspath(__file__))) if name.endswith(".py"))
    own_names = {module: kind for kind, module in _MODULES.items()}
    return tuple(sorted(own_names.get(name, name.replace("_", "-")) for name in modules if name not in _MACHINERY))


def module_name(kind: str) -> str:
    """The module of this package that opens searchers of a kind."""
    return _MODULES.get(kind, kind.replace("-", "_"))


def number_setting(spec: Spec, name: str, default: float, low: float, high: float) -> float:
    """A numeric setting within bounds. Raises UsageError that names the spec, the setting and what is allowed."""
    value = _number(spec, name, default)
    if value is None or not low <= value <= high:
        raise _not_allowed(spec, name, f"a number from {low:g} to {high:g}")
    return value


def whole_setting(spec: Spec, name: str, default: int, low: int, high: int) -> int:
    """A setting that is a whole number within bounds. Raises UsageError as `number_setting` does."""
    value = _number(spec, name, default)
    if value is None or not low <= value <= high or value != int(value):
        raise _not_allowed(spec, name, f"a whole number from {low:,} to {high:,}")
    return int(value)


def refuse_unknown_settings(spec: Spec, allowed: Sequence[str]) -> None:
    """Raises UsageError for the first setting that this kind does not have."""
    for name in spec.settings:
        if name not in allowed:
            has = f"it has {', '.join(allowed)}" if allowed else "it has none"
            problem = f"{spec.kind} has no setting {quoted(name)}{did_you_mean(name, allowed)}"
            raise UsageError(f"--retriever {quoted(spec.text)}: {problem}; {has}")


def bm25_parameters(spec: Spec, others: Sequence[str] = ()) -> tuple[float, float]:
    """k1 and b of a spec, or the defaults. Raises UsageError for values out of bounds, and for settings that are none of
    these, `others` or those of the index.
    """
    refuse_unknown_settings(spec, ("k1", "b", *others, *INDEX_SETTINGS))
    return number_setting(spec, "k1", DEFAULT_K1, 0.0, K1_MAX), number_setting(spec, "b", DEFAULT_B, 0.0, 1.0)


def _number(spec: Spec, name: str, default: float) -> float | None:
    text = spec.settings.get(name)
    return default if text is None else number_of(text)


def _not_allowed(spec: Spec, name: str, allowed: str) -> UsageError:
    problem = f"--retriever {quoted(spec.text)}: {name}={quoted(spec.settings.get(name, ''))} is not allowed"
    return UsageError(f"{problem}; {name} is {allowed}")


def _same(one: Spec, other: Spec) -> bool:
    differs_in_text = one.kind in TEXT_KINDS and one.rest != other.rest
    return (one.kind, one.settings) == (other.kind, other.settings) and not differs_in_text


def _split(option: str) -> list[str]:
    specs: list[str] = []
    parts = option.split(",")
    for place, part in enumerate(map(str.strip, parts)):
        kind, colon, _ = part.partition(":")
        if colon and kind in TEXT_KINDS:
            return [*specs, ",".join(parts[place:]).strip()]
        if specs and "=" in part and ":" not in part.split("=", 1)[0]:
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return specs


def _spec(text: str) -> Spec:
    kind, colon, rest = text.partition(":")
    if kind not in kinds():
        problem = f"--retriever {quoted(text)}: there is no searcher {quoted(kind)}{did_you_mean(kind, kinds())}"
        raise UsageError(f"{problem}; there are {', '.join(kinds())}")
    if kind in TEXT_KINDS:
        return Spec(text, kind, {}, rest.strip())
    settings: dict[str, str] = {}
    for pair in rest.split(",") if colon else ():
        name, equals, value = pair.partition("=")
        if not name or name in settings or (equals and not value):
            raise UsageError(f"--retriever {quoted(text)}: {quoted(pair)} is no setting; write NAME=VALUE, each name once")
        settings[name] = value
    return Spec(text, kind, settings, rest)
