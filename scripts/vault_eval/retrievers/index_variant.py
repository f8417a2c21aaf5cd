"""Another index of the same notes, named by settings such as `keyword:chunk-chars=1000`: its options and where it lies."""

from __future__ import annotations

from vault_eval.data_folder import DataFolder
from vault_eval.errors import UsageError
from vault_eval.index.options import IndexOptions, checked_options
from vault_eval.retrievers.spec import INDEX_SETTINGS, Spec
from vault_eval.vault.paths import quoted

_DIGITS_MAX = 20


def variant_options(spec: Spec, standing: IndexOptions) -> IndexOptions | None:
    """The options that a spec asks for where they differ from those of the vault's standing index, else None.

    Raises UsageError for a value that `index` does not take.
    """
    given = {name: value for name, value in spec.settings.items() if name in INDEX_SETTINGS}
    if not given:
        return None
    options = checked_options(
        _characters(spec, "chunk-chars", standing.sizes.target),
        _characters(spec, "chunk-max", standing.sizes.maximum),
        _characters(spec, "overlap", standing.sizes.overlap),
        given.get("prefix", standing.prefix),
        given.get("stem", standing.stem),
        standing.exclude,
        pdf=standing.pdf,
    )
    return None if options == standing else options


def variant_folder(data: DataFolder, vault: str, options: IndexOptions) -> str:
    """The folder of the index with these options, whether built or not; `vault` is the vault's id."""
    return data.variant_folder(vault, options.as_json())


def _characters(spec: Spec, name: str, default: int) -> int:
    text = spec.settings.get(name)
    if text is not None and not (text.isdecimal() and text.isascii() and len(text) <= _DIGITS_MAX):
        raise UsageError(f"--retriever {quoted(spec.text)}: {name}={quoted(text)}; {name} is a whole number of characters")
    return default if text is None else int(text)
