"""Frontmatter as a tree of what is written: no date, number or tag is built of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from vault_eval.errors import VaultEvalError

NULL_TAG = "tag:yaml.org,2002:null"
TEXT_TAG = "tag:yaml.org,2002:str"
INTEGER_TAG = "tag:yaml.org,2002:int"


class NoteError(VaultEvalError):
    """Frontmatter that cannot be read as labels; `line` counts from 1 in the file, whose name is the caller's to add."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """Text as written, escapes resolved; `tag` is the type YAML 1.1 would give it, `plain` that it is not quoted."""

    text: str
    tag: str
    plain: bool
    line: int

    @property
    def is_null(self) -> bool:
        """Nothing at all, `~` or `null`, without quotes."""
        return self.tag == NULL_TAG


@dataclass(frozen=True, slots=True)
class YamlList:
    """A sequence in the order written; `line` counts from 1 in the file."""

    items: tuple[YamlNode, ...]
    line: int


@dataclass(frozen=True, slots=True)
class YamlMap:
    """A mapping as written: repeated keys are all there, and a key may be of any kind."""

    pairs: tuple[tuple[YamlNode, YamlNode], ...]
    line: int


YamlNode = Union[YamlScalar, YamlList, YamlMap]
