"""A searcher as a person names it, such as `keyword:k1=1.2,b=0.5`: the text, its kind, and its settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vault_eval.errors import UsageError
from vault_eval.index.bm25 import DEFAULT_B, DEFAULT_K1
from vault_eval.vault.paths import quoted

K1_MAX = 100.0
# What every searcher should be held against, since it costs nothing: if one of these is as good, the labels are easy.
FREE_BASELINES = ("title", "grep", "random")
# Searchers whose module may not have their name, and modules of this package that are no searchers.
_MODULES = {"random": "random_pages"}
_MACHINERY = ("__init__", "protocol", "select", "spec")


class Spec(NamedTuple):
    """A searcher as the person names it. No dataclass: importing those would cost a cold query a fifth of its time."""

    text: str
    kind: str
    settings: Mapping[str, str]


def parse_specs(texts: Sequence[str]) -> tuple[Spec, ...]:
    """The specs of all `--retriever` options; commas part both specs and settings: `keyword:k1=1.2,b=0.5,keyword`.

    Raises UsageError for an unknown kind, a setting without a value, and the same configuration twice.
    """
    specs: list[Spec] = []
    for spec in (_spec(text) for option in texts for text in _split(option)):
        if any((spec.kind, spec.settings) == (other.kind, other.settings) for other in specs):
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


def is_free_baseline(specs: Sequence[Spec]) -> bool:
    """Whether all of these read the notes themselves and need no index."""
    return all(spec.kind in FREE_BASELINES for spec in specs)


def number_setting(spec: Spec, name: str, default: float, low: float, high: float) -> float:
    """A numeric setting within bounds. Raises UsageError that names the spec, the setting and what is allowed."""
    text = spec.settings.get(name)
    try:
        value = default if text is None else float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        problem = f"--retriever {quoted(spec.text)}: {name}={quoted(text or '')} is not allowed"
        raise UsageError(f"{problem}; {name} is a number from {low:g} to {high:g}")
    return value


def refuse_unknown_settings(spec: Spec, allowed: Sequence[str]) -> None:
    """Raises UsageError for the first setting that this kind does not have."""
    for name in spec.settings:
        if name not in allowed:
            has = f"it has {', '.join(allowed)}" if allowed else "it has none"
            raise UsageError(f"--retriever {quoted(spec.text)}: {spec.kind} has no setting {quoted(name)}; {has}")


def bm25_parameters(spec: Spec) -> tuple[float, float]:
    """k1 and b of a spec, or the defaults. Raises UsageError for other settings and values out of bounds."""
    refuse_unknown_settings(spec, ("k1", "b"))
    return number_setting(spec, "k1", DEFAULT_K1, 0.0, K1_MAX), number_setting(spec, "b", DEFAULT_B, 0.0, 1.0)


def _split(option: str) -> list[str]:
    specs: list[str] = []
    for part in map(str.strip, option.split(",")):
        if specs and "=" in part and ":" not in part.split("=", 1)[0]:
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return specs


def _spec(text: str) -> Spec:
    kind, colon, rest = text.partition(":")
    if kind not in kinds():
        raise UsageError(f"--retriever {quoted(text)}: there is no searcher {quoted(kind)}; there are {', '.join(kinds())}")
    settings: dict[str, str] = {}
    for pair in rest.split(",") if colon else ():
        name, _, value = pair.partition("=")
        if not (name and value) or name in settings:
            raise UsageError(f"--retriever {quoted(text)}: {quoted(pair)} is no setting; write NAME=VALUE, each name once")
        settings[name] = value
    return Spec(text, kind, settings)
