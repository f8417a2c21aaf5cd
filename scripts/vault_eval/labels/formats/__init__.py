"""One module a label format. Adding a format is adding a file here: it is found by its presence.

Each module has `NAME`, `recognises(name, text) -> bool` and `read(document, place) -> ReadLabels`; the first module, in
order of module names, that recognises a file reads it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, cast

from vault_eval.labels.problems import Place
from vault_eval.labels.wikilinks import PageNames
from vault_eval.model import Label


@dataclass(frozen=True, slots=True)
class LabelText:
    """The text of one label file; `folder` is its folder in the vault, None where it lies outside."""

    name: str
    text: str
    folder: str | None
    pages: PageNames


@dataclass(frozen=True, slots=True)
class ReadLabels:
    """The labels of one file, and the exact name of its format."""

    labels: tuple[Label, ...]
    format: str


class LabelFormat(Protocol):
    """What a module of this package offers."""

    NAME: str

    def recognises(self, name: str, text: str) -> bool:
        """Whether this module reads a file of that name and text."""
        ...

    def read(self, document: LabelText, place: Place) -> ReadLabels:
        """The labels of the file; what is wrong with it is reported at `place`."""
        ...


def label_formats() -> Iterator[LabelFormat]:
    """All formats of this package, in order of their module names; each is loaded when it is come to."""
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        yield cast(LabelFormat, importlib.import_module(f"{__name__}.{name}"))
