"""From the spec a person gives to a searcher: one module a kind, found by its name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from vault_eval.errors import UsageError
from vault_eval.retrievers.protocol import Retriever, RetrieverContext, Spec

# Modules of this package that are no searchers.
_MACHINERY = ("protocol", "select")


def parse_specs(texts: Sequence[str]) -> tuple[Spec, ...]:
    """The specs of all `--retriever` options; commas part both specs and settings: `keyword:k1=1.2,b=0.5,keyword`.

    Raises UsageError for an unknown kind, a setting without a value, and the same spec twice.
    """
    specs = [_spec(text) for option in texts for text in _split(option)]
    repeated = {spec.text for spec in specs if sum(other.text == spec.text for other in specs) > 1}
    if repeated:
        raise UsageError(f"--retriever {sorted(repeated)[0]!r} is given twice; give each configuration once")
    return tuple(specs)


def open_retriever(spec: Spec, context: RetrieverContext) -> Retriever:
    """The searcher that a spec names. Raises UsageError for settings it does not have, IndexUnusableError without its index."""
    module = import_module(f"{__package__}.{_module_name(spec.kind)}")
    retriever: Retriever = module.open_retriever(spec, context)
    return retriever


def kinds() -> tuple[str, ...]:
    """The names of all searchers there are."""
    package = import_module(str(__package__))
    return tuple(sorted(module.name.replace("_", "-") for module in iter_modules(package.__path__) if module.name not in _MACHINERY))


def number_setting(spec: Spec, name: str, default: float, low: float, high: float) -> float:
    """A numeric setting within bounds. Raises UsageError that names the spec, the setting and what is allowed."""
    text = spec.settings.get(name)
    try:
        value = default if text is None else float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise UsageError(f"--retriever {spec.text!r}: {name}={text} is not allowed; {name} is a number from {low:g} to {high:g}")
    return value


def refuse_unknown_settings(spec: Spec, allowed: Sequence[str]) -> None:
    """Raises UsageError for the first setting that this kind does not have."""
    for name in spec.settings:
        if name not in allowed:
            raise UsageError(f"--retriever {spec.text!r}: {spec.kind} has no setting {name!r}; it has {', '.join(allowed)}")


def _split(option: str) -> list[str]:
    specs: list[str] = []
    for part in option.split(","):
        if specs and "=" in part and ":" not in part.split("=", 1)[0]:
            specs[-1] += f",{part}"
        else:
            specs.append(part.strip())
    return specs


def _spec(text: str) -> Spec:
    kind, _, rest = text.partition(":")
    if _module_name(kind) not in {_module_name(known) for known in kinds()}:
        raise UsageError(f"--retriever {text!r}: there is no searcher {kind!r}; there are {', '.join(kinds())}")
    settings: dict[str, str] = {}
    for pair in rest.split(",") if rest else ():
        name, equals, value = pair.partition("=")
        if not (name and equals and value) or name in settings:
            raise UsageError(f"--retriever {text!r}: {pair!r} is no setting; write NAME=VALUE, each name once")
        settings[name] = value
    return Spec(text, kind, settings)


def _module_name(kind: str) -> str:
    return kind.replace("-", "_")
