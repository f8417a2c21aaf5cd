"""The options of an index: those given now, those remembered for the vault, and what is said of these."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

from vault_eval.index.options import ChunkSizes, IndexOptions, checked_options

# What brings back the default of an option that is remembered.
_DEFAULTS = {
    "--chunk-chars": f"--chunk-chars {ChunkSizes().target}",
    "--chunk-max": f"--chunk-max {ChunkSizes().maximum}",
    "--overlap": f"--overlap {ChunkSizes().overlap}",
    "--prefix": f"--prefix {IndexOptions().prefix}",
    "--stem": "--stem none",
    "--pdf": "--no-pdf",
    "--exclude": "--exclude ''",
}


def chosen_options(options: argparse.Namespace, before: IndexOptions) -> IndexOptions:
    """The options given now, the others as they were last time for this vault."""

    def pick(given: object, remembered: object) -> object:
        return remembered if given is None else given

    return checked_options(
        pick(options.chunk_chars, before.sizes.target),
        pick(options.chunk_max, before.sizes.maximum),
        pick(options.overlap, before.sizes.overlap),
        pick(options.prefix, before.prefix),
        pick(options.stem, before.stem),
        tuple(filter(None, options.exclude)) if options.exclude is not None else before.exclude,
        pdf=before.pdf if options.pdf is None else options.pdf,
    )


def not_given(options: argparse.Namespace, before: IndexOptions) -> IndexOptions:
    """The options as they are remembered; those that were given now are the defaults here."""
    default = IndexOptions()
    sizes = ChunkSizes(
        before.sizes.target if options.chunk_chars is None else default.sizes.target,
        before.sizes.maximum if options.chunk_max is None else default.sizes.maximum,
        before.sizes.overlap if options.overlap is None else default.sizes.overlap,
    )
    return IndexOptions(
        sizes,
        before.prefix if options.prefix is None else default.prefix,
        before.stem if options.stem is None else default.stem,
        before.exclude if options.exclude is None else default.exclude,
        before.pdf if options.pdf is None else default.pdf,
    )


def remembering(options: IndexOptions) -> str:
    """What is said where these options are remembered from now on."""
    arguments = options.as_arguments()
    if not arguments:
        return "from now on index takes the default options for this vault again"
    forgets = f"{_forgetting(arguments)} goes back to the default"
    return f"from now on index takes {shlex.join(arguments)} for this vault also where it is not given; {forgets}"


def with_remembered(options: IndexOptions) -> str:
    """The clause that names options which an index was built with although they were not given; empty for the defaults."""
    arguments = options.as_arguments()
    forgets = f"{_forgetting(arguments)} goes back to the default"
    return f", with the remembered {shlex.join(arguments)} ({forgets})" if arguments else ""


def built_otherwise(name: str, then: object, now: object) -> str:
    """One option that an index was not built with as it is asked for now; `name` and values are those of its header."""
    option = f"--{name.replace('_', '-')}"
    if option not in _DEFAULTS:
        return f"the {name.replace('_', ' ')} of the index is that of another version of vault-eval"
    return f"{_written(option, now)}, where the index has {_written(option, then)}"


def _written(option: str, value: object) -> str:
    """An option as it is given, its value as the header of an index has it."""
    if value is None or value == []:
        return _DEFAULTS[option]
    if value is True:
        return option
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in (value if isinstance(value, list) else [value]))


def _forgetting(arguments: Sequence[str]) -> str:
    """The options that bring back the default of each of these."""
    names = [argument.partition("=")[0] for argument in arguments if argument.startswith("--")]
    return " ".join(dict.fromkeys(_DEFAULTS[name] for name in names))
